package eval

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// frame is the evaluation of one recipe with its values.
type frame struct {
	run    *run
	recipe *Recipe
	vars   map[string]cty.Value
	// functions are those of the recipe and of the run.
	functions map[string]function.Function
	locals    map[string]cty.Value
	groups    map[*step]*group
	uses      map[*use]*frame
	// results are the outputs evaluated so far.
	results map[*output]cty.Value
	// off says that the use block is off.
	off bool
	// extra are names beside those of the language, for a Desk.
	extra map[string]cty.Value
}

// group is what a block was evaluated to: one instance, or one for each key.
type group struct {
	list []*instance
	// unknown says that the instances cannot be known.
	unknown bool
}

// instance is one evaluated step.
type instance struct {
	step    *step
	key     *string
	owner   *instance
	address string
	// each and self are bound in what is nested in it.
	each, self cty.Value
	// exports is an object of what the type exports.
	exports cty.Value
	inner   map[*step]*group
}

func (run *run) frame(r *Recipe, in Inputs) *frame {
	return run.frameOf(r, r.variableValues(in))
}

func (run *run) frameOf(r *Recipe, vars map[string]cty.Value) *frame {
	functions := maps.Clone(r.functions)
	maps.Copy(functions, run.functions)
	return &frame{
		run: run, recipe: r, vars: vars, functions: functions,
		locals: map[string]cty.Value{}, groups: map[*step]*group{}, uses: map[*use]*frame{}, results: map[*output]cty.Value{},
	}
}

// bench is where an expression is evaluated.
type bench struct {
	frame *frame
	// owner is the instance whose nested steps are in scope, nil on the host.
	owner      *instance
	each, self cty.Value
}

func (f *frame) bench(owner *instance) bench {
	b := bench{frame: f, owner: owner, each: cty.NilVal, self: cty.NilVal}
	if owner != nil {
		b.each, b.self = owner.each, owner.self
	}
	return b
}

// scope is where the steps are that can be referred to.
func (b bench) scope() *scope {
	if b.owner != nil {
		return b.owner.step.inner
	}
	return b.frame.recipe.scope
}

// context holds the values that an expression refers to.
func (b bench) context(expr hclsyntax.Expression) *hcl.EvalContext {
	c := contextBuilder{bench: b, vals: map[string]cty.Value{}, labels: map[string]map[string]cty.Value{}}
	for _, t := range expr.Variables() {
		c.add(t)
	}
	for root, labels := range c.labels {
		c.vals[root] = cty.ObjectVal(labels)
	}
	return b.frame.run.budget.In(&hcl.EvalContext{Variables: c.vals, Functions: b.frame.functions})
}

type contextBuilder struct {
	bench
	vals map[string]cty.Value
	// labels are the values below local, use and the types of steps.
	labels map[string]map[string]cty.Value
}

func (c *contextBuilder) add(t hcl.Traversal) {
	root := t.RootName()
	switch root {
	case "var":
		c.vals["var"] = cty.ObjectVal(c.frame.vars)
		return
	case "host":
		c.vals["host"] = c.frame.run.facts
		return
	case "each":
		c.bind("each", c.each)
		return
	case "self":
		c.bind("self", c.self)
		return
	}
	if v, ok := c.frame.extra[root]; ok {
		c.vals[root] = v
		return
	}
	if len(t) < 2 {
		return
	}
	label, ok := name(t[1])
	if !ok {
		return
	}
	if c.labels[root] == nil {
		c.labels[root] = map[string]cty.Value{}
	}
	if _, done := c.labels[root][label]; !done {
		c.labels[root][label] = c.value(root, label)
	}
}

func (c *contextBuilder) bind(name string, v cty.Value) {
	if v != cty.NilVal {
		c.vals[name] = v
	}
}

func (c *contextBuilder) value(root, label string) cty.Value {
	switch root {
	case "local":
		return c.frame.local(label)
	case "use":
		return c.frame.useValue(label)
	}
	st := c.scope().find(root, label)
	if st == nil {
		return cty.DynamicVal
	}
	if c.owner != nil && st.scope == c.owner.step.inner {
		return groupValue(st, c.owner.inner[st])
	}
	return groupValue(st, c.frame.groups[st])
}

// local evaluates a local, once.
func (f *frame) local(name string) cty.Value {
	if v, ok := f.locals[name]; ok {
		return v
	}
	l := f.recipe.locals[name]
	if l == nil {
		return cty.DynamicVal
	}
	// A cycle was reported when the recipe was read; this ends it.
	f.locals[name] = cty.DynamicVal
	v, ok := f.bench(nil).eval(l.expr)
	if !ok {
		v = cty.DynamicVal
	}
	f.locals[name] = v
	return v
}
