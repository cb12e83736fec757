package rules

import (
	"hostler/interpreter/lint"
	"hostler/interpreter/unitfile"
)

func unitWrongSection() *lint.Rule {
	return &lint.Rule{
		Name: "unit-wrong-section", Summary: "Directive in wrong section", Severity: lint.Error, Profile: lint.Basic,
		Doc: "The directive is one of systemd's, and belongs into another section. Where it stands it is ignored. `StartLimitIntervalSec=` moved\n" +
			"from `[Service]` to `[Unit]` with systemd 230.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Unit]
    «Restart»=on-failure

    [Service]
    ExecStart=/usr/bin/demo
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    Restart=on-failure
    RestartSec=5s
  EOT
}
`,
		Check: checkUnitWrongSection,
	}
}

func checkUnitWrongSection(p *lint.Pass) {
	for _, u := range p.Units() {
		for _, l := range u.Lines() {
			if _, ok := unitfile.Known(l.Section, l.Key); ok {
				continue
			}
			if home := homeOf(u.Name.Type, l); home != "" && unitfile.Directives(l.Section) != nil {
				p.ReportStep(u.Step, l.KeyRange(), "%s= belongs into [%s]; in [%s] systemd ignores it. Move the line.", l.Key, home, l.Section)
			}
		}
	}
}
