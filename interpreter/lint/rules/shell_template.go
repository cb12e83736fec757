package rules

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/lint"
	"hostler/interpreter/syntax"
)

func shellTemplate() *lint.Rule {
	return &lint.Rule{
		Name: "shell-template", Summary: "Shell variable in text", Severity: lint.Error, Profile: lint.Basic, Fixes: true,
		Doc: "In strings and heredocs `${` begins an expression of the recipe's language. `$${HOME}` writes `${HOME}`; `$HOME`, `$(id)`, `%i` and\n" +
			"`%%i` need nothing.",
		Bad: `
write_file_if_changed "tool" {
  path    = "/opt/demo/tool"
  mode    = "0755"
  content = <<-EOT
    #!/bin/sh
    echo «${HOME}»
  EOT
}
`,
		Good: `
write_file_if_changed "tool" {
  path    = "/opt/demo/tool"
  mode    = "0755"
  content = <<-EOT
    #!/bin/sh
    echo $${HOME} $(id) %i %%i
  EOT
}
`,
		Check: checkShellTemplate,
	}
}

func checkShellTemplate(p *lint.Pass) {
	roots := []string{"var", "local", "host", "each", "self", "use"}
	p.Traversals(func(_ *hclsyntax.Block, e *hclsyntax.ScopeTraversalExpr) {
		root := e.Traversal.RootName()
		if slices.Contains(roots, root) || p.Vocabulary.Type(root) != nil || !unknownName(p, e.SrcRange) {
			return
		}
		hint := syntax.TemplateHint(p.File, e.Traversal[0].SourceRange(), root)
		from, to := e.SrcRange.Start.Byte-2, e.SrcRange.End.Byte+1
		if hint == "" || from < 0 || to > len(p.File.Bytes) || p.File.Bytes[to-1] != '}' {
			return
		}
		f := lint.Finding{Range: p.Span(from, to), Detail: hint}
		p.Claim(f.With(lint.Fix{Message: "double the dollar sign", Edits: []lint.Edit{{Range: p.Span(from, from), Text: "$"}}, Changes: true}), "Unknown name")
	})
}

// unknownName says whether validation found that there is no such name.
func unknownName(p *lint.Pass, at hcl.Range) bool {
	return slices.ContainsFunc(p.Faults, func(d *hcl.Diagnostic) bool {
		return d.Summary == "Unknown name" && d.Subject != nil && d.Subject.Start.Byte <= at.Start.Byte && at.End.Byte <= d.Subject.End.Byte
	})
}
