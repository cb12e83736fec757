package eval

import (
	"encoding/json"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
)

// Program is an evaluated recipe.
type Program struct {
	Header Header
	// Steps are in the order in which they run: phases and nested steps
	// follow each other as they do in the run.
	Steps   []block.Placed
	Stages  []Stage
	Outputs []Output
	// Fingerprint is "" when it could not be told.
	Fingerprint string
	Prefix      string
	// Support is the kind of host that matched, nil when none did.
	Support *Support
	// Inputs are the values given for variables that are not sensitive.
	Inputs map[string]json.RawMessage
}

// Stage is a stage of the recipe.
type Stage struct{ Label, Description string }

// Stages are the stages of the recipe, in the order written.
func (r *Recipe) Stages() []Stage {
	list := make([]*stage, 0, len(r.stages))
	for _, st := range r.stages {
		list = append(list, st)
	}
	slices.SortFunc(list, func(a, b *stage) int { return a.rng.Start.Byte - b.rng.Start.Byte })
	out := make([]Stage, len(list))
	for i, st := range list {
		out[i] = Stage{st.label, st.description}
	}
	return out
}

// Validate reports everything that can be known without a host: it evaluates
// with facts, look-ups and missing inputs unknown. After faults of Load it
// reports those that are left, and none twice.
func (r *Recipe) Validate(in Inputs) hcl.Diagnostics {
	if r.broken {
		return nil
	}
	run := newRun(r, Environment{}, asValidation)
	f := run.frame(r, in)
	f.evaluate(position{})
	for _, l := range r.localsInOrder() {
		f.local(l.name)
	}
	f.outputs()
	f.fingerprint("")
	run.checkLookups()
	run.checkWatched()
	return run.sorted()
}

// Needed are the sensitive variables without a value that a step is made from
// which is on, as far as that can be told without a host.
func (r *Recipe) Needed(in Inputs) []string {
	if r.broken {
		return nil
	}
	run := newRun(r, Environment{}, asValidation)
	run.frame(r, in).evaluate(position{})
	return sortedKeys(run.needed)
}

// Evaluate evaluates the recipe for one host. The program is never nil; with
// errors it holds what could be made.
func (r *Recipe) Evaluate(in Inputs, env Environment) (*Program, hcl.Diagnostics) {
	run := newRun(r, env, asProgram)
	p := &Program{Header: r.Header(), Stages: r.Stages(), Prefix: run.env.Prefix, Support: r.Support(env.Facts), Inputs: r.Plain(in)}
	if r.broken {
		return p, nil
	}
	r.eachRecipe(func(r *Recipe) { run.add(r.checkSupport(env.Facts, env.SkipSupports)) })
	run.add(r.Missing(in)...)
	if run.failed() {
		return p, run.sorted()
	}
	sum, diags := r.Fingerprint(in, run.env.Prefix)
	p.Fingerprint = sum
	run.add(diags...)
	f := run.frame(r, in)
	f.evaluate(position{})
	p.Outputs = f.outputs()
	run.checkLookups()
	run.checkWatched()
	p.Steps = run.placed
	return p, run.sorted()
}

func sortedKeys[V any](m map[string]V) []string {
	names := keys(m)
	slices.Sort(names)
	return names
}
