package rules

import (
	"strings"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func unitUnwatchedFile() *lint.Rule {
	return &lint.Rule{
		Name: "unit-unwatched-file", Summary: "Change restarts nothing", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "The unit names a file that this recipe writes, and the `restart_on_change` of the unit does not watch it: a changed file is on the\n" +
			"host, and the program goes on with the old one.",
		Bad: `
write_file_if_changed "config" {
  path    = "/etc/demo.conf"
  content = "port = 80\n"
}

systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo --config /etc/demo.conf
  EOT
  state   = "started"
}

restart_on_change "demo.service" {
  watch = «[systemd_unit["demo.service"]]»
}
`,
		Good: `
write_file_if_changed "config" {
  path    = "/etc/demo.conf"
  content = "port = 80\n"
}

systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo --config /etc/demo.conf
  EOT
  state   = "started"
}

restart_on_change "demo.service" {
  watch = [write_file_if_changed.config, systemd_unit["demo.service"]]
}
`,
		Check: checkUnitUnwatchedFile,
	}
}

func checkUnitUnwatchedFile(p *lint.Pass) {
	for _, watcher := range p.Steps("restart_on_change") {
		refs := watcher.Refs("watch")
		for _, u := range p.Units() {
			if u.Text != nameOf(watcher) || !lint.SamePlace(u.Step, watcher) {
				continue
			}
			for _, w := range p.Files() {
				if lint.SamePlace(w.Step, u.Step) && reads(u, w.Path) && !lint.Refers(refs, w.Step) && !ofStep(p, watcher, w.Step) {
					p.ReportStep(watcher, watcher.Arg("watch").Range, "%s reads %s, which %s writes, and is not restarted when it changes. Add %s to watch.", u.Text, w.Path, w.Step.Address, w.Step.Address)
				}
			}
		}
	}
}

// nameOf is the unit that a step is about, "" when it is not known.
func nameOf(s *eval.Inspected) string {
	arg := s.Arg("name")
	if !arg.Written() {
		return s.Label
	}
	text, _ := arg.Text()
	return text
}

// ofStep says whether another watcher of the same unit watches the step.
func ofStep(p *lint.Pass, watcher, s *eval.Inspected) bool {
	for _, other := range p.Steps("restart_on_change") {
		if other != watcher && nameOf(other) == nameOf(watcher) && lint.Refers(other.Refs("watch"), s) {
			return true
		}
	}
	return false
}

// readKeys are directives whose values name files that the service reads when
// it starts.
func readKeys() []string {
	return []string{"ExecStart", "ExecStartPre", "EnvironmentFile", "LoadCredential"}
}

// reads says whether the unit names a path among what it reads.
func reads(u *lint.Unit, file string) bool {
	for _, l := range u.All("Service", readKeys()...) {
		if names(l, file) {
			return true
		}
	}
	return false
}

// names says whether a line has a path as a word or as the end of one, such as
// --config=PATH or NAME:PATH.
func names(l lint.Line, file string) bool {
	if !strings.Contains(l.Value, file) {
		return false
	}
	for _, w := range l.Words() {
		w = strings.Trim(strings.TrimLeft(w, "-@:+!|"), "\"'")
		if w == file || strings.HasSuffix(w, "="+file) || strings.HasSuffix(w, ":"+file) {
			return true
		}
	}
	return false
}
