package rules

import (
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func modeDigits() *lint.Rule {
	return &lint.Rule{
		Name: "mode-digits", Summary: "No file mode", Severity: lint.Error, Profile: lint.Basic, Fixes: true,
		Doc: "A mode has octal digits, 0 to 7, after a leading zero. `\"0999\"` is none, and `\"644\"` may mean either number.",
		Bad: `
directory "a" {
  path = "/etc/demo"
  mode = «"755"»
}
`,
		Good: `
directory "a" {
  path = "/etc/demo"
  mode = "0755"
}
`,
		Check: checkModeDigits,
	}
}

func checkModeDigits(p *lint.Pass) {
	p.EachArg(func(s *eval.Inspected, _ *eval.Arguments, arg eval.Arg) {
		if arg.Schema.Grammar != "mode" {
			return
		}
		text, ok := arg.Text()
		if _, number := lint.Literal(arg.Attribute.Expr); !ok || !number {
			return
		}
		_, err := block.ParseMode(text)
		if err == nil {
			return
		}
		f := lint.Found(s, arg.Range, "%s", err)
		if _, err := block.ParseMode("0" + text); err == nil && !strings.HasPrefix(text, "0") {
			f = f.With(lint.Fix{Message: `write "0` + text + `"`, Edits: []lint.Edit{{Range: arg.Range, Text: `"0` + text + `"`}}, Changes: true})
		}
		p.Claim(f, "Invalid value")
	})
}
