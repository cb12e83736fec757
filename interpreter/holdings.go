package interpreter

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/record"
)

// Holdings is what an installation owns, and by which steps.
type Holdings struct {
	Outcome
	Claims []record.Claim
	// Steps are those of what was applied, or of the target of a first
	// installation.
	Steps []block.Placed
	// Debts are restarts that are owed.
	Debts []block.Debt
	// ranges are where steps are written, by address.
	ranges map[string]hcl.Range
}

// Written says where a step is written, in the recipe as it was given; false
// when that is not known.
func (h Holdings) Written(address string) (hcl.Range, bool) {
	r, ok := h.ranges[address]
	if block, instance := withoutKey(address); !ok && instance {
		r, ok = h.ranges[block+anyKey]
	}
	return r, ok
}

// anyKey stands for the key of any instance of a block.
const anyKey = "[*]"

// withoutKey is an address without what stands in brackets at its end.
func withoutKey(address string) (block string, ok bool) {
	at := strings.LastIndex(address, "[")
	if at < 0 || !strings.HasSuffix(address, "]") {
		return address, false
	}
	return address[:at], true
}

// Holdings reads what the installation owns. The error is record.ErrAbsent when
// there is none.
func (in *Interpreter) Holdings(ctx context.Context) (h Holdings, err error) {
	h.Outcome, err = in.shadowed(ctx, Request{}, func(ctx context.Context, r *run) error {
		if err := r.readClaims(); err != nil {
			return err
		}
		h.Claims = r.rec.Claims
		name := r.rec.Applied
		if name == "" {
			name = r.rec.Target
		}
		t, err := r.storedTarget(ctx, name)
		if err != nil {
			return err
		}
		h.Steps, h.ranges = t.steps, r.placed(ctx, name)
		h.Debts, err = r.store.Debts(ctx)
		return err
	})
	return h, err
}

// placed says where the steps of a stored state are written, as far as its
// recipe can be read.
func (r *run) placed(ctx context.Context, name string) map[string]hcl.Range {
	all := map[string]hcl.Range{}
	st, err := r.store.LoadState(ctx, name)
	if err != nil {
		return all
	}
	src := &stored{r.store, st, st.Main}
	recipe, diags := eval.Load(src, r.Vocabulary, src, "")
	plain, err := json.Marshal(st.Inputs)
	if diags.HasErrors() || err != nil {
		return all
	}
	inputs, _ := recipe.Inputs([]eval.Given{{Strength: eval.FromFile, Filename: "stored inputs.json", Text: plain}})
	inspection, _ := recipe.Inspect(inputs)
	for _, s := range inspection.Steps {
		all[s.Address] = s.Header
		if s.Common("for_each") != nil {
			block, _ := withoutKey(s.Address)
			all[block+anyKey] = s.Header
		}
	}
	return all
}
