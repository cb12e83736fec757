package rules

import (
	"strings"

	"hostler/interpreter/lint"
	"hostler/interpreter/unitfile"
)

func unitName() *lint.Rule {
	return &lint.Rule{
		Name: "unit-name", Summary: "No unit name", Severity: lint.Error, Profile: lint.Basic,
		Doc: "The name of a unit ends in its type and holds letters, digits and `: - _ . \\ @` only. `demo` is none, `demo.service.service` is\n" +
			"hardly meant. Other characters are escaped by `unit_escape()`; in a quoted string the backslash of `\\x2d` is doubled.",
		Bad: `
systemd_unit «"demo"» {
  enable = true
}
`,
		Good: `
systemd_unit "demo.service" {
  enable = true
}
`,
		Check: checkUnitName,
	}
}

func checkUnitName(p *lint.Pass) {
	for _, s := range p.Steps("systemd_unit", "restart_on_change") {
		arg := s.Arg("name")
		text, at := s.Label, s.Block.LabelRanges[0]
		if arg.Written() {
			known := false
			if text, known = arg.Text(); !known {
				continue
			}
			at = arg.Range
		}
		name, err := unitfile.ParseName(text)
		switch {
		case err != nil && arg.Written():
			p.Claim(lint.Found(s, at, "%s.", capital(err.Error())), "Invalid value")
		case err != nil:
			p.Claim(lint.Found(s, at, "%s.", capital(err.Error())), "Invalid unit name")
		case unitfile.IsType(name.Prefix[strings.LastIndexByte(name.Prefix, '.')+1:]) && strings.Contains(name.Prefix, "."):
			p.Warn(lint.Found(s, at, "The name %q has two types of unit at its end. Write %q.", text, strings.TrimSuffix(text, "."+name.Type)))
		}
	}
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
