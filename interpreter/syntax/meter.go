package syntax

import (
	"fmt"
	"reflect"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// The bounds of evaluation. A recipe that needs more has gone wrong, or means
// harm: the values of honest ones are a thousand times smaller.
const (
	// MaxValue is the largest value, in bytes of text; every element of a
	// collection counts elementWeight beside its own.
	MaxValue = 16 << 20
	// MaxWork is how much an evaluation as a whole may make.
	MaxWork = 256 << 20

	elementWeight = 64
	// stepWeight is what it counts to evaluate one part, however small.
	stepWeight = 512
)

// Budget is what an evaluation may still make. It is used by one goroutine.
type Budget struct {
	left int
}

// NewBudget is the budget of one evaluation.
func NewBudget() *Budget { return &Budget{left: MaxWork} }

// budgetName is where evaluation contexts hold their budget: a name that no
// expression can have.
const budgetName = " budget"

// In puts the budget into a context, for metered expressions.
func (b *Budget) In(ctx *hcl.EvalContext) *hcl.EvalContext {
	if ctx.Variables == nil {
		ctx.Variables = map[string]cty.Value{}
	}
	ctx.Variables[budgetName] = cty.CapsuleVal(cty.Capsule("budget", reflect.TypeFor[Budget]()), b)
	return ctx
}

// budgetIn finds the budget of a context, nil if there is none.
func budgetIn(ctx *hcl.EvalContext) *Budget {
	for ; ctx != nil; ctx = ctx.Parent() {
		if v, ok := ctx.Variables[budgetName]; ok {
			b, _ := v.EncapsulatedValue().(*Budget)
			return b
		}
	}
	return nil
}

// Spend takes a value from the budget. The diagnostic says that it is too
// large, or that there is nothing left.
func (b *Budget) Spend(v cty.Value, rng hcl.Range) *hcl.Diagnostic {
	weight, fits := Weigh(v)
	if !fits {
		return excess(rng, "Value too large", fmt.Sprintf("The value has more than %d MiB, or holds a number that is infinite or has more than some thousand digits. Larger files are read from a file of the recipe with source, or downloaded.", MaxValue>>20))
	}
	if b.left -= weight + stepWeight; b.left < 0 {
		return excess(rng, "Evaluation too large", fmt.Sprintf("Evaluating the recipe makes values of more than %d MiB. Look for loops within loops, and for locals that hold each other several times.", MaxWork>>20))
	}
	return nil
}

func excess(rng hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &rng}
}

// Weigh is how much there is of a value; fits is false for one that is larger
// than MaxValue, of which no more is looked at.
func Weigh(v cty.Value) (weight int, fits bool) {
	weight = weigh(v, MaxValue)
	return weight, weight <= MaxValue
}

// weigh looks at no more than limit, and returns more than that for what is
// larger.
func weigh(v cty.Value, limit int) int {
	v, _ = v.Unmark()
	if v == cty.NilVal || !v.IsKnown() || v.IsNull() {
		return 0
	}
	ty := v.Type()
	switch {
	case ty == cty.String:
		return len(v.AsString())
	case ty == cty.Number:
		if endless(v) {
			return limit + 1
		}
		return 0
	case !v.CanIterateElements():
		return 0
	}
	sum := 0
	for it := v.ElementIterator(); it.Next() && sum <= limit; {
		key, el := it.Element()
		if key.Type() == cty.String && key.IsKnown() {
			sum += len(key.AsString())
		}
		sum += elementWeight + weigh(el, limit-sum)
	}
	return sum
}

// metered is an expression whose value is taken from the budget.
type metered struct{ *hclsyntax.ParenthesesExpr }

// Unwrapped is the expression as written.
func (m metered) Unwrapped() hclsyntax.Expression { return m.Expression }

// Value evaluates, unless the budget is spent.
func (m metered) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	b := budgetIn(ctx)
	if b == nil {
		return m.Expression.Value(ctx)
	}
	if b.left < 0 {
		return cty.DynamicVal, nil // which was reported
	}
	v, diags := m.Expression.Value(ctx)
	if d := b.Spend(v, m.SrcRange); d != nil {
		return cty.DynamicVal, append(diags, d)
	}
	return v, diags
}

// Meter lets an expression take what it makes from the budget of its context:
// the parts of templates, what loops make, and the arguments of calls. It does
// so in place, once.
func Meter(expr hclsyntax.Expression) {
	_ = hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.TemplateExpr:
			meterAll(n.Parts)
		case *hclsyntax.FunctionCallExpr:
			meterAll(n.Args)
		case *hclsyntax.ForExpr:
			n.ValExpr = meter(n.ValExpr)
			if n.KeyExpr != nil {
				n.KeyExpr = meter(n.KeyExpr)
			}
		case *hclsyntax.TemplateWrapExpr:
			n.Wrapped = meter(n.Wrapped)
		}
		return nil
	})
}

func meterAll(list []hclsyntax.Expression) {
	for i, e := range list {
		list[i] = meter(e)
	}
}

func meter(e hclsyntax.Expression) hclsyntax.Expression {
	if lit, ok := e.(*hclsyntax.LiteralValueExpr); ok && lit.Val.Type() != cty.Number {
		return e // what is written is bounded by the file
	}
	if _, done := e.(metered); done {
		return e
	}
	return metered{&hclsyntax.ParenthesesExpr{Expression: e, SrcRange: e.Range()}}
}
