package eval

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
)

// target is what a reference to a step, or to an output of a used recipe,
// names.
type target struct {
	// path are the steps and use blocks from the recipe's own scope to what is
	// named, each with the key of an instance if one is written.
	path []leg
	// step is the last of them, nil for an output and for a whole use block.
	step *step
	out  *output
	// rest is what follows the address.
	rest hcl.Traversal
	// rng is the range of the address.
	rng hcl.Range
}

type leg struct {
	step *step
	use  *use
	key  *string
}

// first is the place in the order and the header of what the reference starts
// with, in the scope it is written in.
func (t target) first() (order int, rng hcl.Range, address string) {
	l := t.path[0]
	if l.use != nil {
		return l.use.order, l.use.rng, "use." + l.use.label
	}
	// Steps nested in the first one count by themselves.
	for _, inner := range t.path[1:] {
		if inner.step != nil && l.use == nil {
			l = inner
		}
	}
	return l.step.order, l.step.rng, t.address()
}

// address is how the target is written.
func (t target) address() string {
	var parts []string
	for _, l := range t.path {
		if l.use != nil {
			parts = append(parts, "use."+l.use.label)
			continue
		}
		text := l.step.address()
		if l.key != nil {
			text += "[" + quote(*l.key) + "]"
		}
		parts = append(parts, text)
	}
	if t.out != nil {
		parts = append(parts, t.out.Name)
	}
	return strings.Join(parts, ".")
}

func quote(s string) string { return fmt.Sprintf("%q", s) }

// name is the name that a part of a traversal gives, by a dot or by a string
// in brackets.
func name(tr hcl.Traverser) (string, bool) {
	switch tr := tr.(type) {
	case hcl.TraverseRoot:
		return tr.Name, true
	case hcl.TraverseAttr:
		return tr.Name, true
	case hcl.TraverseIndex:
		if isText(tr.Key) {
			return tr.Key.AsString(), true
		}
	}
	return "", false
}

// resolve finds the step or output that a traversal names. ok is false when its
// root is no block type and not "use".
func (r *Recipe) resolve(t hcl.Traversal, sc *scope) (found target, ok bool, d *hcl.Diagnostic) {
	root := t.RootName()
	switch {
	case root == "use":
		found, d = r.resolveUse(t)
		return found, true, d
	case r.vocab.Type(root) != nil:
		found, d = r.resolveStep(t, sc)
		return found, true, d
	}
	return target{}, false, nil
}

func (r *Recipe) resolveStep(t hcl.Traversal, sc *scope) (target, *hcl.Diagnostic) {
	typ, _ := name(t[0])
	if len(t) < 2 {
		return target{}, fault(t.SourceRange(), "Incomplete reference", "A reference to a step has its type and its label: write %s.LABEL, or %s[\"LABEL\"] for a label that is no identifier.", typ, typ)
	}
	label, ok := name(t[1])
	if !ok {
		return target{}, fault(t[1].SourceRange(), "Incomplete reference", "A reference to a step has its label written out: write %s.LABEL.", typ)
	}
	st := sc.find(typ, label)
	if st == nil {
		return target{}, r.unknownStep(t, typ, label, sc)
	}
	found := target{path: []leg{{step: st}}, step: st}
	used := 2
	if st.forEach != nil && len(t) > 2 {
		if index, ok := t[2].(hcl.TraverseIndex); ok && isText(index.Key) {
			key := index.Key.AsString()
			found.path[0].key = &key
			used = 3
		}
	}
	found.rest, found.rng = t[used:], hcl.RangeBetween(t[0].SourceRange(), t[used-1].SourceRange())
	return r.resolveInner(found)
}

// resolveInner goes on into the steps nested in the one found.
func (r *Recipe) resolveInner(found target) (target, *hcl.Diagnostic) {
	if found.step.inner == nil || len(found.rest) == 0 {
		return found, nil
	}
	typ, ok := name(found.rest[0])
	if !ok || r.vocab.Type(typ) == nil || exported(found.step.typ, typ) != nil {
		return found, nil
	}
	own := &scope{steps: found.step.inner.steps, machine: found.step}
	inner, d := r.resolveStep(found.rest, own)
	if d != nil {
		return target{}, d
	}
	inner.path = append(found.path, inner.path...)
	inner.rng = hcl.RangeBetween(found.rng, inner.rng)
	return inner, nil
}

func exported(typ *block.Type, name string) *block.Attr {
	for i := range typ.Schema.Exports {
		if typ.Schema.Exports[i].Name == name {
			return &typ.Schema.Exports[i]
		}
	}
	return nil
}

func (r *Recipe) unknownStep(t hcl.Traversal, typ, label string, sc *scope) *hcl.Diagnostic {
	hint := didYouMean(label, sc.labels(typ))
	if m := r.insideOf(typ, label); m != nil && hint == "" {
		hint = fmt.Sprintf(" It stands inside a machine: write %s.%s.", m.address(), (&step{typ: &block.Type{Name: typ}, label: label}).address())
	}
	rng := hcl.RangeBetween(t[0].SourceRange(), t[1].SourceRange())
	return fault(rng, "Unknown step", "There is no %s %q here.%s", typ, label, hint)
}

// insideOf is the machine that has such a step, nil if none has.
func (r *Recipe) insideOf(typ, label string) *step {
	for _, steps := range r.scope.steps {
		for _, s := range steps {
			if s.inner != nil && s.inner.steps[typ][label] != nil {
				return s
			}
		}
	}
	return nil
}

func (r *Recipe) resolveUse(t hcl.Traversal) (target, *hcl.Diagnostic) {
	if len(t) < 2 {
		return target{}, fault(t.SourceRange(), "Incomplete reference", "Write use.LABEL.OUTPUT, or use.LABEL and the address of a step.")
	}
	label, _ := name(t[1])
	u := r.uses[label]
	if u == nil {
		return target{}, fault(t.SourceRange(), "Unknown recipe", "There is no use block %q.%s", label, didYouMean(label, keys(r.uses)))
	}
	found := target{path: []leg{{use: u}}, rng: hcl.RangeBetween(t[0].SourceRange(), t[1].SourceRange()), rest: t[2:]}
	if u.recipe == nil || len(t) < 3 {
		return found, nil
	}
	next, _ := name(t[2])
	if o := u.recipe.output(next); o != nil {
		found.out, found.rest, found.rng = o, t[3:], hcl.RangeBetween(t[0].SourceRange(), t[2].SourceRange())
		return found, nil
	}
	inner := append(hcl.Traversal{hcl.TraverseRoot{Name: next, SrcRange: t[2].SourceRange()}}, t[3:]...)
	in, ok, d := u.recipe.resolve(inner, u.recipe.scope)
	if !ok {
		return target{}, fault(t[2].SourceRange(), "Unknown output", "The recipe %s has no output %q.%s", u.recipe.header.Name, next, didYouMean(next, u.recipe.outputNames()))
	}
	if d != nil {
		return target{}, d
	}
	in.path = append(found.path, in.path...)
	in.rng = hcl.RangeBetween(t[0].SourceRange(), in.rng)
	return in, nil
}

func keys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	return names
}
