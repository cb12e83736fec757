package rules

import (
	"hostler/interpreter/lint"
	"hostler/interpreter/unitfile"
)

func unitNewDirective() *lint.Rule {
	return &lint.Rule{
		Name: "unit-new-directive", Summary: "Directive newer than hosts", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "A supported host may run an older systemd than the one that brought the directive, and ignores it there. Which systemd hosts have\n" +
			"is taken from `require_capability { systemd_min }`, else from the releases that `supports` allows: Debian 12 has 252, Ubuntu 22.04\n" +
			"has 249, Ubuntu 24.04 and Azure Linux 3 have 255.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    «RestartSteps»=5
  EOT
}
`,
		Good: `
require_capability "systemd" {
  systemd_min = 254
}

systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    RestartSteps=5
  EOT
}
`,
		Check: checkUnitNewDirective,
	}
}

func checkUnitNewDirective(p *lint.Pass) {
	oldest, ok := p.OldestSystemd()
	if !ok {
		return
	}
	for _, u := range p.Units() {
		if u.Step.Inside {
			continue // the image decides which systemd runs in a machine
		}
		for _, l := range u.Lines() {
			if since, known := unitfile.Known(l.Section, l.Key); known && since > oldest {
				p.ReportStep(u.Step, l.KeyRange(), "%s= came with systemd %d, and a supported host may have %d, which ignores it. Require it with systemd_min = %d, or do without.", l.Key, since, oldest, since)
			}
		}
	}
}
