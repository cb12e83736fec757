package rules

import (
	"strings"

	"hostler/interpreter/lint"
)

func unitVarRun() *lint.Rule {
	return &lint.Rule{
		Name: "unit-var-run", Summary: "Path below /var/run", Severity: lint.Warning, Profile: lint.Safe, Fixes: true,
		Doc: "`/var/run` is a link to `/run` that is kept for old programs. Where `/var` is mounted late the link is not there yet, and systemd\n" +
			"rewrites such a path with a warning.",
		Bad: `
systemd_unit "demo.socket" {
  content = <<-EOT
    [Socket]
    ListenStream=«/var/run/»demo.sock
  EOT
}
`,
		Good: `
systemd_unit "demo.socket" {
  content = <<-EOT
    [Socket]
    ListenStream=/run/demo.sock
  EOT
}
`,
		Check: checkUnitVarRun,
	}
}

func checkUnitVarRun(p *lint.Pass) {
	for _, u := range p.Units() {
		for _, l := range u.Lines() {
			if !strings.HasPrefix(l.Value, "/var/run/") {
				continue
			}
			at := l.Find("/var/run/")
			f := lint.Found(u.Step, at, "/var/run is an old name of /run. Write /run/.")
			from := l.Directive.ValueRange.Start.Byte
			if l.Part.Text.Editable(from, from+len("/var/run/")) {
				f = f.With(lint.Fix{Message: "write /run/", Edits: []lint.Edit{{Range: at, Text: "/run/"}}, Changes: true})
			}
			p.Report(f)
		}
	}
}
