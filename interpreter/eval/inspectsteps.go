package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// inspecting is where steps are collected.
type inspecting struct {
	frame     *frame
	used, off bool
	stage     string
	owner     *Inspected
	instance  *instance
	part      string
	inside    bool
}

func (i *Inspection) collect(f *frame, used bool) {
	for _, it := range f.recipe.items {
		i.item(it, inspecting{frame: f, used: used, off: f.off})
	}
}

func (i *Inspection) item(it item, at inspecting) {
	switch it := it.(type) {
	case *use:
		if it.recipe != nil && at.frame.uses[it] != nil {
			i.collect(at.frame.uses[it], true)
		}
	case *stage:
		at.stage = it.label
		for _, s := range it.steps {
			i.step(s, at)
		}
	case *step:
		i.step(it, at)
	}
}

func (i *Inspection) step(st *step, at inspecting) {
	list, off := at.instances(st)
	at.off = at.off || off
	for n, in := range list {
		if n == maxInspected {
			break
		}
		i.instance(in, at)
	}
}

// instances are those that were made, or a stand-in where there are none.
func (at inspecting) instances(st *step) (list []*instance, off bool) {
	groups := at.frame.groups
	if at.instance != nil {
		groups = at.instance.inner
	}
	g := groups[st]
	if g != nil && len(g.list) > 0 {
		return g.list, false
	}
	in := &instance{step: st, owner: at.instance, self: unknownSelf(), exports: unknownExports(st.typ), inner: map[*step]*group{}}
	switch {
	case st.forEach != nil:
		in.each = unknownEach()
	case at.instance != nil:
		in.each = at.instance.each
	}
	in.address = at.frame.address(in)
	return []*instance{in}, g == nil || !g.unknown
}

func (i *Inspection) instance(in *instance, at inspecting) {
	b := at.frame.bench(in.owner)
	b.each = in.each
	s := &Inspected{
		Type: in.step.typ, Label: in.step.label, Address: in.address, Stage: at.stage, Off: at.off, Used: at.used,
		Owner: at.owner, Part: at.part, Inside: at.inside, Order: len(i.Steps), in: i,
		Arguments: &Arguments{Header: in.step.rng, args: in.step.args, bench: b, self: in.self, known: map[string]Arg{}},
	}
	if !at.used {
		s.Block = i.blocks[in.step.rng.Start]
	}
	if at.inside {
		s.Machine = machineName(in.owner)
	}
	i.Steps = append(i.Steps, s)
	i.of[in.step] = append(i.of[in.step], s)
	for k := range in.step.typ.Phases {
		phase := &in.step.typ.Phases[k]
		inner := at
		inner.owner, inner.instance, inner.part, inner.inside = s, in, phase.Name, phase.Inside
		for _, it := range in.step.parts[phase.Name] {
			i.item(it, inner)
		}
	}
}

func machineName(in *instance) string {
	if in.self != cty.NilVal && in.self.IsKnown() {
		if name := in.self.GetAttr("name"); isText(name) {
			return name.AsString()
		}
	}
	return in.step.label
}

// Name is the machine's name for a machine, its label where that is not known;
// "" for other steps.
func (s *Inspected) Name() string {
	if !hasSteps(s.Type) {
		return ""
	}
	return machineName(&instance{step: &step{label: s.Label}, self: s.self})
}

// Common is the expression of an argument that every step accepts, such as
// when; nil where it is not written.
func (s *Inspected) Common(name string) hclsyntax.Expression {
	if s.Block == nil {
		return nil
	}
	return attributeExpr(s.Block.Body, name)
}

// Ref is a reference in a list of steps.
type Ref struct {
	Range hcl.Range
	// Steps are what it names, none when it names nothing that is known.
	Steps []*Inspected
}

// Refs are the references in an argument that lists steps.
func (s *Inspected) Refs(name string) []Ref {
	written := s.args.attrs[name]
	if written == nil {
		return nil
	}
	list, ok := written.Expr.(*hclsyntax.TupleConsExpr)
	if !ok {
		return nil
	}
	var refs []Ref
	for _, e := range list.Exprs {
		refs = append(refs, Ref{Range: e.Range(), Steps: s.resolve(e)})
	}
	return refs
}

func (s *Inspected) resolve(e hclsyntax.Expression) []*Inspected {
	t, _, ok := reference(e)
	if !ok {
		return nil
	}
	found, known, d := s.bench.frame.recipe.resolve(t, s.bench.scope())
	if d != nil || !known || found.step == nil {
		return nil
	}
	all := s.in.of[found.step]
	key := found.path[len(found.path)-1].key
	if key == nil {
		return all
	}
	var list []*Inspected
	for _, o := range all {
		if o.Address == s.bench.frame.address(&instance{step: found.step, key: key}) || o.bench.owner != nil {
			list = append(list, o)
		}
	}
	return list
}
