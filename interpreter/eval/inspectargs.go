package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// Arg is an argument: as written, and what it evaluates to.
type Arg struct {
	// Schema describes it; nil when the type has no such argument.
	Schema *block.Attr
	// Attribute is nil when it is not written.
	Attribute *hclsyntax.Attribute
	// Value has no marks. What is not known, is sensitive or does not fit is
	// unknown; where nothing is written it is the default.
	Value cty.Value
	// Sensitive says that the value is made of a sensitive one.
	Sensitive bool
	// Range is the expression's, or that of the block's header.
	Range hcl.Range
}

// Written says whether the argument is written.
func (a Arg) Written() bool { return a.Attribute != nil }

// Text is the value of a string; ok is false when it is null or not known.
func (a Arg) Text() (s string, ok bool) {
	if a.Value == cty.NilVal || !isText(a.Value) {
		return "", false
	}
	return a.Value.AsString(), true
}

// Bool is the value of a bool; ok is false when it is null or not known.
func (a Arg) Bool() (yes, ok bool) {
	if a.Value == cty.NilVal || !a.Value.IsKnown() || a.Value.IsNull() || a.Value.Type() != cty.Bool {
		return false, false
	}
	return a.Value.True(), true
}

// Texts are the known strings of a list; whole is false when some are not
// known.
func (a Arg) Texts() (list []string, whole bool) {
	if a.Value == cty.NilVal || a.Value.IsNull() || !a.Value.IsKnown() || !a.Value.CanIterateElements() {
		return nil, false
	}
	whole = true
	for it := a.Value.ElementIterator(); it.Next(); {
		_, v := it.Element()
		if !isText(v) {
			whole = false
			continue
		}
		list = append(list, v.AsString())
	}
	return list, whole
}

// Arg is the argument of that name.
func (a *Arguments) Arg(name string) Arg {
	if arg, ok := a.known[name]; ok {
		return arg
	}
	arg := Arg{Range: a.Header, Value: cty.DynamicVal}
	for k := range a.args.schema.Attrs {
		if at := &a.args.schema.Attrs[k]; at.Name == name {
			arg = a.evaluate(at)
		}
	}
	a.known[name] = arg
	return arg
}

// Args are the arguments that are written, in the order of the schema.
func (a *Arguments) Args() []Arg {
	if a.written != nil || len(a.args.attrs) == 0 {
		return a.written
	}
	for i := range a.args.schema.Attrs {
		if name := a.args.schema.Attrs[i].Name; a.args.attrs[name] != nil {
			a.written = append(a.written, a.Arg(name))
		}
	}
	return a.written
}

func (a *Arguments) evaluate(at *block.Attr) Arg {
	written := a.args.attrs[at.Name]
	arg := Arg{Schema: at, Attribute: written, Range: a.Header, Value: at.Default}
	if at.Default == cty.NilVal {
		arg.Value = cty.NullVal(at.Type)
	}
	if written == nil {
		return arg
	}
	arg.Range = written.Expr.Range()
	if at.Refs {
		arg.Value = cty.UnknownVal(at.Type)
		return arg
	}
	raw, sensitive := a.bench.inspect(written.Expr)
	arg.Sensitive = sensitive
	if raw.IsKnown() && raw.IsNull() {
		return arg
	}
	arg.Value = cty.UnknownVal(at.Type)
	if raw.Type() == cty.DynamicPseudoType {
		return arg
	}
	if v, err := fitAttr(at, raw); err == nil {
		arg.Value = v
	}
	return arg
}

// Blocks are the nested blocks of a kind, in order.
func (a *Arguments) Blocks(kind string) []*Arguments {
	a.nest()
	return a.nestOf[kind]
}

// Nested are all nested blocks, kind by kind, in order.
func (a *Arguments) Nested() []*Arguments {
	a.nest()
	return a.nested
}

func (a *Arguments) nest() {
	if a.nestOf != nil {
		return
	}
	a.nestOf = map[string][]*Arguments{}
	var kinds []string
	for _, n := range a.args.blocks {
		b := a.bench
		if n.kind.PerSlot {
			b.self = a.self
		}
		if a.nestOf[n.kind.Name] == nil {
			kinds = append(kinds, n.kind.Name)
		}
		inner := &Arguments{Block: n.b, Header: n.args.rng, args: n.args, bench: b, self: a.self, known: map[string]Arg{}}
		a.nestOf[n.kind.Name] = append(a.nestOf[n.kind.Name], inner)
	}
	for _, kind := range kinds {
		a.nested = append(a.nested, a.nestOf[kind]...)
	}
}
