package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/syntax"
)

// topLevel are the blocks of a recipe that are no steps.
var topLevel = [...]string{"recipe", "variable", "locals", "output", "use", "stage"}

// reserved says what to write instead of blocks that are not in the language.
func reserved(name string) string {
	switch name {
	case "parallel":
		return "\"parallel\" is a reserved word: steps run one after the other, in the order written. Write them without it; images and downloads of later steps are fetched ahead anyway."
	case "resource", "data":
		return "Write the step itself as the block, type first: write_file_if_changed \"NAME\" { … }. Facts of the host are read as host.os.id."
	case "module", "include", "import":
		return "Another recipe is run by use \"LABEL\" { source = \"./other\" }."
	case "local":
		return "Local values stand in a block locals { NAME = … }."
	case "dynamic":
		return "Write for_each in the step, or give the attribute a list."
	case "provider", "terraform", "required_providers", "function", "moved", "removed", "check", "test", "laws", "host":
		return "This block has no meaning in a recipe. Remove it."
	}
	return ""
}

// readBody declares everything that the recipe is made of, in order.
func (r *Recipe) readBody() {
	for _, a := range syntax.Attributes(r.file.Body) {
		r.errorf(a.NameRange, "Argument outside a block", "A recipe is made of blocks. Write the value into locals { %s = … }, or into the block it belongs to.", a.Name)
	}
	for _, b := range r.file.Body.Blocks {
		switch b.Type {
		case "recipe":
		case "variable":
			r.readVariable(b)
		case "locals":
			r.readLocals(b)
		case "output":
			r.readOutput(b)
		case "use":
			r.readUse(b)
		case "stage":
			if st := r.readStage(b, nil); st != nil {
				r.items = append(r.items, st)
			}
		default:
			if s := r.readStep(b, stepPlace{scope: r.scope}); s != nil {
				r.items = append(r.items, s)
			}
		}
	}
}

// unknownBlock reports a block where steps stand that is no step.
func (r *Recipe) unknownBlock(b *hclsyntax.Block, nested bool) {
	if text := reserved(b.Type); text != "" {
		r.errorf(b.TypeRange, "Reserved word", "%s", text)
		return
	}
	names := r.typeNames()
	if !nested {
		names = append(names, topLevel[:]...)
	} else {
		names = append(names, "stage")
		if slices.Contains(topLevel[:], b.Type) {
			r.errorf(b.TypeRange, "Misplaced block", "A %s block stands at the top level of a recipe. Move it there.", b.Type)
			return
		}
	}
	r.errorf(b.TypeRange, "Unknown block type", "There is no block type %q.%s The types are listed by \"hostler explain\".", b.Type, didYouMean(b.Type, names))
}

func (r *Recipe) typeNames() []string {
	names := make([]string, len(r.vocab.Types))
	for i, t := range r.vocab.Types {
		names[i] = t.Name
	}
	return names
}
