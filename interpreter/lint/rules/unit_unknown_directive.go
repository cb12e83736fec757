package rules

import (
	"slices"
	"strings"

	"hostler/interpreter/lint"
	"hostler/interpreter/syntax"
	"hostler/interpreter/unitfile"
)

func unitUnknownDirective() *lint.Rule {
	return &lint.Rule{
		Name: "unit-unknown-directive", Summary: "Unknown directive", Severity: lint.Error, Profile: lint.Basic, Fixes: true,
		Doc: "systemd ignores a directive that it does not know: the unit runs, without what the line was to do. Names are written exactly as in\n" +
			"`systemd.directives(7)`, capitals included.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    «Enviroment»=MODE=fast
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    Environment=MODE=fast
  EOT
}
`,
		Check: checkUnitUnknownDirective,
	}
}

func checkUnitUnknownDirective(p *lint.Pass) {
	for _, u := range p.Units() {
		for _, l := range u.Lines() {
			if _, ok := unitfile.Known(l.Section, l.Key); ok || lint.Holes(l.Key) {
				continue
			}
			known := unitfile.Directives(l.Section)
			if known == nil || homeOf(u.Name.Type, l) != "" {
				continue
			}
			f := lint.Found(u.Step, l.KeyRange(), "systemd knows no %s= in [%s] and ignores the line.", l.Key, l.Section)
			if near := syntax.Suggest(l.Key, known); near != "" {
				f.Detail += " Did you mean " + near + "?"
				if l.Part.Text.Editable(l.Directive.KeyRange.Start.Byte, l.Directive.KeyRange.End.Byte) {
					f = f.With(lint.Fix{Message: "write " + near, Edits: []lint.Edit{{Range: l.KeyRange(), Text: near}}, Changes: true})
				}
			}
			p.Report(f)
		}
	}
}

// homeOf is the section of a type of unit that a directive belongs to, which
// stands in another one; "" when no section has it.
func homeOf(unitType string, l lint.Line) string {
	for _, s := range sectionsOf(unitType) {
		if s != l.Section && slices.Contains(unitfile.Directives(s), l.Key) && !strings.HasPrefix(l.Section, "X-") {
			return s
		}
	}
	return ""
}
