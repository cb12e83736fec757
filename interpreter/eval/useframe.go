package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// used is the frame of a used recipe, made once.
func (f *frame) used(u *use) *frame {
	if child := f.uses[u]; child != nil {
		return child
	}
	child := f.run.frameOf(u.recipe, f.inputsOf(u))
	f.uses[u] = child
	u.recipe.validate(f.run.faults, child.vars, func(*variable) hcl.Range { return inputsRange(u) })
	return child
}

func inputsRange(u *use) hcl.Range {
	if u.inputs != nil {
		return u.inputs.Range()
	}
	return u.rng
}

// inputsOf are the values of the variables of a used recipe.
func (f *frame) inputsOf(u *use) map[string]cty.Value {
	given, ranges := f.givenTo(u)
	vars := map[string]cty.Value{}
	for _, v := range u.recipe.variables {
		val := v.fallback()
		at, written := ranges[v.Name]
		if !written {
			at = inputsRange(u)
		}
		if in, ok := given[v.Name]; ok {
			fitted, use, d := v.take(in, at)
			if d != nil {
				f.run.add(d)
			} else if use {
				val = fitted
			}
		} else if v.Required && given != nil {
			f.run.errorf(at, "Missing input", "The recipe %s needs a value for %q. Write inputs = { %s = … }.", u.recipe.header.Name, v.Name, v.Name)
		}
		if v.Sensitive {
			val = block.MarkSensitive(val)
		}
		vars[v.Name] = val
	}
	return vars
}

// givenTo evaluates the inputs of a use block; nil when they are unknown as a
// whole or faulty.
func (f *frame) givenTo(u *use) (map[string]cty.Value, map[string]hcl.Range) {
	ranges := map[string]hcl.Range{}
	if u.inputs == nil {
		return map[string]cty.Value{}, ranges
	}
	v, ok := f.bench(nil).eval(u.inputs)
	if !ok {
		return nil, ranges
	}
	shallow, marks := v.Unmark()
	switch {
	case !shallow.IsKnown():
		return nil, ranges
	case shallow.IsNull() || !shallow.Type().IsObjectType() && !shallow.Type().IsMapType():
		f.run.errorf(u.inputs.Range(), "Invalid inputs", "Write inputs = { NAME = VALUE, … }.")
		return nil, ranges
	}
	if object, ok := u.inputs.(*hclsyntax.ObjectConsExpr); ok {
		for _, it := range object.Items {
			ranges[hcl.ExprAsKeyword(it.KeyExpr)] = it.ValueExpr.Range()
		}
	}
	given := map[string]cty.Value{}
	for name, val := range shallow.AsValueMap() {
		given[name] = val.WithMarks(marks)
		if _, checked := ranges[name]; !checked && u.recipe.variable(name) == nil {
			f.run.errorf(u.inputs.Range(), "Unknown input", "The recipe %s has no variable %q.%s", u.recipe.header.Name, name, didYouMean(name, u.recipe.variableNames()))
		}
	}
	return given, ranges
}

// useValue is what a reference to a used recipe reads: its outputs and its
// steps.
func (f *frame) useValue(label string) cty.Value {
	u := f.recipe.uses[label]
	if u == nil || u.recipe == nil || f.uses[u] == nil {
		return cty.DynamicVal
	}
	child := f.uses[u]
	attrs := map[string]cty.Value{}
	for typ, steps := range u.recipe.scope.steps {
		labels := map[string]cty.Value{}
		for name, st := range steps {
			labels[name] = groupValue(st, child.groupOf(st))
		}
		attrs[typ] = cty.ObjectVal(labels)
	}
	if len(u.recipe.uses) > 0 {
		inner := map[string]cty.Value{}
		for name := range u.recipe.uses {
			inner[name] = child.useValue(name)
		}
		attrs["use"] = cty.ObjectVal(inner)
	}
	for _, o := range u.recipe.outputs {
		attrs[o.Name] = child.output(o)
	}
	return cty.ObjectVal(attrs)
}

// groupOf is what a step of the host was evaluated to; in a recipe that is off
// nothing.
func (f *frame) groupOf(st *step) *group {
	if f.off {
		return &group{}
	}
	return f.groups[st]
}

// output evaluates an output; in a recipe that is off it is null.
func (f *frame) output(o *output) cty.Value {
	if f.off {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	v, done := f.results[o]
	if !done {
		v = f.result(o)
		f.results[o] = v
	}
	return v
}

func (f *frame) result(o *output) cty.Value {
	v, ok := f.bench(nil).eval(o.expr)
	if !ok {
		return cty.DynamicVal
	}
	if o.Sensitive {
		return block.MarkSensitive(v)
	}
	if _, s := reveal(v); s.sensitive {
		f.run.errorf(o.expr.Range(), "Sensitive output", "The value is made of a sensitive one. Write sensitive = true in the output.")
	}
	return v
}

// outputs evaluates the outputs of the recipe of the run.
func (f *frame) outputs() []Output {
	list := f.recipe.Outputs()
	for i, o := range f.recipe.outputs {
		v := f.output(o)
		if raw, s := reveal(v); !s.sensitive {
			list[i].Value = raw
		}
	}
	return list
}
