package interpreter

import (
	"context"
	"slices"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/record"
)

// target is what a run drives to.
type target struct {
	steps []block.Placed
	// name is that of the stored state; state and files are set when it has
	// to be stored before the record names it.
	name  string
	state *record.State
	files map[string][]byte
	// recipe and fingerprint are the identity the target belongs to.
	recipe      record.Recipe
	fingerprint string
}

// defers says whether a step waits for a host that runs.
func (t *target) defers() bool {
	return slices.ContainsFunc(t.steps, func(p block.Placed) bool { return p.Deferred != "" })
}

// evaluate evaluates the recipe given for this host.
func (r *run) evaluate(ctx context.Context, req Request, inputs eval.Inputs) (*target, error) {
	if err := r.mint(); err != nil {
		return nil, err
	}
	prefix := r.prefix(req)
	program, diags := req.Recipe.Evaluate(inputs, r.environment(ctx, prefix))
	r.out.Warnings = append(r.out.Warnings, warnings(diags)...)
	if diags.HasErrors() {
		return nil, diags
	}
	st := &record.State{}
	for _, v := range req.Recipe.Variables() {
		if v.Sensitive {
			st.Credentials = append(st.Credentials, v.Name)
		}
	}
	return r.aim(program, st, req.Bundle.store(st))
}

// again evaluates a stored recipe anew, with its stored inputs and the
// sensitive values given now.
func (r *run) again(ctx context.Context, req Request, name string) (*target, error) {
	if err := r.mint(); err != nil {
		return nil, err
	}
	st, program, err := r.evaluateStored(ctx, req, name)
	if err != nil {
		return nil, err
	}
	files, err := r.store.Files(st)
	if err != nil {
		return nil, err
	}
	return r.aim(program, st, files)
}

// aim makes a program a target. st says where its recipe comes from.
func (r *run) aim(program *eval.Program, st *record.State, files map[string][]byte) (*target, error) {
	r.out.Outputs = program.Outputs
	steps, err := r.withDelivered(program.Steps)
	if err != nil {
		return nil, err
	}
	st.Recipe = record.Recipe{Name: program.Header.Name, Version: program.Header.Version}
	st.Fingerprint, st.Prefix, st.Inputs, st.Steps = r.rec.Fingerprint, r.rec.Prefix, program.Inputs, nil
	for _, p := range steps {
		st.Steps = append(st.Steps, block.Store(p))
	}
	name, _, err := record.Name(st, files)
	return &target{
		steps: steps, name: name, state: st, files: files,
		recipe: st.Recipe, fingerprint: st.Fingerprint,
	}, err
}

// mint gives the installation its id, in memory, once it lives.
func (r *run) mint() (err error) {
	if r.rec.ID == "" && r.host.Identity.Live {
		r.rec.ID, err = r.store.MintID()
	}
	return err
}

func (r *run) environment(ctx context.Context, prefix string) eval.Environment {
	env := eval.Environment{
		Facts: r.facts, Prefix: prefix, Keyed: r.keyed(), Lookups: lookups(ctx, r.host.View()),
		ActiveSlot:     r.slot,
		SkipSupports:   r.rec.Phase == record.Complete,
		DeferSensitive: !r.host.Identity.Live,
		Ownership: &eval.Ownership{
			InstallationID: r.rec.ID, Recipe: r.rec.Recipe.Name, Fingerprint: r.rec.Fingerprint, Prefix: prefix,
		},
	}
	return env
}

// storedTarget makes the steps of a stored state again.
func (r *run) storedTarget(ctx context.Context, name string) (*target, error) {
	st, err := r.store.LoadState(ctx, name)
	if err != nil {
		return nil, err
	}
	if r.rec == nil {
		r.storedPrefix = st.Prefix
	}
	t := &target{name: name, recipe: st.Recipe, fingerprint: st.Fingerprint, steps: make([]block.Placed, 0, len(st.Steps))}
	setting := block.Setting{Assets: func(source string) block.Assets { return r.store.Assets(st, source) }, Facts: r.facts, Prefix: r.installPrefix()}
	vocabulary := r.vocabulary()
	for _, s := range st.Steps {
		p, err := vocabulary.Restore(s, setting)
		if err != nil {
			return nil, err
		}
		t.steps = append(t.steps, p)
	}
	return t, nil
}

func (r *run) installPrefix() string {
	if r.rec != nil && r.rec.Prefix != "" {
		return r.rec.Prefix
	}
	return record.InstallPrefix(r.storedPrefix)
}
