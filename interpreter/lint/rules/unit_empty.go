package rules

import "hostler/interpreter/lint"

func unitEmpty() *lint.Rule {
	return &lint.Rule{
		Name: "unit-empty", Summary: "Empty unit file", Severity: lint.Error, Profile: lint.Basic,
		Doc: "For systemd a unit file of zero bytes is a mask: the unit cannot be started. Write its content, or `mask = true` if that is meant. An\n" +
			"empty *drop-in* is right: it hides one of the same name that the image shipped.",
		Bad: `
systemd_unit "demo.service" {
  content = «""»
}
`,
		Good: `
systemd_unit "demo.service" {
  mask = true
}
`,
		Check: checkUnitEmpty,
	}
}

func checkUnitEmpty(p *lint.Pass) {
	for _, u := range p.Units() {
		if u.Own && len(u.Parts) > 0 && u.Parts[0].DropIn == "" && u.Parts[0].Text.Text == "" {
			p.Claim(lint.Found(u.Step, u.Parts[0].Text.At(), "An empty unit file is a mask, and systemd does not start the unit. Write its content, or mask = true."), "Empty unit file")
		}
	}
}
