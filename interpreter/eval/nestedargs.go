package eval

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// arguments evaluates everything written in a step's block to an object of the
// schema's type.
func (e *evaluation) arguments(in *instance) cty.Value {
	a, ty := in.step.args, in.step.typ.Schema.Type()
	e.ranges[""] = a.rng
	vals := e.attrs(a, "")
	e.bindSlots(in, vals)
	e.nested(a, ty, vals, "")
	return cty.ObjectVal(vals)
}

func (e *evaluation) attrs(a *arguments, path string) map[string]cty.Value {
	vals := map[string]cty.Value{}
	for i := range a.schema.Attrs {
		at := &a.schema.Attrs[i]
		if written := a.attrs[at.Name]; at.Required && (written == nil || isNull(written.Expr)) {
			// Reported when the recipe was read.
			e.failed = true
			vals[at.Name] = cty.UnknownVal(at.Type)
			continue
		}
		vals[at.Name] = e.attr(at, a.attrs[at.Name], a.rng, path+at.Name)
	}
	return vals
}

// bindSlots finds the slots of a machine, and which one is active: that is
// self in what is nested. Other types have none.
func (e *evaluation) bindSlots(in *instance, vals map[string]cty.Value) {
	if !hasSteps(in.step.typ) {
		return
	}
	e.slots = slotNames(in.step.label, vals)
	if len(e.slots) == 0 {
		e.self = unknownSelf()
		return
	}
	active := e.slots[0]
	if ask := e.frame.run.env.ActiveSlot; ask != nil {
		if s := ask(in.address, e.slots); slices.Contains(e.slots, s) {
			active = s
		}
	}
	e.self = selfValue(active)
}

// slotNames are the slots of a machine: its attribute slots, else its name,
// else its label; none when they are not known.
func slotNames(label string, vals map[string]cty.Value) []string {
	if v, ok := vals["slots"]; ok && !isEmpty(v) {
		return slotList(v)
	}
	v, ok := vals["name"]
	switch {
	case !ok || v.IsKnown() && v.IsNull():
		return []string{label}
	case isText(v):
		return []string{v.AsString()}
	}
	return nil
}

func isEmpty(v cty.Value) bool {
	return v.IsKnown() && (v.IsNull() || v.CanIterateElements() && v.LengthInt() == 0)
}

func slotList(v cty.Value) []string {
	if !v.IsWhollyKnown() || !v.CanIterateElements() {
		return nil
	}
	var names []string
	for it := v.ElementIterator(); it.Next(); {
		if _, s := it.Element(); isText(s) {
			names = append(names, s.AsString())
		}
	}
	return names
}

func selfValue(name string) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(name), "root": cty.StringVal(host.MachineRoot(name))})
}

func unknownSelf() cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"name": unknownText(), "root": unknownText()})
}

// nested evaluates the nested blocks into lists of objects.
func (e *evaluation) nested(a *arguments, ty cty.Type, vals map[string]cty.Value, path string) {
	position := 0
	lists := map[string][]cty.Value{}
	for _, n := range a.blocks {
		elem := ty.AttributeType(n.kind.Name).ElementType()
		selves := []cty.Value{e.self}
		if n.kind.PerSlot {
			selves = e.perSlot()
		}
		for _, self := range selves {
			at := fmt.Sprintf("%s%s[%d]", path, n.kind.Name, len(lists[n.kind.Name]))
			lists[n.kind.Name] = append(lists[n.kind.Name], e.nestedBlock(n, elem, self, nestedPlace{at, position}))
		}
		if n.kind.Actions {
			position++
		}
	}
	for i := range a.schema.Blocks {
		n := &a.schema.Blocks[i]
		if !n.Steps {
			vals[n.Name] = e.list(a, n, ty.AttributeType(n.Name).ElementType(), lists[n.Name])
		}
	}
}

func (e *evaluation) perSlot() []cty.Value {
	if len(e.slots) == 0 {
		return []cty.Value{unknownSelf()}
	}
	list := make([]cty.Value, len(e.slots))
	for i, name := range e.slots {
		list[i] = selfValue(name)
	}
	return list
}

// nestedPlace is the path of a nested block and its place among the actions.
type nestedPlace struct {
	path     string
	position int
}

func (e *evaluation) nestedBlock(n nestedBlock, elem cty.Type, self cty.Value, at nestedPlace) cty.Value {
	inner := *e
	inner.self = self
	e.ranges[at.path] = n.args.rng
	vals := inner.attrs(n.args, at.path+".")
	for i, label := range n.kind.Labels {
		vals[label] = cty.StringVal(n.b.Labels[i])
		e.ranges[at.path+"."+label] = n.b.LabelRanges[i]
	}
	if n.kind.Actions {
		vals["position"] = cty.NumberIntVal(int64(at.position))
	}
	if n.kind.PerSlot {
		vals["slot"] = self.GetAttr("name")
	}
	inner.nested(n.args, elem, vals, at.path+".")
	e.needs, e.unknown, e.failed = inner.needs, inner.unknown, inner.failed
	return cty.ObjectVal(vals)
}

func (e *evaluation) list(a *arguments, n *block.Nested, elem cty.Type, list []cty.Value) cty.Value {
	switch {
	case len(list) == 0:
		return cty.ListValEmpty(elem)
	case !cty.CanListVal(list):
		e.fail(a.rng, "Different blocks", "The %s blocks hold values of different types. Give them the same arguments.", n.Name)
		return cty.UnknownVal(cty.List(elem))
	}
	return cty.ListVal(list)
}
