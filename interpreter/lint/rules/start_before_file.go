package rules

import (
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func startBeforeFile() *lint.Rule {
	return &lint.Rule{
		Name: "start-before-file", Summary: "Started before its file", Severity: lint.Error, Profile: lint.Basic,
		Doc: "Steps run in the order written. The unit is started by an earlier step than the one that writes a file it names: on a new host the\n" +
			"first start fails (203/EXEC for a program, 243/CREDENTIALS for a credential). Write the file first.",
		Bad: `
variable "token" {
  type      = string
  sensitive = true
}

systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    LoadCredential=token:«/etc/demo/token»
  EOT
  state   = "started"
  restart = "never"
}

write_file_if_changed "token" {
  path    = "/etc/demo/token"
  mode    = "0600"
  content = var.token
}
`,
		Good: `
variable "token" {
  type      = string
  sensitive = true
}

write_file_if_changed "token" {
  path    = "/etc/demo/token"
  mode    = "0600"
  content = var.token
}

systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    LoadCredential=token:/etc/demo/token
  EOT
  state   = "started"
}

restart_on_change "demo.service" {
  watch = [write_file_if_changed.token, systemd_unit["demo.service"]]
}
`,
		Check: checkStartBeforeFile,
	}
}

func checkStartBeforeFile(p *lint.Pass) {
	for _, u := range p.Units() {
		start := starter(p, u)
		if start == nil {
			continue
		}
		for _, l := range u.All("Service", readKeys()...) {
			for _, w := range p.Written() {
				if w.Step.Order > start.Order && lint.SamePlace(w.Step, start) && w.Step.Type.Name != "absent" && names(l, w.Path) {
					p.ReportStep(start, l.Find(w.Path), "%s starts the unit, and %s is written by %s at line %d, which runs later. Move that step before this one.",
						start.Address, w.Path, w.Step.Address, w.Step.Header.Start.Line)
				}
			}
		}
	}
}

// starter is the first step that starts the unit, nil if none does.
func starter(p *lint.Pass, u *lint.Unit) *eval.Inspected {
	for _, s := range p.Steps("systemd_unit") {
		state, _ := s.Arg("state").Text()
		if state == "started" && nameOf(s) == u.Text && u.Text != "" && lint.SamePlace(s, u.Step) {
			return s
		}
	}
	return nil
}
