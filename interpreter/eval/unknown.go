package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/syntax"
)

// roots are the names that references start with, beside the types of steps.
var roots = [...]string{"var", "local", "host", "each", "self", "use"}

// unknownRoot reports a name that starts no reference.
func (s site) unknownRoot(t hcl.Traversal) {
	root := t.RootName()
	detail := "There is no name %q."
	if text := foreignRoot(root); text != "" {
		s.recipe.errorf(t.SourceRange(), "Unknown name", detail+" %s", root, text)
		return
	}
	names := append(slices.Clone(roots[:]), s.recipe.typeNames()...)
	hint := didYouMean(root, names)
	if h := syntax.TemplateHint(s.recipe.file, t[0].SourceRange(), root); h != "" {
		s.recipe.errorf(sequence(s.recipe.file, t.SourceRange()), "Unknown name", detail+" %s", root, h)
		return
	}
	if hint == "" {
		hint = s.declaredAs(t)
	}
	s.recipe.errorf(t.SourceRange(), "Unknown name", detail+"%s", root, hint)
}

// declaredAs helps with a name written without its root.
func (s site) declaredAs(t hcl.Traversal) string {
	root := t.RootName()
	switch {
	case s.recipe.variable(root) != nil:
		return " Did you mean \"var." + root + "\"?"
	case s.recipe.locals[root] != nil:
		return " Did you mean \"local." + root + "\"?"
	case len(t) == 1:
		return " Text stands in double quotes: write \"" + root + "\"."
	}
	return " A reference starts with var, local, host, each, self, use or the type of a step."
}

func foreignRoot(root string) string {
	switch root {
	case "path":
		return "Files of the recipe are named relative to it: write file(\"files/NAME\")."
	case "count":
		return "Use for_each, and each.key."
	case "data", "resource":
		return "Facts of the host are read as host.os.id, and steps as TYPE.LABEL."
	case "module":
		return "Outputs of a used recipe are read as use.LABEL.OUTPUT."
	}
	return ""
}

// sequence widens the range of a name in a template to the ${…} around it,
// where that is all it holds.
func sequence(file *syntax.File, rng hcl.Range) hcl.Range {
	from, to := rng.Start.Byte-2, rng.End.Byte
	if from < 0 || to >= len(file.Bytes) || string(file.Bytes[from:from+2]) != "${" || file.Bytes[to] != '}' {
		return rng
	}
	rng.Start.Byte, rng.Start.Column = rng.Start.Byte-2, rng.Start.Column-2
	rng.End.Byte, rng.End.Column = rng.End.Byte+1, rng.End.Column+1
	return rng
}

// checkMembers holds what is read from a value to the attributes that its type
// has.
func (s site) checkMembers(rest hcl.Traversal, ty cty.Type) {
	for _, tr := range rest {
		member, ok := name(tr)
		if !ok || !ty.IsObjectType() {
			return
		}
		if !ty.HasAttribute(member) {
			names := keys(ty.AttributeTypes())
			slices.Sort(names)
			s.recipe.errorf(tr.SourceRange(), "Unknown attribute", "There is no attribute %q; there are %s.%s", member, oneOf(names), didYouMean(member, names))
			return
		}
		ty = ty.AttributeType(member)
	}
}

// checkFact holds a reference to a fact to those that there are.
func (s site) checkFact(t hcl.Traversal) { s.checkMembers(t[1:], factsType) }

// isText says whether a value is a known string without marks.
func isText(v cty.Value) bool {
	return !v.IsMarked() && v.IsKnown() && !v.IsNull() && v.Type() == cty.String
}
