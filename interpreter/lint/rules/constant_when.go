package rules

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/lint"
)

func constantWhen() *lint.Rule {
	return &lint.Rule{
		Name: "constant-when", Summary: "Condition without a question", Severity: lint.Warning, Profile: lint.Strict,
		Doc: "`when = true` says nothing, and a step with `when = false` is as if it were not written. Remove the one, or the other with its step; a\n" +
			"switch is a variable.",
		Bad: `
directory "data" {
  when = «false»
  path = "/var/lib/demo"
}
`,
		Good: `
variable "data" {
  type    = bool
  default = false
}

directory "data" {
  when = var.data
  path = "/var/lib/demo"
}
`,
		Check: checkConstantWhen,
	}
}

func checkConstantWhen(p *lint.Pass) {
	p.Nodes(func(_ *hclsyntax.Block, n hclsyntax.Node) {
		a, ok := n.(*hclsyntax.Attribute)
		if !ok || a.Name != "when" {
			return
		}
		if _, constant := a.Expr.(*hclsyntax.LiteralValueExpr); constant {
			p.Reportf(a.Expr.Range(), "The condition never changes. Remove it, or the step with it.")
		}
	})
}
