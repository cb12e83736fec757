package syntax

import (
	"math/big"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// TestBounded: what cannot be written out is told from what is merely large, and
// the text never holds it.
func TestBounded(t *testing.T) {
	infinite := cty.NumberVal(new(big.Float).SetInf(true))
	for _, c := range []struct {
		v    cty.Value
		want error
	}{
		{cty.NumberIntVal(-5), nil},
		{cty.NumberFloatVal(1e300), nil},
		{cty.UnknownVal(cty.Number), nil},
		{cty.NullVal(cty.Number), nil},
		{infinite, ErrEndless},
		{cty.PositiveInfinity.Mark("secret"), ErrEndless},
		{cty.MustParseNumberVal("1e99999999"), ErrEndless},
		{cty.MustParseNumberVal("1e-99999999"), ErrEndless},
		{cty.ObjectVal(map[string]cty.Value{"a": cty.TupleVal([]cty.Value{cty.Zero, infinite})}), ErrEndless},
		{cty.StringVal(string(make([]byte, MaxValue+1))), errHeavy},
	} {
		if err := Bounded(c.v); err != c.want {
			t.Errorf("%.40s: %v, want %v", c.v.GoString(), err, c.want)
		}
	}
}

// TestHeldNumbers: arithmetic is held wherever a text is parsed.
func TestHeldNumbers(t *testing.T) {
	file, diags := Parse("x.hcl", []byte("b \"x\" {\n  a = [-(1 / 0)]\n}\n"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	expr, _ := ParseExpression("x", []byte("true ? 1 % 0 : 2"))
	template, _ := ParseTemplate("x", []byte("%{ if true }${1 / 0}%{ endif }"))
	for name, e := range map[string]interface {
		Value(*hcl.EvalContext) (cty.Value, hcl.Diagnostics)
	}{"file": file.Body.Blocks[0].Body.Attributes["a"].Expr, "expression": expr, "template": template} {
		v, diags := e.Value(nil)
		if len(diags) != 1 || diags[0].Summary != "Operation failed" || diags[0].Subject == nil {
			t.Errorf("%s: %#v %v", name, v, diags)
		}
	}
}
