package rules

import (
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func bareMode() *lint.Rule {
	return &lint.Rule{
		Name: "bare-mode", Summary: "Mode without quotes", Severity: lint.Error, Profile: lint.Basic, Fixes: true,
		Doc: "A number is decimal: `0644` is six hundred and forty-four, which as a mode is `01204`: a sticky bit, write only for the\n" +
			"owner, read for everybody else. A mode is a string of octal digits.",
		Bad: `
write_file_if_changed "a" {
  path    = "/etc/demo.conf"
  mode    = «0644»
  content = "a\n"
}
`,
		Good: `
write_file_if_changed "a" {
  path    = "/etc/demo.conf"
  mode    = "0644"
  content = "a\n"
}
`,
		Check: checkBareMode,
	}
}

func checkBareMode(p *lint.Pass) {
	p.EachArg(func(s *eval.Inspected, _ *eval.Arguments, arg eval.Arg) {
		if arg.Schema.Grammar != "mode" {
			return
		}
		if _, number := arg.Attribute.Expr.(*hclsyntax.LiteralValueExpr); !number {
			return
		}
		digits := p.Source(arg.Range)
		if _, err := strconv.ParseFloat(digits, 64); err != nil {
			return
		}
		text := strconv.Quote("0" + strings.TrimLeft(digits, "0"))
		f := lint.Found(s, arg.Range, "Without quotes this is a decimal number, which is another mode.")
		if _, err := block.ParseMode(strings.Trim(text, `"`)); err == nil {
			f.Detail += " Write " + arg.Schema.Name + " = " + text + "."
			f = f.With(lint.Fix{Message: "write " + text, Edits: []lint.Edit{{Range: arg.Range, Text: text}}, Changes: true})
		} else {
			f.Detail += " Write its octal digits in quotes, for example \"0644\"."
		}
		p.Claim(f, "Mode is a number")
	})
}
