package eval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// cause says why an expression is not known, for messages.
func (b bench) cause(name string, expr hclsyntax.Expression) string {
	if names := b.unknowns(expr); len(names) > 0 {
		return fmt.Sprintf("%s depends on %s, which is not known yet", name, strings.Join(names, " and "))
	}
	return name + " is not known yet"
}

// unknowns names what an expression reads that is not known, for messages.
func (b bench) unknowns(expr hclsyntax.Expression) []string {
	ctx := b.context(expr)
	var names []string
	for _, t := range expr.Variables() {
		v, diags := t.TraverseAbs(ctx)
		if diags.HasErrors() {
			continue
		}
		if raw, _ := reveal(v); raw.IsWhollyKnown() {
			continue
		}
		if text := traversalText(t); !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	if len(names) > 0 {
		return names
	}
	eachCall(expr, func(c *hclsyntax.FunctionCallExpr) {
		text := c.Name + "()"
		if (isLookup(c.Name) || c.Name == "ownership") && !slices.Contains(names, text) {
			names = append(names, text)
		}
	})
	return names
}

func traversalText(t hcl.Traversal) string {
	text := t.RootName()
	for _, tr := range t[1:] {
		switch tr := tr.(type) {
		case hcl.TraverseAttr:
			text += "." + tr.Name
		case hcl.TraverseIndex:
			text += indexText(tr.Key)
		}
	}
	return text
}
