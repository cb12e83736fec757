package rules

import (
	"hostler/interpreter/lint"
)

func startBeforeContent() *lint.Rule {
	return &lint.Rule{
		Name: "start-before-content", Summary: "Started before its content", Severity: lint.Error, Profile: lint.Basic,
		Doc: "One step may own a unit's content and another its state, and they run in the order written: here the unit is started or enabled\n" +
			"before its file or drop-in is on the host.",
		Bad: `
systemd_unit «"demo"» {
  name  = "demo.service"
  state = "started"
}

systemd_unit "demo.service" {
  content = "[Service]\nExecStart=/usr/bin/demo\n"
}
`,
		Good: `
systemd_unit "demo.service" {
  content = "[Service]\nExecStart=/usr/bin/demo\n"
}

systemd_unit "demo" {
  name  = "demo.service"
  state = "started"
}
`,
		Check: checkStartBeforeContent,
	}
}

func checkStartBeforeContent(p *lint.Pass) {
	for _, u := range p.Units() {
		if len(u.Parts) == 0 || u.Text == "" {
			continue
		}
		for _, s := range p.Steps("systemd_unit") {
			state, _ := s.Arg("state").Text()
			enable, _ := s.Arg("enable").Bool()
			if s.Order < u.Step.Order && nameOf(s) == u.Text && lint.SamePlace(s, u.Step) && (state == "started" || enable) {
				p.ReportStep(s, s.Block.LabelRanges[0], "This acts on %s before its content is written by %s, at line %d. Move that step before this one.", u.Text, u.Step.Address, u.Step.Header.Start.Line)
			}
		}
	}
}
