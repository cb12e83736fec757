package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// refs evaluates a list of references to the addresses of the instances they
// name. Steps that are off are left out.
func (e *evaluation) refs(at *block.Attr, a *hclsyntax.Attribute) cty.Value {
	list, ok := a.Expr.(*hclsyntax.TupleConsExpr)
	if !ok || e.frame.recipe.faulty[a.Expr] {
		e.failed = true
		return cty.UnknownVal(at.Type)
	}
	var addresses []string
	for _, expr := range list.Exprs {
		for _, address := range e.ref(at, expr) {
			if !slices.Contains(addresses, address) {
				addresses = append(addresses, address)
			}
		}
	}
	return texts(addresses)
}

func (e *evaluation) ref(at *block.Attr, expr hclsyntax.Expression) []string {
	t, keyExpr, ok := reference(expr)
	if !ok {
		e.failed = true
		return nil
	}
	found, _, d := e.frame.recipe.resolve(t, e.scope())
	if d != nil || found.step == nil {
		e.failed = true
		return nil
	}
	if keyExpr != nil {
		key, ok := e.refKey(at, keyExpr)
		if !ok {
			return nil
		}
		found.path = slices.Clone(found.path)
		found.path[len(found.path)-1].key = &key
	}
	list, unknown := e.frame.instancesOf(found.path, e.owner)
	if unknown && e.frame.run.mode == asProgram {
		e.postpone(at.Name + " names instances that are not known yet")
	}
	addresses := make([]string, len(list))
	for i, in := range list {
		addresses[i] = in.address
	}
	last := found.path[len(found.path)-1]
	if last.key != nil && len(list) == 0 && !unknown && !e.isOff(found) {
		e.fail(expr.Range(), "Unknown instance", "%s has no instance %q.", found.step.address(), *last.key)
	}
	return addresses
}

// isOff says whether what a reference names is not there because it, or what
// it stands in, is off.
func (e *evaluation) isOff(t target) bool {
	t.path = slices.Clone(t.path)
	t.path[len(t.path)-1].key = nil
	list, _ := e.frame.instancesOf(t.path, e.owner)
	return len(list) == 0
}

func (e *evaluation) refKey(at *block.Attr, expr hclsyntax.Expression) (string, bool) {
	v, ok := e.eval(expr)
	raw, s := reveal(v)
	switch {
	case !ok:
		e.failed = true
	case s.sensitive:
		e.fail(expr.Range(), "Sensitive value here", "Keys are shown, so none can be sensitive.")
	case !raw.IsKnown():
		e.postpone(at.Name + " has a key that is not known yet")
	case !isText(raw):
		e.fail(expr.Range(), "Invalid key", "Keys of instances are strings.")
	default:
		return raw.AsString(), true
	}
	return "", false
}

// instancesOf are the instances that a path names; a leg without a key stands
// for all instances. unknown says that some cannot be known.
func (f *frame) instancesOf(path []leg, owner *instance) (list []*instance, unknown bool) {
	for path[0].use != nil {
		child := f.uses[path[0].use]
		if child == nil || child.off {
			return nil, child == nil
		}
		f, path, owner = child, path[1:], nil
	}
	groups := f.groups
	if owner != nil && path[0].step.scope == owner.step.inner {
		groups = owner.inner
	}
	return pick(groups, path)
}

// checkWatched reports steps whose changes nothing makes take effect.
func (run *run) checkWatched() {
	watched := map[string]bool{}
	for _, p := range run.placed {
		if w, ok := p.Step.(block.Watcher); ok {
			addresses, _ := w.Watches()
			for _, a := range addresses {
				watched[a] = true
			}
		} else if p.Step == nil && hasRefs(p.Type) {
			// What it watches is not known.
			return
		}
	}
	for _, p := range run.placed {
		if w, ok := p.Step.(block.Watched); ok && w.NeedsWatcher() && !watched[p.Address] {
			run.errorf(p.Range, "Nothing restarts this", "%s is started and has files of its own, and nothing restarts it when they change. Watch it with a restart_on_change after it, or write restart = \"never\".", p.Address)
		}
	}
}

func hasRefs(typ *block.Type) bool {
	return slices.ContainsFunc(typ.Schema.Attrs, func(a block.Attr) bool { return a.Refs })
}

// pick finds the instances of a path among those of a scope.
func pick(groups map[*step]*group, path []leg) (list []*instance, unknown bool) {
	g := groups[path[0].step]
	if g == nil {
		return nil, false
	}
	unknown = g.unknown
	for _, in := range g.list {
		if path[0].key != nil && (in.key == nil || *in.key != *path[0].key) {
			continue
		}
		if len(path) == 1 {
			list = append(list, in)
			continue
		}
		inner, more := pick(in.inner, path[1:])
		list, unknown = append(list, inner...), unknown || more
	}
	return list, unknown
}
