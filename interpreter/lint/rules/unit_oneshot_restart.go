package rules

import "hostler/interpreter/lint"

func unitOneshotRestart() *lint.Rule {
	return &lint.Rule{
		Name: "unit-oneshot-restart", Summary: "Oneshot that always restarts", Severity: lint.Error, Profile: lint.Basic,
		Doc: "systemd refuses to load a `Type=oneshot` service with `Restart=always` or `on-success`: it ends with success every time. With\n" +
			"`Restart=on-failure` it is tried again after a failure, from systemd 244 on; a timer runs it again and again.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    Type=oneshot
    ExecStart=/usr/bin/demo
    Restart=«always»
    RestartSec=1min
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    Type=oneshot
    ExecStart=/usr/bin/demo
    Restart=on-failure
    RestartSec=1min
  EOT
}
`,
		Check: checkUnitOneshotRestart,
	}
}

func checkUnitOneshotRestart(p *lint.Pass) {
	for _, u := range p.Units() {
		l, ok := u.Last("Service", "Restart")
		if ok && u.Value("Service", "Type") == "oneshot" && (l.Value == "always" || l.Value == "on-success") {
			p.ReportStep(u.Step, l.ValueRange(), "systemd refuses a oneshot service with Restart=%s. Write on-failure, or a timer that runs it again.", l.Value)
		}
	}
}
