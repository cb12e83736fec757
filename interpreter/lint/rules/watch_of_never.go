package rules

import "hostler/interpreter/lint"

func watchOfNever() *lint.Rule {
	return &lint.Rule{
		Name: "watch-of-never", Summary: "Never, and yet restarted", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "The unit says `restart = \"never\"`, and a `restart_on_change` of the same unit watches it: it is restarted. Leave out one of them.",
		Bad: `
systemd_unit "demo.service" {
  content = "[Service]\nExecStart=/usr/bin/demo\n"
  state   = "started"
  restart = «"never"»
}

restart_on_change "demo.service" {
  watch = [systemd_unit["demo.service"]]
}
`,
		Good: `
systemd_unit "demo.service" {
  content = "[Service]\nExecStart=/usr/bin/demo\n"
  state   = "started"
}

restart_on_change "demo.service" {
  watch = [systemd_unit["demo.service"]]
}
`,
		Check: checkWatchOfNever,
	}
}

func checkWatchOfNever(p *lint.Pass) {
	for _, u := range p.Steps("systemd_unit") {
		arg := u.Arg("restart")
		if text, _ := arg.Text(); text != "never" {
			continue
		}
		for _, s := range p.Steps("restart_on_change") {
			if nameOf(s) == nameOf(u) && lint.Refers(s.Refs("watch"), u) {
				p.ReportStep(u, arg.Range, "%s at line %d restarts the unit when it changes. Leave out one of them.", s.Address, s.Header.Start.Line)
			}
		}
	}
}
