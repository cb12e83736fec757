package rules

import "hostler/interpreter/lint"

func reloadWithoutCommand() *lint.Rule {
	return &lint.Rule{
		Name: "reload-without-command", Summary: "Unit that cannot reload", Severity: lint.Error, Profile: lint.Basic,
		Doc: "`action = \"reload\"` asks systemd to reload the unit, and its file has neither `ExecReload=` nor `Type=notify-reload`: the job is\n" +
			"refused. Write how the program reloads, or restart it.",
		Bad: `
systemd_unit "demo.service" {
  content = "[Service]\nExecStart=/usr/bin/demo\n"
  state   = "started"
}

restart_on_change "demo.service" {
  watch  = [systemd_unit["demo.service"]]
  action = «"reload"»
}
`,
		Good: `
systemd_unit "demo.service" {
  content = "[Service]\nExecStart=/usr/bin/demo\nExecReload=/bin/kill -HUP $MAINPID\n"
  state   = "started"
}

restart_on_change "demo.service" {
  watch  = [systemd_unit["demo.service"]]
  action = "reload"
}
`,
		Check: checkReloadWithoutCommand,
	}
}

func checkReloadWithoutCommand(p *lint.Pass) {
	for _, s := range p.Steps("restart_on_change") {
		action := s.Arg("action")
		if text, _ := action.Text(); text != "reload" || !action.Written() {
			continue
		}
		for _, u := range p.Units() {
			if u.Text == nameOf(s) && u.Closed() && u.IsService() && lint.SamePlace(u.Step, s) && len(u.All("Service", "ExecReload")) == 0 && u.Value("Service", "Type") != "notify-reload" {
				p.ReportStep(s, action.Range, "%s has no ExecReload=, so systemd refuses to reload it. Write one, or action = \"restart\".", u.Text)
			}
		}
	}
}
