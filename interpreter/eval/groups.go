package eval

import (
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// groupValue is what a reference to a step reads.
func groupValue(st *step, g *group) cty.Value {
	if g == nil || g.unknown {
		return cty.DynamicVal
	}
	if st.forEach == nil {
		if len(g.list) == 0 {
			return nothingExported(st.typ)
		}
		return g.list[0].value()
	}
	vals := map[string]cty.Value{}
	for _, in := range g.list {
		vals[*in.key] = in.value()
	}
	return cty.ObjectVal(vals)
}

// value is what the instance exports, and the steps nested in it.
func (in *instance) value() cty.Value {
	if in.step.inner == nil || !in.exports.IsKnown() || in.exports.IsMarked() {
		return in.exports
	}
	attrs := in.exports.AsValueMap()
	if attrs == nil {
		attrs = map[string]cty.Value{}
	}
	for typ, steps := range in.step.inner.steps {
		if _, taken := attrs[typ]; taken {
			continue
		}
		labels := map[string]cty.Value{}
		for label, st := range steps {
			labels[label] = groupValue(st, in.inner[st])
		}
		attrs[typ] = cty.ObjectVal(labels)
	}
	return cty.ObjectVal(attrs)
}

// nothingExported stands for the exports of a step that is off: all null.
func nothingExported(typ *block.Type) cty.Value {
	attrs := map[string]cty.Value{}
	for _, a := range typ.Schema.Exports {
		attrs[a.Name] = cty.NullVal(a.Type)
	}
	return cty.ObjectVal(attrs)
}

// unknownExports stand for those of a step that could not be made.
func unknownExports(typ *block.Type) cty.Value {
	attrs := map[string]cty.Value{}
	for _, a := range typ.Schema.Exports {
		attrs[a.Name] = cty.UnknownVal(a.Type)
	}
	return cty.ObjectVal(attrs)
}
