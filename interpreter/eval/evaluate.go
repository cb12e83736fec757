package eval

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// evaluate evaluates an expression. Where a sensitive value takes part, error
// texts that could hold it are replaced.
func evaluate(expr hclsyntax.Expression, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := expr.Value(ctx)
	if len(diags) == 0 {
		return v, nil
	}
	hidden := usesSensitive(expr, ctx)
	for _, d := range diags {
		explainFault(d, ctx)
		if hidden && !slices.Contains(harmless[:], d.Summary) {
			d.Detail = "The expression uses a sensitive value, so the reason is not shown. Try it with a value that is no secret."
		}
	}
	if diags.HasErrors() {
		v = cty.DynamicVal
	}
	return v, diags
}

// harmless are the summaries of diagnostics whose text never holds a value.
var harmless = [...]string{
	"Unsupported attribute", "Attempt to get attribute from null value", "Attempt to index null value",
	"Condition is null", "Null condition", "Incorrect condition type", "Incorrect key type", "Invalid operand",
	"Invalid template interpolation value", "Iteration over non-iterable value", "Iteration over null value",
	"Not enough function arguments", "Too many function arguments", "Null value as key", "Splat of null value",
	"Value is null here",
}

// usesSensitive says whether a sensitive value takes part in an expression.
func usesSensitive(expr hclsyntax.Expression, ctx *hcl.EvalContext) bool {
	for _, t := range expr.Variables() {
		v, diags := t.TraverseAbs(ctx)
		if diags.HasErrors() {
			v = ctx.Variables[t.RootName()]
		}
		if v == cty.NilVal {
			continue
		}
		if _, s := reveal(v); s.sensitive {
			return true
		}
	}
	return callsSensitive(expr)
}

func callsSensitive(expr hclsyntax.Expression) bool {
	found := false
	eachCall(expr, func(c *hclsyntax.FunctionCallExpr) { found = found || c.Name == "sensitive" })
	return found
}

// eachCall visits the function calls of an expression.
func eachCall(expr hclsyntax.Expression, visit func(*hclsyntax.FunctionCallExpr)) {
	hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		if c, ok := n.(*hclsyntax.FunctionCallExpr); ok {
			visit(c)
		}
		return nil
	})
}

// explainFault replaces texts of the expression engine that do not say what to
// do.
func explainFault(d *hcl.Diagnostic, ctx *hcl.EvalContext) {
	if strings.HasSuffix(d.Detail, "..") && !strings.HasSuffix(d.Detail, "...") {
		d.Detail = strings.TrimSuffix(d.Detail, ".") // after an error that is a sentence
	}
	switch d.Summary {
	case "Attempt to get attribute from null value", "Attempt to index null value":
		d.Summary = "Value is null here"
		d.Detail = "This value is null, so nothing can be read from it. Compare it with null first, or use try()."
	case "Invalid template interpolation value":
		if d.Expression == nil {
			return
		}
		if v, diags := d.Expression.Value(ctx); !diags.HasErrors() && v.IsNull() {
			d.Summary = "Value is null here"
			d.Detail = "This value is null and cannot stand in a text. Give it a value, or use coalesce()."
		}
	}
}
