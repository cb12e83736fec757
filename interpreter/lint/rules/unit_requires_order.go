package rules

import (
	"slices"
	"strings"

	"hostler/interpreter/lint"
)

func unitRequiresOrder() *lint.Rule {
	return &lint.Rule{
		Name: "unit-requires-order", Summary: "Required but not awaited", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "`Requires=` and `BindsTo=` start the other unit at the same time and do not wait for it: the order is what `After=` says. Without it\n" +
			"the unit runs before what it requires is there, and goes on when that fails.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Unit]
    Requires=«database.service»

    [Service]
    ExecStart=/usr/bin/demo
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Unit]
    Requires=database.service
    After=database.service

    [Service]
    ExecStart=/usr/bin/demo
  EOT
}
`,
		Check: checkUnitRequiresOrder,
	}
}

func checkUnitRequiresOrder(p *lint.Pass) {
	for _, u := range p.Units() {
		if !u.Closed() || u.Name.Type == "target" {
			continue
		}
		ordered := append(u.Words("Unit", "After"), u.Words("Unit", "Before")...)
		for _, l := range u.All("Unit", "Requires", "BindsTo") {
			for _, w := range l.Words() {
				// Slices, sockets and mounts are ordered by systemd itself.
				if strings.HasSuffix(w, ".service") && !slices.Contains(ordered, w) && !lint.Holes(w) {
					p.ReportStep(u.Step, l.Find(w), "%s= does not order: the unit starts at the same time as %s. Write After=%s too.", l.Key, w, w)
				}
			}
		}
	}
}
