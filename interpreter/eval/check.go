package eval

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/syntax"
)

// site is where an expression stands: what may be used in it, and which steps
// are earlier.
type site struct {
	recipe *Recipe
	// name is that of the argument, for messages.
	name  string
	place place
	scope *scope // nil where no step can be referred to
	order int
	// step is the one whose argument it is, nil for others.
	step *step
	// each and self say that these names are bound.
	each, self bool
	// anyVariable lets variables be used whatever their values depend on.
	anyVariable bool
	// identity says that it is the fingerprint, which nothing sensitive joins.
	identity bool
	// locals is the chain of locals that led here, and found collects the
	// steps referred to.
	locals []*local
	found  *[]target
	// extra are names beside those of the language.
	extra map[string]cty.Value
}

// check holds an expression to its place. It returns what its value depends on
// and whether all is well.
func (s site) check(expr hclsyntax.Expression) (level place, ok bool) {
	ok = true
	before := len(s.recipe.list)
	for _, t := range expr.Variables() {
		level = max(level, s.checkReference(t))
	}
	eachCall(expr, func(c *hclsyntax.FunctionCallExpr) { level = max(level, s.checkCall(c)) })
	for _, d := range s.recipe.list[before:] {
		ok = ok && d.Severity != hcl.DiagError
	}
	probeNulls(expr)
	syntax.Meter(expr)
	if !ok {
		s.recipe.faulty[expr] = true
	}
	return level, ok
}

// demand reports what depends on more than the place allows.
func (s site) demand(rng hcl.Range, what string, needs place) {
	if needs <= s.place {
		return
	}
	s.recipe.errorf(rng, "Not allowed here", "%s cannot be used in %s, which may use %s. %s", what, s.name, s.place.allowed(), s.place.reason())
}

func (s site) checkReference(t hcl.Traversal) place {
	switch t.RootName() {
	case "var":
		return s.checkVariable(t)
	case "local":
		return s.checkLocal(t)
	case "host":
		s.demand(t.SourceRange(), "A fact of the host", placeName)
		s.checkFact(t)
		return placeName
	case "each":
		s.checkBound(t, s.each, []string{"key", "value"}, "Write for_each in the step to use each.")
		return placeName
	case "self":
		s.checkBound(t, s.self, []string{"name", "root"}, "It is known inside a machine and in what is written once for each slot.")
		return placeName
	}
	if _, ok := s.extra[t.RootName()]; ok {
		return placeConstant
	}
	return s.checkTarget(t)
}

func (s site) checkVariable(t hcl.Traversal) place {
	name, ok := s.member(t, "var")
	if !ok {
		return placeIdentity
	}
	v := s.recipe.variable(name)
	if v == nil {
		s.undeclared(t, "variable", name, s.recipe.variableNames())
		return placeIdentity
	}
	level := v.level
	if s.anyVariable {
		level = placeIdentity
	}
	if level > placeIdentity && level > s.place {
		s.recipe.errorf(t.SourceRange(), "Not allowed here", "The value of var.%s is given at %s and depends on %s, and %s may use %s. %s",
			name, where(s.recipe.user.rng), level.nature(), s.name, s.place.allowed(), s.place.reason())
		return level
	}
	s.demand(t.SourceRange(), "A variable", min(level, placeIdentity))
	if s.place == placeIdentity && s.identity && v.Sensitive {
		s.recipe.errorf(t.SourceRange(), "Sensitive value here", "The fingerprint is stored and shown, so var.%s, which is sensitive, cannot be part of it. Leave it out: a new secret is not a new installation.", name)
	}
	s.checkMembers(t[2:], v.Type)
	return level
}

func (s site) checkLocal(t hcl.Traversal) place {
	name, ok := s.member(t, "local")
	if !ok {
		return placeConstant
	}
	l := s.recipe.locals[name]
	if l == nil {
		s.undeclared(t, "local", name, s.recipe.localNames())
		return placeConstant
	}
	s.recipe.checkLocal(l, s.locals)
	if s.place < placeName {
		s.demand(t.SourceRange(), "A local", placeName)
		return l.level
	}
	if l.level > s.place {
		s.recipe.errorf(t.SourceRange(), "Not allowed here", "local.%s depends on %s, and %s may use %s. %s", name, l.level.nature(), s.name, s.place.allowed(), s.place.reason())
	}
	for _, found := range l.targets {
		s.checkEarlier(found, t.SourceRange(), "local."+name+" refers to ")
		s.note(found)
	}
	return l.level
}

// member is the name after var or local.
func (s site) member(t hcl.Traversal, root string) (string, bool) {
	if len(t) > 1 {
		if member, ok := name(t[1]); ok {
			return member, true
		}
	}
	s.recipe.errorf(t.SourceRange(), "Incomplete reference", "Write %s.NAME: %s cannot be used as a whole.", root, root)
	return "", false
}

func (s site) undeclared(t hcl.Traversal, kind, name string, candidates []string) {
	rng := hcl.RangeBetween(t[0].SourceRange(), t[1].SourceRange())
	hint := didYouMean(name, candidates)
	if hint == "" {
		hint = " Declare it with " + kind + " \"" + name + "\" { … }."
		if kind == "local" {
			hint = " Declare it with locals { " + name + " = … }."
		}
	}
	s.recipe.errorf(rng, "Unknown "+kind, "There is no %s %q.%s", kind, name, hint)
}

// checkBound holds each and self to where they are known and to their
// attributes.
func (s site) checkBound(t hcl.Traversal, bound bool, attrs []string, hint string) {
	root := t.RootName()
	if !bound {
		s.recipe.errorf(t.SourceRange(), "No "+root+" here", "%q is not known in %s. %s", root, s.name, hint)
		return
	}
	s.demand(t.SourceRange(), root, placeName)
	member, ok := "", len(t) > 1
	if ok {
		member, ok = name(t[1])
	}
	if !ok || !slices.Contains(attrs, member) {
		s.recipe.errorf(t.SourceRange(), "Incomplete reference", "Write %s.%s or %s.%s.", root, attrs[0], root, attrs[1])
	}
}

// checkCall holds a function call to what exists and to the place.
func (s site) checkCall(c *hclsyntax.FunctionCallExpr) place {
	switch {
	case c.Name == "fingerprint":
		s.recipe.errorf(c.NameRange, "Not allowed here", "fingerprint() is called once, in the recipe block. Elsewhere read ownership().fingerprint.")
		return placeIdentity
	case c.Name == "ownership":
		s.demand(c.NameRange, "ownership()", placeName)
		return placeName
	case isLookup(c.Name):
		s.demand(c.NameRange, "The look-up "+c.Name+"()", placeValue)
		return placeValue
	}
	if _, ok := s.recipe.functions[c.Name]; !ok {
		names := slices.Collect(maps.Keys(s.recipe.functions))
		names = append(append(names, lookupNames[:]...), "ownership", "fingerprint")
		s.recipe.errorf(c.NameRange, "Unknown function", "There is no function %q.%s The functions are listed by \"hostler explain\".", c.Name, didYouMean(c.Name, names))
	}
	return placeConstant
}
