package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// origin marks what comes from a sensitive variable, beside the sensitive
// mark itself.
type origin struct {
	variable string
	// missing says that the variable has no value in this run.
	missing bool
}

// ofHost marks what comes from the install prefix: it says where things are on
// the host, and means nothing inside a machine.
type ofHost struct{}

// secret is what the marks of a value tell.
type secret struct {
	sensitive bool
	prefix    bool     // it comes from the install prefix
	vars      []string // sensitive variables it is made of, sorted
	missing   []string // those of them without a value
}

// reveal takes all marks off a value, at every depth, and says what they told.
// It is the only place where marks are taken off.
func reveal(v cty.Value) (cty.Value, secret) {
	var s secret
	raw, paths := v.UnmarkDeepWithPaths()
	for _, p := range paths {
		for m := range p.Marks {
			s.sensitive = s.sensitive || m == block.Sensitive
			switch m := m.(type) {
			case origin:
				s.note(m)
			case ofHost:
				s.prefix = true
			}
		}
	}
	slices.Sort(s.vars)
	slices.Sort(s.missing)
	return raw, s
}

func (s *secret) note(o origin) {
	if !slices.Contains(s.vars, o.variable) {
		s.vars = append(s.vars, o.variable)
	}
	if o.missing && !slices.Contains(s.missing, o.variable) {
		s.missing = append(s.missing, o.variable)
	}
}

// conceal marks the value of a sensitive variable.
func conceal(v cty.Value, variable string, missing bool) cty.Value {
	return block.MarkSensitive(v).Mark(origin{variable, missing})
}

// nullProbe stands for a side of a comparison with null. Whether a sensitive
// value is null is not sensitive: the probe gives a stand-in without marks.
type nullProbe struct{ *hclsyntax.ParenthesesExpr }

// Value is null where the expression's is, and not null where it is not.
func (p nullProbe) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := p.ParenthesesExpr.Value(ctx)
	if !v.IsMarked() {
		return v, diags
	}
	raw, _ := v.Unmark()
	switch {
	case raw.IsKnown() && raw.IsNull():
		return cty.NullVal(cty.DynamicPseudoType), diags
	case raw.IsKnown(), raw.Range().DefinitelyNotNull():
		return cty.EmptyObjectVal, diags
	}
	return cty.DynamicVal, diags
}

// probeNulls puts probes into every comparison with null of an expression.
func probeNulls(expr hclsyntax.Expression) {
	hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		op, ok := n.(*hclsyntax.BinaryOpExpr)
		if !ok || op.Op != hclsyntax.OpEqual && op.Op != hclsyntax.OpNotEqual {
			return nil
		}
		switch {
		case isNull(op.RHS):
			op.LHS = probe(op.LHS)
		case isNull(op.LHS):
			op.RHS = probe(op.RHS)
		}
		return nil
	})
}

func probe(expr hclsyntax.Expression) hclsyntax.Expression {
	if _, done := expr.(nullProbe); done {
		return expr
	}
	return nullProbe{&hclsyntax.ParenthesesExpr{Expression: expr, SrcRange: expr.Range()}}
}

func isNull(expr hclsyntax.Expression) bool {
	for {
		p, ok := expr.(*hclsyntax.ParenthesesExpr)
		if !ok {
			break
		}
		expr = p.Expression
	}
	lit, ok := expr.(*hclsyntax.LiteralValueExpr)
	return ok && lit.Val.IsNull()
}
