package eval

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// use is another recipe that runs at a place of this one.
type use struct {
	label  string
	rng    hcl.Range
	source hcl.Range // of the source, where it is written
	order  int
	when   hclsyntax.Expression
	inputs hclsyntax.Expression
	// whenLevel is what when depends on.
	whenLevel place
	// recipe is nil when it could not be read; read is what there is of it.
	recipe, read *Recipe
}

// maxUseDepth bounds how deep recipes use each other.
const maxUseDepth = 16

// maxUses bounds how many recipes are read for one: two that each use the next
// twice are a thousand soon.
const maxUses = 1000

func (r *Recipe) readUse(b *hclsyntax.Block) {
	label, ok := r.oneLabel(b, "use", "its name")
	if !ok || !r.checkIdentifier(b.LabelRanges[0], label, "use block") {
		return
	}
	if other := r.uses[label]; other != nil {
		r.errorf(b.LabelRanges[0], "Duplicate label", "There is a use block %q at %s already. Give one another label.", label, where(other.rng))
		return
	}
	u := &use{label: label, rng: b.DefRange(), order: anyOrder}
	r.uses[label] = u
	r.items = append(r.items, u)
	u.when, u.inputs = attributeExpr(b.Body, "when"), attributeExpr(b.Body, "inputs")
	rest := withoutAttribute(withoutAttribute(b.Body, "when"), "inputs")
	attrs := r.constants(rest, "source", "version", "inputs", "when")
	for _, inner := range b.Body.Blocks {
		r.errorf(inner.TypeRange, "Unknown block", "A use block has no nested blocks. Write inputs = { … }.")
	}
	a := attrs["source"]
	if a == nil {
		r.errorf(b.DefRange(), "Missing source", "Write source = \"./DIRECTORY\" or source = \"recipe:NAME\".")
		return
	}
	if ref, ok := r.constantString(a); ok {
		r.loadUse(u, ref, a)
	}
	if a := attrs["version"]; a != nil && u.recipe != nil {
		r.checkUseVersion(u.recipe, a)
	}
}

func attributeExpr(body *hclsyntax.Body, name string) hclsyntax.Expression {
	if a := body.Attributes[name]; a != nil {
		return a.Expr
	}
	return nil
}

// loadUse reads the recipe of a use block.
func (r *Recipe) loadUse(u *use, ref string, a *hclsyntax.Attribute) {
	at := a.Expr.Range()
	u.source = at
	if r.loader == nil {
		r.errorf(at, "Unreadable source", "Recipes cannot be used from here.")
		return
	}
	src, err := r.loader.Open(r.source, ref)
	if err != nil {
		r.errorf(at, "Unreadable source", "The recipe %q cannot be read: %s.", ref, strings.TrimSuffix(err.Error(), "."))
		return
	}
	if chain := r.chain(src.Name()); chain != nil {
		r.errorf(at, "Recipe uses itself", "These recipes use each other: %s. Remove one of the use blocks.", strings.Join(chain, " -> "))
		return
	}
	if len(r.ancestors()) >= maxUseDepth {
		r.errorf(at, "Recipes nested too deep", "Recipes use each other more than %d deep. Use this one from a recipe higher up.", maxUseDepth)
		return
	}
	if *r.used++; *r.used > maxUses {
		r.errorf(at, "Too many recipes", "Recipes use each other more than %d times in all. Use one that is the same everywhere once.", maxUses)
		return
	}
	child := &Recipe{
		source: src, loader: r.loader, vocab: r.vocab, version: r.version, faults: r.faults, budget: r.budget, used: r.used,
		user: u, parent: r, prefix: r.prefix + "use." + u.label + ".",
	}
	u.read = child
	child.collect()
	if !child.broken {
		u.recipe = child
	}
}

// ancestors are the recipe and those that use it, outermost first.
func (r *Recipe) ancestors() []*Recipe {
	if r == nil {
		return nil
	}
	return append(r.parent.ancestors(), r)
}

// chain is how the recipe of that name came to be read, nil when it is not
// being read.
func (r *Recipe) chain(name string) []string {
	var names []string
	for _, a := range r.ancestors() {
		if a.source.Name() == name || len(names) > 0 {
			names = append(names, a.source.Name())
		}
	}
	if len(names) > 0 {
		names = append(names, name)
	}
	return names
}

func (r *Recipe) checkUseVersion(used *Recipe, a *hclsyntax.Attribute) {
	c, text, ok := r.constraint(a)
	if !ok || used.header.Version == "" {
		return
	}
	if v, err := parseVersion(used.header.Version); err == nil && !c.allows(v) {
		r.errorf(a.Expr.Range(), "Other recipe version", "The recipe %s has version %s, and %s is wanted. Change the constraint or the source.", used.header.Name, used.header.Version, text)
	}
}

// checkUse holds a use block to its places, and the recipe it uses to what its
// inputs depend on.
func (r *Recipe) checkUse(u *use) {
	if u.when != nil {
		s := r.nameSite("when", u.order)
		u.whenLevel, _ = s.check(u.when)
	}
	levels := r.checkUseInputs(u)
	if u.recipe == nil {
		return
	}
	for _, v := range u.recipe.variables {
		v.level = max(placeIdentity, levels[v.Name], levels["*"])
	}
	u.recipe.check()
}

// checkUseInputs returns what each input depends on; "*" stands for all of
// them when they are not written one by one.
func (r *Recipe) checkUseInputs(u *use) map[string]place {
	levels := map[string]place{}
	if u.inputs == nil {
		return levels
	}
	s := site{recipe: r, name: "inputs", place: placeValue, scope: r.scope, order: u.order}
	object, ok := u.inputs.(*hclsyntax.ObjectConsExpr)
	if !ok {
		levels["*"], _ = s.check(u.inputs)
		return levels
	}
	for _, it := range object.Items {
		level, _ := s.check(it.ValueExpr)
		name := hcl.ExprAsKeyword(it.KeyExpr)
		if name == "" {
			if v, diags := it.KeyExpr.Value(nil); !diags.HasErrors() && isText(v) {
				name = v.AsString()
			}
		}
		if name == "" {
			s.check(it.KeyExpr)
			name = "*"
			level = placeValue
		}
		levels[name] = max(levels[name], level)
		r.checkUseInput(u, name, it.KeyExpr.Range())
	}
	return levels
}

func (r *Recipe) checkUseInput(u *use, name string, at hcl.Range) {
	if u.recipe == nil || name == "*" || u.recipe.variable(name) != nil {
		return
	}
	r.errorf(at, "Unknown input", "The recipe %s has no variable %q.%s", u.recipe.header.Name, name, didYouMean(name, u.recipe.variableNames()))
}

func (r *Recipe) nameSite(name string, order int) site {
	return site{recipe: r, name: name, place: placeName, scope: r.scope, order: order}
}
