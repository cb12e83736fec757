package eval

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// position is where instances are placed: what surrounds them.
type position struct {
	owner *instance
	// stage is what status and logs show, deferred why everything here is.
	stage, deferred string
	// machine is the name of the machine it runs inside of, part the phase.
	machine, part string
	// maybe says that, when validating, whether anything here is on is not
	// known.
	maybe bool
}

// evaluate places everything in the recipe, in order.
func (f *frame) evaluate(at position) {
	for _, it := range f.recipe.items {
		f.item(it, at)
	}
}

func (f *frame) item(it item, at position) {
	switch it := it.(type) {
	case *use:
		f.use(it, at)
	case *stage:
		f.stage(it, at)
	case *step:
		f.step(it, at)
	}
}

// on evaluates a when. Where it is not known everything it guards is deferred;
// when validating it counts as on.
func (b bench) on(expr hclsyntax.Expression, at *position) bool {
	if expr == nil {
		return true
	}
	before := len(b.frame.run.list)
	on, known := b.whether("when", expr)
	if known {
		b.frame.run.whens = append(b.frame.run.whens, When{expr.Range(), on})
		return on
	}
	if len(b.frame.run.list) > before || b.frame.run.mode == asValidation {
		at.maybe = true
		return true
	}
	if at.deferred == "" {
		at.deferred = b.cause("when", expr)
	}
	return true
}

func (f *frame) use(u *use, at position) {
	if u.recipe == nil {
		return
	}
	on := f.bench(nil).on(u.when, &at)
	child := f.used(u)
	child.off = !on
	if on {
		child.evaluate(at)
	}
}

func (f *frame) stage(st *stage, at position) {
	on := f.bench(at.owner).on(st.when, &at)
	at.stage = st.label
	for _, s := range st.steps {
		if !on {
			f.group(s, at.owner)
			continue
		}
		f.step(s, at)
	}
}

// group is where the instances of a step are kept.
func (f *frame) group(st *step, owner *instance) *group {
	groups := f.groups
	if owner != nil {
		groups = owner.inner
	}
	if groups[st] == nil {
		groups[st] = &group{}
	}
	return groups[st]
}

// step makes the instances of a step and places them.
func (f *frame) step(st *step, at position) {
	g := f.group(st, at.owner)
	b := f.bench(at.owner)
	list, known, ok := b.elements(st)
	if !known || !ok {
		g.unknown = true
		list = []element{{each: unknownEach()}}
		if ok && f.run.mode == asProgram && at.deferred == "" {
			at.deferred = b.cause("for_each", st.forEach)
		}
	}
	for _, el := range list {
		b.each = el.each
		in := &instance{step: st, key: el.key, owner: at.owner, each: el.each, self: b.self, inner: map[*step]*group{}}
		in.address = f.address(in)
		where := at
		if !b.on(st.when, &where) {
			continue
		}
		in.exports = unknownExports(st.typ)
		if !g.unknown {
			g.list = append(g.list, in)
		}
		f.instance(in, b, where)
	}
}

func (f *frame) address(in *instance) string {
	text := in.step.address()
	if in.key != nil {
		text += "[" + quote(*in.key) + "]"
	}
	if in.owner != nil {
		return in.owner.address + "." + text
	}
	return f.recipe.prefix + text
}

// instance evaluates one instance and places it.
func (f *frame) instance(in *instance, b bench, at position) {
	p := block.Placed{
		Address: in.address, Label: in.step.label, Type: in.step.typ, Stage: at.stage,
		Machine: at.machine, Part: at.part, Source: f.recipe.source.Name(), OnDrift: block.DriftRepair, Range: in.step.rng, Deferred: at.deferred,
	}
	if at.owner != nil {
		p.Owner = at.owner.address
	}
	e := newEvaluation(b)
	e.inside = at.machine != ""
	e.common(in.step, &p)
	value := e.arguments(in)
	in.self = e.self
	if e.self != cty.NilVal && isText(e.self.GetAttr("name")) {
		p.Self = e.self.GetAttr("name").AsString()
	}
	if p.Deferred == "" {
		p.Deferred = e.unknown
	}
	p.NeedsInput, p.Sensitive = e.needs, len(e.secret) > 0
	m := making{frame: f, in: in, e: e, p: p, at: at}
	m.args = block.Args{
		Address: in.address, Label: in.step.label, Value: value, Holes: e.holes, Secret: e.secret, Ranges: e.ranges,
		Assets: f.recipe.source, Facts: f.run.env.Facts, Prefix: f.run.env.Prefix, Self: p.Self,
	}
	m.make()
}
