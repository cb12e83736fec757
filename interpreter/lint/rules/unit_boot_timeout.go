package rules

import "hostler/interpreter/lint"

func unitBootTimeout() *lint.Rule {
	return &lint.Rule{
		Name: "unit-boot-timeout", Summary: "Boot without an end", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "A `Type=oneshot` service has no start time-out: if a download hangs, everything that is ordered after it waits for ever. A unit that\n" +
			"runs `hostler ensure` or `apply` bounds it with `TimeoutStartSec=`, longer than its downloads take.",
		Bad: `
systemd_unit "site.service" {
  content = <<-EOT
    [Service]
    Type=«oneshot»
    ExecStart=/usr/local/bin/hostler ensure
    SuccessExitStatus=69
    RestartPreventExitStatus=69
  EOT
}
`,
		Good: `
systemd_unit "site.service" {
  content = <<-EOT
    [Service]
    Type=oneshot
    ExecStart=/usr/local/bin/hostler ensure
    TimeoutStartSec=1h
    SuccessExitStatus=69
    RestartPreventExitStatus=69
  EOT
}
`,
		Check: checkUnitBootTimeout,
	}
}

func checkUnitBootTimeout(p *lint.Pass) {
	for _, u := range p.Units() {
		l, ok := u.Last("Service", "Type")
		if ok && l.Value == "oneshot" && u.Closed() && runsHostler(u, "ensure", "apply") && len(u.All("Service", "TimeoutStartSec", "TimeoutSec")) == 0 {
			p.ReportStep(u.Step, l.ValueRange(), "A oneshot service may start for ever, and the boot waits for it. Write TimeoutStartSec=, for example 1h.")
		}
	}
}
