package walk

import (
	"context"
	"fmt"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// drift finds out whether a step needs a change because the host was changed
// behind our back, and what its on_drift makes of that. leave means that the
// host stays as it is.
func (w *walker) drift(ctx context.Context, p *block.Placed, in block.Look) (leave bool, err error) {
	found, err := w.drifted(ctx, p, in)
	if err != nil || len(found) == 0 {
		return false, err
	}
	w.found = found
	w.result.Drift = append(w.result.Drift, found...)
	rewritten := w.rewritten(p)
	switch {
	case p.OnDrift == block.DriftHold && !w.Survey:
		return false, &HeldError{keys(found)}
	case p.OnDrift == block.DriftHold, p.OnDrift == block.DriftReport && !rewritten:
		w.warnOf(p, found, "Changed behind our back", "%s is left as it is (%s)")
		return true, nil
	case rewritten:
		w.warnOf(p, found, "Edited content lost", "%s had been changed on the host (%s) and the recipe changed it too: the recipe's value is written")
	}
	return false, nil
}

func (w *walker) warnOf(p *block.Placed, found []Drift, summary, detail string) {
	for _, d := range found {
		w.warn(p, block.Warning{Summary: summary, Detail: fmt.Sprintf(detail, d.Thing, describe(d.Found))})
	}
}

// drifted lists the step's things that equal neither what was applied nor a
// target, the one at hand or the one before it.
func (w *walker) drifted(ctx context.Context, p *block.Placed, in block.Look) (found []Drift, err error) {
	for _, want := range w.wants(p) {
		before, ok := w.applied.of(want.Key)
		if !ok || before.Owned.Want == nil {
			continue
		}
		st, err := want.Owned.Look(ctx, in.View)
		if unknowable(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", want.Key, err)
		}
		earlier, _ := w.earlier.of(want.Key)
		if w.is(st, before.Owned) || w.is(st, want.Owned) || w.is(st, earlier.Owned) || w.unfinished(st) || w.untouched(want.Key, st) {
			continue
		}
		found = append(found, Drift{Address: p.Address, Thing: want.Key, Found: st, Policy: policy(p)})
	}
	return found, nil
}

// unfinished says that a state may be the half of a change that an earlier
// attempt did not live to finish. Files and links are put in place at once.
func (w *walker) unfinished(st thing.State) bool {
	return w.Record.Phase == record.Installing && st.Kind != thing.File && st.Kind != thing.Link
}

// untouched says that a first installation did not come to a thing: it is what
// it was before us.
func (w *walker) untouched(key thing.Key, st thing.State) bool {
	if !w.Unapplied {
		return false // claims may not have been read yet
	}
	c := w.claimOf(key)
	return c != nil && restored(st, c.Origin)
}

// rewritten says that the recipe changed the step since it was applied.
func (w *walker) rewritten(p *block.Placed) bool {
	for _, want := range w.wants(p) {
		before, ok := w.applied.of(want.Key)
		switch {
		case !ok:
			return true
		case want.Owned.Want != nil && before.Owned.Want != nil && !w.is(*want.Owned.Want, before.Owned):
			return true
		}
	}
	return false
}

// is says whether a state is the one that is wanted. A digest of sensitive
// bytes may be known as a keyed hash only.
func (w *walker) is(st thing.State, o thing.Owned) bool {
	if o.Want == nil {
		return false
	}
	if o.Sensitive && w.Keyed != nil && st.Digest != "" && o.Want.Digest != st.Digest {
		st.Digest = w.Keyed(st.Digest)
	}
	return st.Same(*o.Want)
}

func policy(p *block.Placed) block.OnDrift {
	if p.OnDrift == "" {
		return block.DriftRepair
	}
	return p.OnDrift
}

func keys(found []Drift) (all []thing.Key) {
	for _, d := range found {
		all = append(all, d.Thing)
	}
	return all
}

func describe(s thing.State) string {
	if content := record.Content(s); content != "" {
		return "found " + content
	}
	return "found " + s.Kind
}
