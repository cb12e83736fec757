package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter/block"
	"hostler/interpreter/syntax"
)

// Recipe is a recipe that was read and checked. It is not changed after Load
// and may be used by several goroutines.
type Recipe struct {
	source Source
	loader Loader
	vocab  block.Vocabulary
	// version is that of the interpreter, "" when it is not to be checked.
	version   string
	file      *syntax.File
	functions map[string]function.Function // the pure ones
	header    header
	variables []*variable
	locals    map[string]*local
	outputs   []*output
	items     []item
	uses      map[string]*use
	scope     *scope
	stages    map[string]*stage
	// user is the use block that this recipe is loaded for, nil for the
	// recipe of the run; prefix its address with a dot, "use.base.".
	user   *use
	prefix string
	parent *Recipe
	*faults
	// faulty are the expressions that check found faults in. They are not
	// evaluated, so that no fault is reported twice.
	faulty map[hclsyntax.Expression]bool
	// budget is what constants may make.
	budget *syntax.Budget
	// used counts the use blocks that were read, those of all recipes.
	used *int
	// broken is true when the text could not be understood at all.
	broken bool
}

// item is what stands in the order of a recipe: *step, *stage or *use.
type item interface{ isItem() }

func (*step) isItem()  {}
func (*stage) isItem() {}
func (*use) isItem()   {}

// Load reads a recipe and the recipes it uses and checks what the text alone
// can tell. version is that of the interpreter, which the recipe may
// constrain; "" leaves that out. The recipe is never nil, so that its files
// are there for diagnostics.
func Load(src Source, vocab block.Vocabulary, loader Loader, version string) (*Recipe, hcl.Diagnostics) {
	r := &Recipe{source: src, loader: loader, vocab: vocab, version: version, faults: &faults{}, budget: syntax.NewBudget(), used: new(int)}
	r.collect()
	if !r.broken {
		r.check()
	}
	return r, r.sorted()
}

// collect parses the recipe and declares everything in it, those it uses too.
func (r *Recipe) collect() {
	r.faulty = map[hclsyntax.Expression]bool{}
	r.locals, r.uses, r.stages = map[string]*local{}, map[string]*use{}, map[string]*stage{}
	r.scope = newScope(nil, nil)
	name, src, err := r.source.Main()
	if err != nil {
		r.broken = true
		r.file = &syntax.File{Name: r.source.Name()}
		r.unreadable(err)
		return
	}
	var diags hcl.Diagnostics
	r.file, diags = syntax.Parse(name, src)
	r.add(diags...)
	if diags.HasErrors() {
		r.broken = true
		r.shellSyntax()
		return
	}
	r.add(syntax.DuplicateKeys(r.file)...)
	r.functions = r.pureFunctions()
	if !r.readHeader() {
		r.broken = true
		return
	}
	r.readBody()
	r.number()
}

// unreadable reports a recipe whose text cannot be had, where it is named.
func (r *Recipe) unreadable(err error) {
	d := &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Unreadable recipe",
		Detail: fmt.Sprintf("The recipe %s cannot be read: %s.", r.source.Name(), err),
	}
	if errors.Is(err, fs.ErrNotExist) {
		d.Summary = "Recipe not found"
		d.Detail = fmt.Sprintf("There is no %s. A recipe is a directory with %s, or one .hcl file.", r.source.Name(), MainFile)
	}
	if r.user != nil {
		d.Subject = &r.user.source
	}
	r.add(d)
}

// shellSyntax reports variables of a shell in a text with other faults of
// syntax, which come from the same mistake.
func (r *Recipe) shellSyntax() {
	hclsyntax.VisitAll(r.file.Body, func(n hclsyntax.Node) hcl.Diagnostics {
		t, ok := n.(*hclsyntax.ScopeTraversalExpr)
		if !ok || slices.Contains(roots[:], t.Traversal.RootName()) || r.vocab.Type(t.Traversal.RootName()) != nil {
			return nil
		}
		s := site{recipe: r}
		if syntax.TemplateHint(r.file, t.Traversal[0].SourceRange(), t.Traversal.RootName()) != "" {
			s.unknownRoot(t.Traversal)
		}
		return nil
	})
}

// pureFunctions are the vocabulary's functions, and those of the language
// itself that need no host.
func (r *Recipe) pureFunctions() map[string]function.Function {
	all := map[string]function.Function{}
	if r.vocab.Functions != nil {
		for name, f := range r.vocab.Functions(r.source) {
			all[name] = f
		}
	}
	all["artifact_identity"] = artifactIdentityFunc
	return all
}

// Files are the texts that diagnostics about the recipe refer to, by the
// filename of their ranges.
func (r *Recipe) Files() map[string]*hcl.File {
	files := map[string]*hcl.File{}
	r.eachRecipe(func(r *Recipe) {
		if r.file != nil && r.file.Bytes != nil {
			files[r.file.Name] = &hcl.File{Bytes: r.file.Bytes, Body: r.file.Body}
		}
	})
	return files
}

// eachRecipe visits the recipe and those it uses.
func (r *Recipe) eachRecipe(visit func(*Recipe)) {
	visit(r)
	for _, it := range r.items {
		if u, ok := it.(*use); ok && u.read != nil {
			u.read.eachRecipe(visit)
		}
	}
}

// Sources are the recipe and the recipes it uses, in order, for whoever stores
// a copy of them.
func (r *Recipe) Sources() []Source {
	var all []Source
	seen := map[string]bool{}
	r.eachRecipe(func(r *Recipe) {
		if !seen[r.source.Name()] {
			seen[r.source.Name()] = true
			all = append(all, r.source)
		}
	})
	return all
}
