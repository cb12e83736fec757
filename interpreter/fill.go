package interpreter

import (
	"bytes"
	"context"
	"encoding/json"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/record"
)

// fill makes steps of a stored state again with the sensitive values given
// now, by evaluating the stored recipe with the stored inputs.
func (r *run) fill(req Request, name string) func(context.Context, *block.Placed) (block.Step, error) {
	var program *eval.Program
	return func(ctx context.Context, p *block.Placed) (block.Step, error) {
		if program == nil {
			var err error
			if _, program, err = r.evaluateStored(ctx, req, name); err != nil {
				return nil, err
			}
		}
		for _, q := range program.Steps {
			if q.Address == p.Address && q.Phase == p.Phase && q.Step != nil && len(q.NeedsInput) == 0 {
				r.filled = append(r.filled, q)
				return q.Step, nil
			}
		}
		return nil, block.ErrNeedsInput
	}
}

// restate makes a stored target know the hashes of sensitive values that were
// written anew, where they are others than before: they were rotated. The files
// of the new state are stored, its name is not recorded.
func (r *run) restate(ctx context.Context, t *target) error {
	if len(r.filled) == 0 || t.state != nil {
		return nil
	}
	st, err := r.store.LoadState(ctx, t.name)
	if err != nil {
		return err
	}
	rotated := false
	for _, p := range r.filled {
		for i := range st.Steps {
			s := &st.Steps[i]
			if s.Address == p.Address && s.Phase == p.Phase && !bytes.Equal(s.Data, p.Data) {
				*s, rotated = block.Store(p), true
			}
		}
	}
	if !rotated {
		return nil
	}
	files, err := r.store.Files(st)
	if err != nil {
		return err
	}
	t.state, t.files = st, files
	t.name, _, err = record.Name(st, files)
	return err
}

// evaluateStored evaluates the recipe of a stored state with its inputs and the
// sensitive values given now.
func (r *run) evaluateStored(ctx context.Context, req Request, name string) (*record.State, *eval.Program, error) {
	recipe, inputs, st, err := r.storedRecipe(ctx, req, name)
	if err != nil {
		return nil, nil, err
	}
	r.selves = map[string]bool{}
	defer func() { r.selves = nil }()
	for _, s := range st.Steps {
		r.selves[s.Self] = true
	}
	program, diags := recipe.Evaluate(inputs, r.environment(ctx, r.installPrefix()))
	if diags.HasErrors() {
		return nil, nil, diags
	}
	return st, program, nil
}

// storedRecipe is the recipe of a stored state, with its inputs and the
// sensitive values given now.
func (r *run) storedRecipe(ctx context.Context, req Request, name string) (*eval.Recipe, eval.Inputs, *record.State, error) {
	var none eval.Inputs
	st, err := r.store.LoadState(ctx, name)
	if err != nil {
		return nil, none, nil, err
	}
	src := &stored{r.store, st, st.Main}
	recipe, diags := eval.Load(src, r.Vocabulary, src, "")
	if diags.HasErrors() {
		return nil, none, nil, diags
	}
	plain, err := json.Marshal(st.Inputs)
	if err != nil {
		return nil, none, nil, err
	}
	var given []eval.Given
	if len(st.Inputs) > 0 {
		given = []eval.Given{{Strength: eval.FromFile, Filename: "stored inputs.json", Text: plain}}
	}
	inputs, diags := recipe.Inputs(given)
	if diags.HasErrors() {
		return nil, none, nil, diags
	}
	secrets, diags := recipe.Secrets(req.Given)
	if diags.HasErrors() {
		return nil, none, nil, diags
	}
	return recipe, inputs.With(secrets), st, nil
}
