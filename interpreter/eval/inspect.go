package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/syntax"
)

// Inspection is a recipe as tools look at it: every step as written, with what
// its arguments evaluate to without a host. It is used by one goroutine.
type Inspection struct {
	// Steps are in the order in which they run, a machine before what is
	// nested in it; each instance of for_each by itself, up to maxInspected.
	// Steps that are off, and those of used recipes, are among them.
	Steps  []*Inspected
	recipe *Recipe
	frame  *frame
	of     map[*step][]*Inspected
	blocks map[hcl.Pos]*hclsyntax.Block
}

// maxInspected is how many instances of one block are looked at.
const maxInspected = 32

// Inspected is one step, or one instance of it.
type Inspected struct {
	*Arguments
	Type           *block.Type
	Label, Address string
	// Owner is the step it is nested in, nil if none, and Part the phase.
	Owner *Inspected
	Part  string
	// Inside says that it runs inside the machine Machine, whose name is the
	// label where it is not known.
	Inside  bool
	Machine string
	// Stage is the label of the stage it stands in.
	Stage string
	// Off says that when is false, or that there are no instances.
	Off bool
	// Used says that it belongs to a used recipe; its Block is nil.
	Used bool
	// Order is the place in Steps.
	Order int
	in    *Inspection
}

// Arguments are the arguments of a step or of a block nested in it.
type Arguments struct {
	// Block is the block as written.
	Block *hclsyntax.Block
	// Header is the range of the block's header.
	Header hcl.Range
	args   *arguments
	bench  bench
	self   cty.Value // what self is in blocks that are written once per slot
	known  map[string]Arg
	// written and nested are those of Args and Nested, once asked for.
	written []Arg
	nested  []*Arguments
	nestOf  map[string][]*Arguments
}

// Inspect does what Validate does and returns the steps too. Without a recipe
// that could be understood there are none.
func (r *Recipe) Inspect(in Inputs) (*Inspection, hcl.Diagnostics) {
	i := &Inspection{recipe: r, of: map[*step][]*Inspected{}, blocks: map[hcl.Pos]*hclsyntax.Block{}}
	if r.broken {
		return i, nil
	}
	run := newRun(r, Environment{}, asValidation)
	i.frame = run.frame(r, in)
	i.frame.evaluate(position{})
	for _, l := range r.localsInOrder() {
		i.frame.local(l.name)
	}
	i.frame.outputs()
	i.frame.fingerprint("")
	run.checkLookups()
	run.checkWatched()
	diags := run.sorted()
	i.index(r.file.Body)
	i.collect(i.frame, false)
	return i, diags
}

// Broken says that the text could not be understood, so that there is nothing to
// look at.
func (i *Inspection) Broken() bool { return i.frame == nil }

// File is the text that was parsed.
func (r *Recipe) File() *syntax.File { return r.file }

// index finds the blocks of the recipe by where they begin.
func (i *Inspection) index(body *hclsyntax.Body) {
	for _, b := range body.Blocks {
		i.blocks[b.DefRange().Start] = b
		i.index(b.Body)
	}
}

// Eval evaluates an expression that stands at the top level of the recipe. The
// value is without marks, and unknown where it is sensitive or faulty.
func (i *Inspection) Eval(expr hclsyntax.Expression) (v cty.Value, sensitive bool) {
	if i.frame == nil {
		return cty.DynamicVal, false
	}
	return i.frame.bench(nil).inspect(expr)
}

// Eval evaluates an expression among the arguments.
func (a *Arguments) Eval(expr hclsyntax.Expression) (v cty.Value, sensitive bool) {
	return a.bench.inspect(expr)
}

func (b bench) inspect(expr hclsyntax.Expression) (cty.Value, bool) {
	v, ok := b.eval(expr)
	if !ok {
		return cty.DynamicVal, false
	}
	raw, s := reveal(v)
	if s.sensitive {
		return cty.DynamicVal, true
	}
	return raw, false
}
