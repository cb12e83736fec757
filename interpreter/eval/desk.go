package eval

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Desk evaluates expressions that stand beside a recipe, such as the
// conditions of its tests: what an output may use may be used, look-ups of
// owned things too. It is used by one goroutine.
type Desk struct {
	recipe *Recipe
	frame  *frame
	extra  Extra
}

// Extra is what an expression may use beside the language.
type Extra struct {
	// Values are by name, for example "output".
	Values    map[string]cty.Value
	Functions map[string]function.Function
}

// Desk evaluates the recipe for one host and returns a desk beside it. The
// diagnostics are those of the evaluation; the desk is nil when there are
// errors.
func (r *Recipe) Desk(in Inputs, env Environment, extra Extra) (*Desk, hcl.Diagnostics) {
	if r.broken {
		return nil, nil
	}
	beside := *r
	beside.faults, beside.faulty = &faults{}, maps.Clone(r.faulty)
	beside.functions = maps.Clone(r.functions)
	maps.Copy(beside.functions, extra.Functions)
	env.SkipSupports = true
	run := newRun(r, env, asProgram)
	d := &Desk{recipe: &beside, frame: run.frame(r, in), extra: extra}
	d.frame.evaluate(position{})
	maps.Copy(d.frame.functions, extra.Functions)
	d.frame.extra = extra.Values
	if run.failed() {
		return nil, run.sorted()
	}
	run.list = nil
	return d, nil
}

// Eval evaluates an expression. The value is without marks; sensitive says that
// it is made of a sensitive one.
func (d *Desk) Eval(expr hclsyntax.Expression) (v cty.Value, sensitive bool, diags hcl.Diagnostics) {
	d.recipe.faults, d.frame.run.faults = &faults{}, &faults{}
	s := site{recipe: d.recipe, name: "an expression here", place: placeValue, scope: d.recipe.scope, order: anyOrder, extra: d.extra.Values}
	if _, ok := s.check(expr); !ok {
		return cty.DynamicVal, false, d.recipe.sorted()
	}
	v, ok := d.frame.bench(nil).eval(expr)
	diags = d.frame.run.sorted()
	if !ok {
		return cty.DynamicVal, false, diags
	}
	raw, secret := reveal(v)
	return raw, secret.sensitive, diags
}

// When is what a when was for the host, once for each instance of a step.
type When struct {
	Range hcl.Range
	On    bool
}

// Whens are those of the recipe and of those it uses that are known.
func (d *Desk) Whens() []When { return d.frame.run.whens }

// Steps are where the steps that are on are written, by address.
func (d *Desk) Steps() map[string]hcl.Range {
	all := map[string]hcl.Range{}
	for _, p := range d.frame.run.placed {
		all[p.Address] = p.Range
	}
	return all
}

// Outputs are the values of the recipe's outputs, those that are sensitive
// marked.
func (d *Desk) Outputs() map[string]cty.Value {
	values := map[string]cty.Value{}
	for _, o := range d.recipe.outputs {
		values[o.Name] = d.frame.output(o)
	}
	return values
}

// Names are what an expression may begin with: the recipe's variables, locals,
// steps and used recipes, with the facts of the host and extra names.
func (d *Desk) Names() []string {
	var names []string
	for _, v := range d.recipe.variables {
		names = append(names, "var."+v.Name)
	}
	for name := range d.recipe.locals {
		names = append(names, "local."+name)
	}
	for name := range d.recipe.uses {
		names = append(names, "use."+name)
	}
	for _, steps := range d.recipe.scope.steps {
		for _, s := range steps {
			names = append(names, s.address())
		}
	}
	for name := range FactNames() {
		names = append(names, name)
	}
	for name := range d.extra.Values {
		names = append(names, name)
	}
	return names
}

// Functions are the names of the functions that can be called.
func (d *Desk) Functions() []string { return sortedKeys(d.frame.functions) }
