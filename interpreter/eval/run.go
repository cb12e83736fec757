package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/syntax"
)

// Environment is what a recipe is evaluated for.
type Environment struct {
	Facts host.Facts
	// Prefix is the install prefix asked for, "" for the default of the host.
	Prefix string
	// Ownership is what ownership() returns; nil while nothing of it is known.
	Ownership *Ownership
	Lookups   Lookups
	// Keyed hashes a digest of sensitive bytes with the installation's key;
	// nil when there is none.
	Keyed func(digest string) string
	// ActiveSlot is which of its slots the machine block at an address is
	// evaluated for, "" for the first; nil is the same.
	ActiveSlot func(address string, slots []string) string
	// SkipSupports makes a host that the recipe does not support a warning.
	SkipSupports bool
	// DeferSensitive defers steps with sensitive arguments, where no key may
	// be written.
	DeferSensitive bool
}

// Ownership is who owns what the recipe makes. Offline InstallationID is "":
// the first live run mints it, and until then it is unknown.
type Ownership struct{ InstallationID, Recipe, Fingerprint, Prefix string }

// mode says what an evaluation is for.
type mode int

const (
	asProgram    mode = iota
	asValidation      // facts, look-ups and missing inputs are unknown
	asIdentity        // only the fingerprint is wanted
)

// run is one evaluation.
type run struct {
	root *Recipe
	env  Environment
	mode mode
	*faults
	facts     cty.Value
	functions map[string]function.Function
	// pending are the questions of the expression being evaluated, asked
	// those of the run.
	pending []lookup
	asked   []question
	placed  []block.Placed
	whens   []When
	budget  *syntax.Budget
	owned   ownedThings
	// needed are sensitive variables without a value that steps are made from.
	needed map[string]bool
}

// question is a look-up and where it was asked.
type question struct {
	lookup
	rng hcl.Range
}

func newRun(r *Recipe, env Environment, m mode) *run {
	run := &run{root: r, env: env, mode: m, faults: &faults{}, owned: ownedThings{}, needed: map[string]bool{}, budget: syntax.NewBudget()}
	run.env.Prefix = r.Prefix(env.Facts, env.Prefix)
	run.facts = factsValue(env.Facts, run.env.Prefix)
	if m != asProgram {
		run.facts, run.env.Lookups = unknownFacts(), Lookups{}
	}
	run.functions = lookupFunctions(run.env.Lookups, func(q lookup) { run.pending = append(run.pending, q) })
	run.functions["ownership"] = ownershipFunc(run.ownership)
	return run
}

var ownershipType = cty.Object(map[string]cty.Type{
	"installation_id": cty.String, "recipe": cty.String, "fingerprint": cty.String, "prefix": cty.String,
})

func ownershipFunc(answer func() cty.Value) function.Function {
	return function.New(&function.Spec{
		Description: "Returns who owns what the recipe makes: an object with installation_id, recipe, fingerprint and prefix.",
		Type:        function.StaticReturnType(ownershipType),
		Impl:        func([]cty.Value, cty.Type) (cty.Value, error) { return answer(), nil },
	})
}

func (run *run) ownership() cty.Value {
	o := run.env.Ownership
	if o == nil {
		return cty.ObjectVal(map[string]cty.Value{
			"installation_id": unknownText(), "recipe": cty.StringVal(run.root.header.Name), "fingerprint": unknownText(),
			"prefix": run.facts.GetAttr("prefix"),
		})
	}
	id := unknownText()
	if o.InstallationID != "" {
		id = cty.StringVal(o.InstallationID)
	}
	return cty.ObjectVal(map[string]cty.Value{
		"installation_id": id, "recipe": cty.StringVal(o.Recipe),
		"fingerprint": cty.StringVal(o.Fingerprint), "prefix": cty.StringVal(o.Prefix).Mark(ofHost{}),
	})
}

func unknownText() cty.Value { return cty.UnknownVal(cty.String).RefineNotNull() }

// eval evaluates an expression, and notes what it asks the host.
func (b bench) eval(expr hclsyntax.Expression) (cty.Value, bool) {
	if b.frame.recipe.faulty[expr] {
		return cty.DynamicVal, false
	}
	run := b.frame.run
	ctx := b.context(expr)
	run.pending = nil
	v, diags := evaluate(expr, ctx)
	for _, q := range run.pending {
		run.asked = append(run.asked, question{q, callRange(expr, q.function)})
	}
	run.pending = nil
	if d := run.budget.Spend(v, expr.Range()); d != nil {
		v, diags = cty.DynamicVal, append(diags, d)
	}
	run.add(diags...)
	return v, !diags.HasErrors()
}

// callRange is the range of the only call of a function in an expression, else
// of the whole expression.
func callRange(expr hclsyntax.Expression, name string) hcl.Range {
	var calls []hcl.Range
	eachCall(expr, func(c *hclsyntax.FunctionCallExpr) {
		if c.Name == name {
			calls = append(calls, c.Range())
		}
	})
	if len(calls) == 1 {
		return calls[0]
	}
	return expr.Range()
}

// whether evaluates a condition; known is false where only a running host or a
// missing input can tell, or after a fault.
func (b bench) whether(name string, expr hclsyntax.Expression) (on, known bool) {
	v, ok := b.eval(expr)
	if !ok {
		return false, false
	}
	raw, s := reveal(v)
	f := b.frame.run
	switch {
	case s.sensitive:
		f.errorf(expr.Range(), "Sensitive value here", "%s decides what is owned, so of a sensitive value it may only ask whether it is null: x == null, x != null.", name)
		return false, false
	case !raw.IsKnown():
		return false, false
	case raw.IsNull() || raw.Type() != cty.Bool:
		f.errorf(expr.Range(), "Invalid condition", "%s is true or false. Compare the value with something.", name)
		return false, false
	}
	return raw.True(), true
}
