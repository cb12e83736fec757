package eval

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// oneLabel is the only label of a block; what says what it is, for messages.
func (r *Recipe) oneLabel(b *hclsyntax.Block, kind, what string) (string, bool) {
	switch {
	case len(b.Labels) == 0:
		r.errorf(b.TypeRange, "Missing label", "A %s block has one label, %s: write %s \"NAME\" { … }.", kind, what, kind)
		return "", false
	case len(b.Labels) > 1:
		r.errorf(b.LabelRanges[1], "Second label", "A %s block has one label, %s. Remove this one.", kind, what)
	}
	if err := checkLabel(b.Labels[0]); err != nil {
		r.errorf(b.LabelRanges[0], "Invalid label", "%s", err)
		return "", false
	}
	return b.Labels[0], true
}

func checkLabel(label string) error {
	switch {
	case label == "":
		return fmt.Errorf("The label is empty; write a name in it.")
	case len(label) > 255:
		return fmt.Errorf("The label is %d bytes long; 255 is the most.", len(label))
	case strings.ContainsFunc(label, unicode.IsControl):
		return fmt.Errorf("The label holds a control character; write a name of visible ones.")
	}
	return nil
}

// checkIdentifier holds the label of something that is referred to by name.
func (r *Recipe) checkIdentifier(rng hcl.Range, label, kind string) bool {
	if hclsyntax.ValidIdentifier(label) {
		return true
	}
	r.errorf(rng, "Invalid name", "The name of a %s is made of letters, digits, _ and -, and starts with a letter; %q is not.", kind, label)
	return false
}

// constant evaluates an attribute that may use pure functions only.
func (r *Recipe) constant(a *hclsyntax.Attribute) (cty.Value, bool) {
	s := site{recipe: r, name: a.Name, place: placeConstant}
	if _, ok := s.check(a.Expr); !ok {
		return cty.NilVal, false
	}
	v, diags := a.Expr.Value(r.budget.In(&hcl.EvalContext{Functions: r.functions}))
	if d := r.budget.Spend(v, a.Expr.Range()); d != nil {
		v, diags = cty.DynamicVal, append(diags, d)
	}
	r.add(diags...)
	raw, _ := reveal(v)
	return raw, !diags.HasErrors() && raw.IsWhollyKnown()
}

func (r *Recipe) constantString(a *hclsyntax.Attribute) (string, bool) {
	v, ok := r.constant(a)
	if !ok {
		return "", false
	}
	if v.IsNull() || v.Type() != cty.String {
		r.errorf(a.Expr.Range(), "Invalid value", "Write %s as a string in double quotes.", a.Name)
		return "", false
	}
	return v.AsString(), true
}

func (r *Recipe) constantBool(a *hclsyntax.Attribute) bool {
	v, ok := r.constant(a)
	if !ok {
		return false
	}
	if v.IsNull() || v.Type() != cty.Bool {
		r.errorf(a.Expr.Range(), "Invalid value", "Write %s as true or false.", a.Name)
		return false
	}
	return v.True()
}

// checkPrefix reports a default_prefix that is not inert everywhere it is
// written to.
func (r *Recipe) checkPrefix(rng hcl.Range, prefix string) {
	if err := block.CheckPrefix(prefix); err != nil {
		r.errorf(rng, "Invalid prefix", "%s", err)
	}
}

// capital starts a clause as a sentence.
func capital(s string) string {
	for i, c := range s {
		return string(unicode.ToUpper(c)) + s[i+len(string(c)):]
	}
	return s
}
