package rules

import "hostler/interpreter/lint"

func unitForkingPid() *lint.Rule {
	return &lint.Rule{
		Name: "unit-forking-pid", Summary: "Main process is guessed", Severity: lint.Warning, Profile: lint.Strict,
		Doc: "With `Type=forking` and no `PIDFile=` systemd guesses which process is the service, and with more than one it cannot. Let the program\n" +
			"stay in the foreground, with `Type=exec` or `notify`.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    Type=«forking»
    ExecStart=/usr/bin/demo --daemon
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    Type=exec
    ExecStart=/usr/bin/demo --foreground
  EOT
}
`,
		Check: checkUnitForkingPid,
	}
}

func checkUnitForkingPid(p *lint.Pass) {
	for _, u := range p.Units() {
		l, ok := u.Last("Service", "Type")
		if ok && l.Value == "forking" && u.Closed() && len(u.All("Service", "PIDFile", "GuessMainPID")) == 0 {
			p.ReportStep(u.Step, l.ValueRange(), "systemd has to guess which process is the service. Write PIDFile=, or run the program in the foreground with Type=exec.")
		}
	}
}
