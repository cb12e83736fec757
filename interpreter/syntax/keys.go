package syntax

import (
	"fmt"
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// Attributes returns the attributes of a body in the order written.
func Attributes(body *hclsyntax.Body) []*hclsyntax.Attribute {
	attrs := make([]*hclsyntax.Attribute, 0, len(body.Attributes))
	for _, a := range body.Attributes {
		attrs = append(attrs, a)
	}
	sort.Slice(attrs, func(i, j int) bool {
		return attrs[i].SrcRange.Start.Byte < attrs[j].SrcRange.Start.Byte
	})
	return attrs
}

// DuplicateKeys reports the keys that are written twice in one object, where
// the evaluator would let the last one win without a word. Keys that are
// computed are not looked at.
func DuplicateKeys(file *File) hcl.Diagnostics {
	var diags hcl.Diagnostics
	hclsyntax.VisitAll(file.Body, func(node hclsyntax.Node) hcl.Diagnostics {
		if object, ok := node.(*hclsyntax.ObjectConsExpr); ok {
			diags = append(diags, duplicateKeys(object)...)
		}
		return nil
	})
	order(diags)
	return diags
}

func duplicateKeys(object *hclsyntax.ObjectConsExpr) hcl.Diagnostics {
	var diags hcl.Diagnostics
	seen := map[string]hcl.Range{}
	for _, item := range object.Items {
		key, ok := literalKey(item.KeyExpr)
		if !ok {
			continue
		}
		rng := item.KeyExpr.Range()
		if before, twice := seen[key]; twice {
			diags = append(diags, fault(rng, "Duplicate key", fmt.Sprintf(
				"The key %q is already set at %s. Keep one of the two.", key, before)))
			continue
		}
		seen[key] = rng
	}
	return diags
}

// literalKey is the text of a key that is written as such.
func literalKey(expr hcl.Expression) (string, bool) {
	if len(expr.Variables()) > 0 {
		return "", false
	}
	if key, ok := expr.(*hclsyntax.ObjectConsKeyExpr); ok {
		if hasCall(key) {
			return "", false
		}
	}
	val, diags := expr.Value(nil)
	if diags.HasErrors() {
		return "", false
	}
	val, err := convert.Convert(val, cty.String)
	if err != nil || val.IsNull() || !val.IsKnown() {
		return "", false
	}
	return val.AsString(), true
}

func hasCall(expr hclsyntax.Node) bool {
	found := false
	hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if _, ok := node.(*hclsyntax.FunctionCallExpr); ok {
			found = true
		}
		return nil
	})
	return found
}
