package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/block"
)

// check holds every expression of the recipe to its place.
func (r *Recipe) check() {
	if r.header.fingerprint != nil {
		s := site{recipe: r, name: "the fingerprint", place: placeIdentity, identity: true}
		s.check(r.header.fingerprint)
	}
	r.checkValidations()
	for _, l := range r.localsInOrder() {
		r.checkLocal(l, nil)
	}
	for _, it := range r.items {
		r.checkItem(it)
	}
	r.checkOutputs()
}

func (r *Recipe) checkItem(it item) {
	switch it := it.(type) {
	case *use:
		r.checkUse(it)
	case *stage:
		if it.when != nil {
			s := r.nameSite("when", it.order)
			if it.owner != nil {
				s.scope, s.self, s.each = it.owner.inner, true, it.owner.forEach != nil
			}
			s.check(it.when)
		}
		for _, s := range it.steps {
			r.checkStep(s)
		}
	case *step:
		r.checkStep(it)
	}
}

// checkStep checks a step and those nested in it.
func (r *Recipe) checkStep(st *step) {
	outer := r.stepSite(st, placeName)
	outer.each = st.owner != nil && st.owner.forEach != nil
	if st.forEach != nil {
		outer.name = "for_each"
		outer.check(st.forEach)
	}
	named := r.stepSite(st, placeName)
	st.eachCommon(func(name string, expr hclsyntax.Expression) {
		named.name = name
		named.check(expr)
	})
	st.args.eachAttr(func(at *block.Attr, a *hclsyntax.Attribute, perSlot bool) {
		s := r.stepSite(st, placeValue)
		s.name, s.self = at.Name, s.self || perSlot
		if at.Owned {
			s.place = placeName
		}
		if at.Refs {
			s.checkRefs(a.Expr)
			return
		}
		s.check(a.Expr)
	})
	for _, phase := range st.typ.Phases {
		for _, inner := range st.parts[phase.Name] {
			r.checkItem(inner)
		}
	}
}

// stepSite is where the arguments of a step stand.
func (r *Recipe) stepSite(st *step, p place) site {
	return site{
		recipe: r, place: p, scope: st.scope, order: st.order, step: st, self: st.owner != nil,
		each: st.forEach != nil || st.owner != nil && st.owner.forEach != nil,
	}
}

// eachCommon visits the common arguments that are written, but for_each.
func (s *step) eachCommon(visit func(name string, expr hclsyntax.Expression)) {
	list := []struct {
		name string
		expr hclsyntax.Expression
	}{{"when", s.when}, {"timeout", s.timeout}, {"on_drift", s.onDrift}, {"description", s.description}, {"failure_reason", s.failureReason}}
	for _, c := range list {
		if c.expr != nil {
			visit(c.name, c.expr)
		}
	}
	if s.retry == nil {
		return
	}
	for name, expr := range map[string]hclsyntax.Expression{"attempts": s.retry.attempts, "delay": s.retry.delay, "max_delay": s.retry.maxDelay} {
		if expr != nil {
			visit(name, expr)
		}
	}
}

// checkRefs holds a list of references to steps to the rules.
func (s site) checkRefs(expr hclsyntax.Expression) {
	before := len(s.recipe.list)
	defer func() {
		if len(s.recipe.list) > before {
			s.recipe.faulty[expr] = true
		}
	}()
	list, ok := expr.(*hclsyntax.TupleConsExpr)
	if !ok {
		s.recipe.errorf(expr.Range(), "List of references", "Write %s as a list of earlier steps: %s = [TYPE.LABEL, …].", s.name, s.name)
		return
	}
	for _, e := range list.Exprs {
		s.checkRef(e)
	}
}

func (s site) checkRef(e hclsyntax.Expression) {
	t, key, ok := reference(e)
	if !ok {
		s.recipe.errorf(e.Range(), "Not a reference", "Write the address of an earlier step: TYPE.LABEL, without quotes.")
		return
	}
	if key != nil {
		named := s
		named.place, named.name = placeName, "a key"
		named.check(key)
	}
	switch t.RootName() {
	case "var", "local", "host", "each", "self":
		s.recipe.errorf(e.Range(), "Not a reference", "%s is a value. Write the address of an earlier step: TYPE.LABEL.", t.RootName())
		return
	}
	found, known, d := s.recipe.resolve(t, s.scope)
	switch {
	case d != nil:
		s.recipe.add(d)
	case !known:
		s.unknownRoot(t)
	case found.out != nil, found.step == nil:
		if len(found.path) == 0 || found.path[0].use == nil || found.path[0].use.recipe != nil {
			s.recipe.errorf(e.Range(), "Not a step", "%s is no step. Write use.LABEL and the address of a step in it.", found.address())
		}
	case !s.checkEarlier(found, found.rng, ""):
	default:
		s.checkRefEnd(found, key)
	}
}

// checkRefEnd holds what follows the address of a watched step to nothing.
func (s site) checkRefEnd(found target, key hclsyntax.Expression) {
	indexed := key != nil
	at := found.rng
	if len(found.rest) > 0 {
		at = hcl.RangeBetween(found.rng, found.rest.SourceRange())
		_, indexed = found.rest[0].(hcl.TraverseIndex)
	}
	switch {
	case indexed && found.step.forEach == nil:
		s.recipe.errorf(at, "Not a step", "%s has no for_each, so it has no keys. Leave the brackets out.", found.address())
	case indexed && len(found.rest) > 0:
		s.recipe.errorf(at, "Not a step", "Keys of %s are strings. Write the key in double quotes.", found.address())
	case len(found.rest) > 0:
		s.recipe.errorf(at, "Not a step", "%s is watched as a whole. Write it without what follows.", found.address())
	}
}

// reference takes an expression apart that is a reference, with a key in
// brackets that has to be evaluated where one is written.
func reference(e hclsyntax.Expression) (t hcl.Traversal, key hclsyntax.Expression, ok bool) {
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return reference(e.Expression)
	case *hclsyntax.IndexExpr:
		t, inner, ok := reference(e.Collection)
		return t, e.Key, ok && inner == nil
	case *hclsyntax.ScopeTraversalExpr:
		return e.Traversal, nil, true
	}
	return nil, nil, false
}
