package rules

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/lint"
)

func redundantTemplate() *lint.Rule {
	return &lint.Rule{
		Name: "redundant-template", Summary: "Quotes around an expression", Severity: lint.Warning, Profile: lint.Safe, Fixes: true,
		Doc: "`\"${var.x}\"` is `var.x`: the quotes do not even make a string of it.",
		Bad: `
variable "text" {
  type    = string
  default = "a\n"
}

write_file_if_changed "a" {
  path    = "/etc/demo.conf"
  content = «"${var.text}"»
}
`,
		Good: `
variable "text" {
  type    = string
  default = "a\n"
}

write_file_if_changed "a" {
  path    = "/etc/demo.conf"
  content = var.text
}
`,
		Check: checkRedundantTemplate,
	}
}

func checkRedundantTemplate(p *lint.Pass) {
	p.Nodes(func(_ *hclsyntax.Block, n hclsyntax.Node) {
		e, ok := n.(*hclsyntax.TemplateWrapExpr)
		if !ok || !strings.HasPrefix(p.Source(e.SrcRange), `"`) {
			return
		}
		inner := p.Source(e.Wrapped.Range())
		f := lint.Finding{Range: e.SrcRange, Detail: "The quotes and ${…} around the expression do nothing. Write " + short(inner) + "."}
		if !strings.Contains(inner, "\n") {
			f = f.With(lint.Fix{Message: "take the quotes off", Edits: []lint.Edit{{Range: e.SrcRange, Text: inner}}})
		}
		p.Report(f)
	})
}

// short keeps a piece of source short enough for a message.
func short(s string) string {
	line, _, more := strings.Cut(s, "\n")
	if r := []rune(line); len(r) > 40 {
		line, more = string(r[:40]), true
	}
	if more {
		return line + "…"
	}
	return line
}
