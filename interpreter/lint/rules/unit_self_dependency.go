package rules

import (
	"slices"

	"hostler/interpreter/lint"
)

func unitSelfDependency() *lint.Rule {
	return &lint.Rule{
		Name: "unit-self-dependency", Summary: "Unit depends on itself", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "systemd drops a dependency of a unit on itself, and one that stands in `After=` and in `Before=` makes a cycle, of which systemd\n" +
			"breaks a link that it chooses. Another unit was meant.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Unit]
    After=«demo.service»

    [Service]
    ExecStart=/usr/bin/demo
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Unit]
    After=demo-prepare.service

    [Service]
    ExecStart=/usr/bin/demo
  EOT
}
`,
		Check: checkUnitSelfDependency,
	}
}

func checkUnitSelfDependency(p *lint.Pass) {
	for _, u := range p.Units() {
		before := u.Words("Unit", "Before")
		for _, l := range u.All("Unit", "After", "Before", "Wants", "Requires", "BindsTo", "PartOf", "Conflicts") {
			for _, w := range l.Words() {
				switch {
				case w == u.Text:
					p.ReportStep(u.Step, l.Find(w), "%s is the unit itself. Name the other unit that is meant.", w)
				case l.Key == "After" && slices.Contains(before, w):
					p.ReportStep(u.Step, l.Find(w), "%s stands in After= and in Before=. Leave one of them out.", w)
				}
			}
		}
	}
}
