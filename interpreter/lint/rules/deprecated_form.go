package rules

import (
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/lint"
)

func deprecatedForm() *lint.Rule {
	return &lint.Rule{
		Name: "deprecated-form", Summary: "Old form of index", Severity: lint.Warning, Profile: lint.Safe, Fixes: true,
		Doc: "`list.0` and `list.*.name` are forms of old configurations that the language reads for compatibility. They are written `list[0]` and\n" +
			"`list[*].name`.",
		Bad: `
variable "names" {
  type    = list(string)
  default = ["a"]
}

write_file_if_changed "first" {
  path    = "/etc/demo.conf"
  content = "${var.names«.0»}\n"
}
`,
		Good: `
variable "names" {
  type    = list(string)
  default = ["a"]
}

write_file_if_changed "first" {
  path    = "/etc/demo.conf"
  content = "${var.names[0]}\n"
}
`,
		Check: checkDeprecatedForm,
	}
}

func checkDeprecatedForm(p *lint.Pass) {
	p.Traversals(func(_ *hclsyntax.Block, e *hclsyntax.ScopeTraversalExpr) {
		for _, step := range e.Traversal {
			index, ok := step.(hcl.TraverseIndex)
			if !ok || index.Key.Type() != cty.Number || p.Source(index.SrcRange) == "" || p.Source(index.SrcRange)[0] != '.' {
				continue
			}
			n, _ := index.Key.AsBigFloat().Int64()
			text := "[" + strconv.FormatInt(n, 10) + "]"
			f := lint.Finding{Range: index.SrcRange, Detail: "This is an old form of an index. Write " + text + "."}
			p.Report(f.With(lint.Fix{Message: "write " + text, Edits: []lint.Edit{{Range: index.SrcRange, Text: text}}}))
		}
	})
	p.Nodes(func(_ *hclsyntax.Block, n hclsyntax.Node) {
		if s, ok := n.(*hclsyntax.SplatExpr); ok && p.Source(s.MarkerRange) == ".*" {
			f := lint.Finding{Range: s.MarkerRange, Detail: "This is an old form of a splat. Write [*]."}
			p.Report(f.With(lint.Fix{Message: "write [*]", Edits: []lint.Edit{{Range: s.MarkerRange, Text: "[*]"}}}))
		}
	})
}
