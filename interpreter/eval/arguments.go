package eval

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/block"
	"hostler/interpreter/syntax"
)

// arguments are the arguments of a block as written, matched with its schema.
type arguments struct {
	schema *block.Schema
	rng    hcl.Range // of the block's header
	attrs  map[string]*hclsyntax.Attribute
	blocks []nestedBlock
}

type nestedBlock struct {
	kind *block.Nested
	b    *hclsyntax.Block
	args *arguments
}

// readArguments matches a block with its schema. more are the names of
// arguments that stand there too.
func (r *Recipe) readArguments(schema *block.Schema, b *hclsyntax.Block, attrs []block.Attr, more []string) *arguments {
	args := &arguments{schema: schema, rng: b.DefRange(), attrs: map[string]*hclsyntax.Attribute{}}
	for _, a := range syntax.Attributes(b.Body) {
		switch i := slices.IndexFunc(attrs, func(at block.Attr) bool { return at.Name == a.Name }); {
		case i >= 0:
			args.attrs[a.Name] = a
			r.checkDeprecated(attrs[i], a)
		case !slices.Contains(more, a.Name):
			r.unknownArgument(schema, b, a, more)
		}
	}
	for _, at := range attrs {
		if a := args.attrs[at.Name]; at.Required && (a == nil || isNull(a.Expr)) {
			rng := b.DefRange()
			if a != nil {
				rng = a.Expr.Range()
			}
			r.errorf(rng, "Missing required argument", "Write %s = … .%s", at.Name, sentence(at.Doc))
		}
	}
	r.readNested(args, schema, b, more)
	return args
}

func (r *Recipe) checkDeprecated(at block.Attr, a *hclsyntax.Attribute) {
	if at.Deprecated != "" {
		r.warnf(a.NameRange, "Deprecated argument", "%s", capital(at.Deprecated))
	}
}

func sentence(doc string) string {
	if doc == "" {
		return ""
	}
	return " " + capital(doc)
}

func (r *Recipe) unknownArgument(schema *block.Schema, b *hclsyntax.Block, a *hclsyntax.Attribute, more []string) {
	if n := nestedKind(schema, a.Name); n != nil {
		r.errorf(a.NameRange, "Argument is a block", "%q is a nested block. Write %s { … } without the equals sign.", a.Name, a.Name)
		return
	}
	if text := foreignArgument(a.Name); text != "" && len(more) > 0 {
		r.errorf(a.NameRange, "Unknown argument", "%s", text)
		return
	}
	names := slices.Clone(more)
	for _, at := range schema.Attrs {
		names = append(names, at.Name)
	}
	detail := "There is no argument %q in a %s block.%s"
	if len(names) == 0 {
		detail = "There is no argument %q in a %s block; it has none.%s"
	}
	r.errorf(a.NameRange, "Unknown argument", detail, a.Name, b.Type, didYouMean(a.Name, names))
}

// foreignArgument says what to write instead of arguments of other tools.
func foreignArgument(name string) string {
	switch name {
	case "depends_on":
		return "Steps run in the order written, so nothing depends on anything else. Move the step to its place and remove depends_on."
	case "count":
		return "Write when = … to switch a step off, or for_each = … for several."
	case "lifecycle", "provisioner", "provider":
		return "This argument has no meaning in a recipe. Remove it."
	}
	return ""
}

func nestedKind(schema *block.Schema, name string) *block.Nested {
	for i := range schema.Blocks {
		if schema.Blocks[i].Name == name {
			return &schema.Blocks[i]
		}
	}
	return nil
}

func (r *Recipe) readNested(args *arguments, schema *block.Schema, b *hclsyntax.Block, more []string) {
	count := map[string]int{}
	for _, inner := range b.Body.Blocks {
		kind := nestedKind(schema, inner.Type)
		if kind == nil {
			if len(more) == 0 || inner.Type != "retry" {
				r.unknownNested(schema, b, inner)
			}
			continue
		}
		count[kind.Name]++
		if kind.Max > 0 && count[kind.Name] == kind.Max+1 {
			r.errorf(inner.DefRange(), "Too many blocks", "A %s block has at most %d %s. Remove this one.", b.Type, kind.Max, plural(kind.Name, kind.Max))
		}
		if kind.Steps || !r.checkNestedLabels(kind, inner) {
			continue
		}
		args.blocks = append(args.blocks, nestedBlock{kind, inner, r.readArguments(&kind.Schema, inner, kind.Schema.Attrs, nil)})
	}
	for _, kind := range schema.Blocks {
		if count[kind.Name] < kind.Min {
			r.errorf(b.DefRange(), "Missing block", "A %s block has at least %d %s. Write %s { … }.%s", b.Type, kind.Min, plural(kind.Name, kind.Min), kind.Name, sentence(kind.Doc))
		}
	}
}

func plural(name string, n int) string {
	if n == 1 {
		return name + " block"
	}
	return name + " blocks"
}

func (r *Recipe) unknownNested(schema *block.Schema, outer, b *hclsyntax.Block) {
	for _, at := range schema.Attrs {
		if at.Name == b.Type {
			r.errorf(b.TypeRange, "Block is an argument", "%q is an argument. Write %s = { … } with an equals sign.", b.Type, b.Type)
			return
		}
	}
	if r.vocab.Type(b.Type) != nil {
		r.errorf(b.TypeRange, "Misplaced step", "A step cannot stand directly in a %s block. %s", outer.Type, stepsHint(schema))
		return
	}
	names := []string{}
	for _, n := range schema.Blocks {
		names = append(names, n.Name)
	}
	r.errorf(b.TypeRange, "Unknown block", "There is no nested block %q in a %s block.%s", b.Type, outer.Type, didYouMean(b.Type, names))
}

func stepsHint(schema *block.Schema) string {
	var names []string
	for _, n := range schema.Blocks {
		if n.Steps {
			names = append(names, n.Name)
		}
	}
	if len(names) == 0 {
		return "Move it out."
	}
	return "Write it into " + oneOf(names) + "."
}

func countLabels(n int) string {
	switch n {
	case 0:
		return "no label"
	case 1:
		return "one label"
	}
	return fmt.Sprintf("%d labels", n)
}

func (r *Recipe) checkNestedLabels(kind *block.Nested, b *hclsyntax.Block) bool {
	for i, label := range b.Labels {
		if i >= len(kind.Labels) {
			r.errorf(b.LabelRanges[i], "Unexpected label", "A %s block has %s. Remove this one.", kind.Name, countLabels(len(kind.Labels)))
			return false
		}
		if err := checkLabel(label); err != nil {
			r.errorf(b.LabelRanges[i], "Invalid label", "%s", err)
			return false
		}
	}
	if len(b.Labels) < len(kind.Labels) {
		r.errorf(b.TypeRange, "Missing label", "A %s block has a label, its %s: write %s \"…\" { … }.", kind.Name, kind.Labels[len(b.Labels)], kind.Name)
		return false
	}
	return true
}

// eachAttr visits the attributes that are written, those of nested blocks too.
func (a *arguments) eachAttr(visit func(at *block.Attr, written *hclsyntax.Attribute, perSlot bool)) {
	a.visitAttrs(false, visit)
}

func (a *arguments) visitAttrs(perSlot bool, visit func(*block.Attr, *hclsyntax.Attribute, bool)) {
	for i := range a.schema.Attrs {
		at := &a.schema.Attrs[i]
		if written := a.attrs[at.Name]; written != nil {
			visit(at, written, perSlot)
		}
	}
	for _, n := range a.blocks {
		n.args.visitAttrs(perSlot || n.kind.PerSlot, visit)
	}
}

// ownedExprs are the expressions that owned names come from; ok is false when
// the schema has no such attribute at all.
func (a *arguments) ownedExprs() (exprs []hclsyntax.Expression, ok bool) {
	a.eachAttr(func(at *block.Attr, written *hclsyntax.Attribute, _ bool) {
		if at.Owned {
			exprs = append(exprs, written.Expr)
		}
	})
	return exprs, len(a.ownedNames()) > 0
}

// ownedNames are the attributes of the schema that owned names come from.
func (a *arguments) ownedNames() []string { return ownedNames(a.schema) }

func ownedNames(s *block.Schema) []string {
	var names []string
	for _, at := range s.Attrs {
		if at.Owned {
			names = append(names, at.Name)
		}
	}
	for i := range s.Blocks {
		for _, name := range ownedNames(&s.Blocks[i].Schema) {
			names = append(names, s.Blocks[i].Name+"."+name)
		}
	}
	return names
}
