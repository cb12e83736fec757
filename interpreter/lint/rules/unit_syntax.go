package rules

import "hostler/interpreter/lint"

func unitSyntax() *lint.Rule {
	return &lint.Rule{
		Name: "unit-syntax", Summary: "Line that systemd ignores", Severity: lint.Error, Profile: lint.Basic,
		Doc: "systemd reads past lines that it cannot make sense of, with no more than a message in its log: the setting is simply not there.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    «WorkingDirectory /var/lib/demo»
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    WorkingDirectory=/var/lib/demo
  EOT
}
`,
		Check: checkUnitSyntax,
	}
}

func checkUnitSyntax(p *lint.Pass) {
	for _, u := range p.Units() {
		for _, part := range u.Parts {
			for _, fault := range part.Faults {
				if fault.Summary == "Carriage return" {
					continue // said of every file by carriage-return
				}
				p.Claim(lint.Found(u.Step, part.Range(fault.Range), "%s: %s", fault.Summary, fault.Detail), fault.Summary)
			}
		}
	}
}
