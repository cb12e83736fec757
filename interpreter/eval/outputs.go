package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Output is a value that a recipe gives to whoever runs or uses it.
type Output struct {
	Name        string
	Description string
	Sensitive   bool
	// Value is without marks; cty.NilVal when it is sensitive, or before
	// evaluation.
	Value cty.Value
	Range hcl.Range
}

type output struct {
	Output
	expr hclsyntax.Expression
}

// Outputs are the outputs that the recipe declares, without values, in the
// order written.
func (r *Recipe) Outputs() []Output {
	list := make([]Output, len(r.outputs))
	for i, o := range r.outputs {
		list[i] = o.Output
	}
	return list
}

func (r *Recipe) output(name string) *output {
	for _, o := range r.outputs {
		if o.Name == name {
			return o
		}
	}
	return nil
}

func (r *Recipe) outputNames() []string {
	names := make([]string, len(r.outputs))
	for i, o := range r.outputs {
		names[i] = o.Name
	}
	return names
}

func (r *Recipe) readOutput(b *hclsyntax.Block) {
	name, ok := r.oneLabel(b, "output", "its name")
	if !ok || !r.checkIdentifier(b.LabelRanges[0], name, "output") {
		return
	}
	if other := r.output(name); other != nil {
		r.errorf(b.LabelRanges[0], "Duplicate output", "The output %q is declared at %s already. Remove or rename one.", name, where(other.Range))
		return
	}
	o := &output{Output: Output{Name: name, Range: b.DefRange(), Value: cty.NilVal}}
	rest := withoutAttribute(b.Body, "value")
	attrs := r.constants(rest, "value", "description", "sensitive")
	if a := attrs["description"]; a != nil {
		o.Description, _ = r.constantString(a)
	}
	if a := attrs["sensitive"]; a != nil {
		o.Sensitive = r.constantBool(a)
	}
	for _, inner := range b.Body.Blocks {
		r.errorf(inner.TypeRange, "Unknown block", "An output has no nested blocks.")
	}
	a := b.Body.Attributes["value"]
	if a == nil {
		r.errorf(b.DefRange(), "Missing value", "An output has a value: write value = … .")
		return
	}
	o.expr = a.Expr
	r.outputs = append(r.outputs, o)
}

// withoutAttribute is a body's attributes without one whose expression is not
// a constant.
func withoutAttribute(body *hclsyntax.Body, name string) *hclsyntax.Body {
	rest := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: body.SrcRange, EndRange: body.EndRange}
	for n, a := range body.Attributes {
		if n != name {
			rest.Attributes[n] = a
		}
	}
	return rest
}

func (r *Recipe) checkOutputs() {
	for _, o := range r.outputs {
		s := site{recipe: r, name: "value", place: placeValue, scope: r.scope, order: anyOrder}
		s.check(o.expr)
	}
}
