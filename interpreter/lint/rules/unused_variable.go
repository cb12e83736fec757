package rules

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/lint"
)

func unusedVariable() *lint.Rule {
	return &lint.Rule{
		Name: "unused-variable", Summary: "Variable nobody reads", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "Whoever gives a value believes that it has an effect. Use the variable, or remove it.",
		Bad: `
variable «"port"» {
  type    = number
  default = 80
}
`,
		Good: `
variable "port" {
  type    = number
  default = 80
}

write_file_if_changed "config" {
  path    = "/etc/demo.conf"
  content = "port = ${var.port}\n"
}
`,
		Check: checkUnusedVariable,
	}
}

// used are the names below a root, such as var, that are read outside of the
// block that declares them.
func used(p *lint.Pass, root string) map[string]bool {
	names := map[string]bool{}
	p.Traversals(func(owner *hclsyntax.Block, e *hclsyntax.ScopeTraversalExpr) {
		if e.Traversal.RootName() != root || len(e.Traversal) < 2 {
			return
		}
		name := ""
		switch step := e.Traversal[1].(type) {
		case hcl.TraverseAttr:
			name = step.Name
		case hcl.TraverseIndex:
			name = step.Key.AsString()
		}
		if root == "var" && owner.Type == "variable" && len(owner.Labels) == 1 && owner.Labels[0] == name {
			return
		}
		names[name] = true
	})
	return names
}

func checkUnusedVariable(p *lint.Pass) {
	names := used(p, "var")
	for _, b := range p.Blocks("variable") {
		if len(b.Labels) == 1 && !names[b.Labels[0]] {
			p.Reportf(b.LabelRanges[0], "Nothing reads var.%s. Use it, or remove it.", b.Labels[0])
		}
	}
}
