package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// checkTarget holds a reference to a step, or to a used recipe, to the rules.
func (s site) checkTarget(t hcl.Traversal) place {
	root := t.RootName()
	if root != "use" && s.recipe.vocab.Type(root) == nil {
		s.unknownRoot(t)
		return placeConstant
	}
	s.demand(t.SourceRange(), "What an earlier step exports", placeValue)
	if s.place < placeValue || s.scope == nil {
		return placeValue
	}
	found, _, d := s.recipe.resolve(t, s.scope)
	if d != nil {
		s.recipe.add(d)
		return placeValue
	}
	if len(found.path) == 1 && found.path[0].use != nil && found.path[0].use.recipe == nil {
		return placeValue
	}
	s.note(found)
	if s.checkEarlier(found, found.rng, "") {
		s.checkExport(found)
	}
	return placeValue
}

func (s site) note(t target) {
	if s.found == nil {
		return
	}
	for _, had := range *s.found {
		if slices.EqualFunc(had.path, t.path, func(a, b leg) bool { return a.step == b.step && a.use == b.use }) {
			return
		}
	}
	*s.found = append(*s.found, t)
}

// checkEarlier reports a reference to a step that has not run yet.
func (s site) checkEarlier(t target, at hcl.Range, lead string) bool {
	order, rng, address := t.first()
	switch {
	case s.step != nil && t.step == s.step:
		s.recipe.errorf(at, "Reference to itself", "%s%s this step itself. A step can use what earlier steps export.", lead, be(lead, address))
		return false
	case s.encloses(t.step):
		s.recipe.errorf(at, "Reference to itself", "%s%s the machine that this stands in. Write self.name or self.root.", lead, be(lead, address))
		return false
	case order >= s.order:
		s.recipe.errorf(at, "Reference to later step", "%s%s a later step, at %s, and this runs first. Move one of them: the order written is the order in which steps run.", lead, be(lead, address), where(rng))
		return false
	}
	return true
}

// be joins an address with what is said about it, as a clause after a lead.
func be(lead, address string) string {
	if lead == "" {
		return address + " is"
	}
	return address + ", which is"
}

// encloses says whether the step is one that the site's step is nested in.
func (s site) encloses(st *step) bool {
	if s.step == nil || st == nil {
		return false
	}
	for o := s.step.owner; o != nil; o = o.owner {
		if o == st {
			return true
		}
	}
	return false
}

// checkExport holds what follows an address to what the step exports.
func (s site) checkExport(t target) {
	if t.out != nil {
		return
	}
	if t.step == nil {
		s.recipe.errorf(t.rng, "Incomplete reference", "Write which output of the recipe: use.LABEL.OUTPUT.")
		return
	}
	names := make([]string, 0, len(t.step.typ.Schema.Exports))
	for _, a := range t.step.typ.Schema.Exports {
		names = append(names, a.Name)
	}
	if len(names) == 0 && t.step.inner == nil {
		s.recipe.errorf(t.rng, "Nothing exported", "A %s exports nothing that others could read. Use the value that you gave it, from a local or a variable.", t.step.typ.Name)
		return
	}
	t.step.noteRead(t.rest)
	if len(t.rest) == 0 {
		return
	}
	at := hcl.RangeBetween(t.rng, t.rest[0].SourceRange())
	_, indexed := t.rest[0].(hcl.TraverseIndex)
	member, ok := name(t.rest[0])
	keyed := t.path[len(t.path)-1].key != nil
	switch {
	case t.step.forEach != nil && !keyed && !indexed:
		s.recipe.errorf(at, "Key needed", "%s is made once for each key. Write %s[\"KEY\"].%s.", t.address(), t.address(), member)
	case t.step.forEach == nil && indexed:
		s.recipe.errorf(at, "No for_each", "%s has no for_each, so it has no keys. Leave the brackets out.", t.address())
	case t.step.forEach != nil && !keyed:
	case !ok || !slices.Contains(names, member):
		s.recipe.errorf(at, "Unknown attribute", "A %s does not export %q; it exports %s.%s", t.step.typ.Name, member, oneOf(names), didYouMean(member, names))
	}
}
