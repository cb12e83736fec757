package syntax

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// MaxExponent bounds numbers: their binary exponent. Written out such a number
// has some four thousand digits.
const MaxExponent = 1 << 14

// ErrEndless is what [Bounded] says of a number that cannot be written out.
var ErrEndless = errors.New("the number is infinite, or has more than some thousand digits")

var (
	errHeavy   = fmt.Errorf("the value has more than %d MiB", MaxValue>>20)
	errDivisor = errors.New("division by zero; look at the divisor first, as in n == 0 ? 0 : x / n")
)

// Bounded says what makes a value larger than any may be, nil when nothing
// does. The text never holds the value.
func Bounded(v cty.Value) error {
	if _, fits := Weigh(v); fits {
		return nil
	}
	if holdsEndless(v) {
		return ErrEndless
	}
	return errHeavy
}

// endless says that a number cannot be written out: it is infinite, or has too
// many digits before or behind the point.
func endless(v cty.Value) bool {
	f := v.AsBigFloat()
	exp := f.MantExp(nil)
	return f.IsInf() || exp > MaxExponent || exp < -MaxExponent
}

// holdsEndless looks for such a number in a value.
func holdsEndless(v cty.Value) bool {
	v, _ = v.Unmark()
	switch {
	case v == cty.NilVal || !v.IsKnown() || v.IsNull():
		return false
	case v.Type() == cty.Number:
		return endless(v)
	case !v.CanIterateElements():
		return false
	}
	for it := v.ElementIterator(); it.Next(); {
		if _, el := it.Element(); holdsEndless(el) {
			return true
		}
	}
	return false
}

// holdNumbers makes the arithmetic of a parsed text fail where the result is no
// number, or none that can be written out. It does so in place.
func holdNumbers(node hclsyntax.Node) {
	ops := arithmetic()
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.BinaryOpExpr:
			if op := ops[n.Op]; op != nil {
				n.Op = op
			}
		case *hclsyntax.UnaryOpExpr:
			if op := ops[n.Op]; op != nil {
				n.Op = op
			}
		}
		return nil
	})
}

// heldNumbers is what a parser of expressions returned, with its numbers held.
func heldNumbers(expr hclsyntax.Expression, diags hcl.Diagnostics) (hclsyntax.Expression, hcl.Diagnostics) {
	if !diags.HasErrors() {
		holdNumbers(expr)
	}
	return expr, diags
}

// arithmetic are the operations that make numbers, with what stands for them.
func arithmetic() map[*hclsyntax.Operation]*hclsyntax.Operation {
	ops := map[*hclsyntax.Operation]*hclsyntax.Operation{}
	for _, op := range []*hclsyntax.Operation{
		hclsyntax.OpAdd, hclsyntax.OpSubtract, hclsyntax.OpMultiply, hclsyntax.OpDivide, hclsyntax.OpModulo, hclsyntax.OpNegate,
	} {
		divides := op == hclsyntax.OpDivide || op == hclsyntax.OpModulo
		ops[op] = &hclsyntax.Operation{Type: op.Type, Impl: held(op.Impl, divides)}
	}
	return ops
}

// held is an operation between numbers that can be written out.
func held(f function.Function, divides bool) function.Function {
	return function.New(&function.Spec{
		Params:       f.Params(),
		Type:         function.StaticReturnType(cty.Number),
		RefineResult: func(b *cty.RefinementBuilder) *cty.RefinementBuilder { return b.NotNull() },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			for _, arg := range args {
				if endless(arg) {
					return cty.NilVal, ErrEndless
				}
			}
			if divides && args[1].AsBigFloat().Sign() == 0 {
				return cty.NilVal, errDivisor
			}
			v, err := f.Call(args)
			if err == nil && endless(v) {
				return cty.NilVal, ErrEndless
			}
			return v, err
		},
	})
}
