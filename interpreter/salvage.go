package interpreter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// LeftError lists what a reset without a usable record left alone, because
// nothing proves that it is ours. The reset is not finished.
type LeftError struct{ Things []thing.Key }

func (e *LeftError) Error() string {
	var names []string
	for _, key := range e.Things {
		names = append(names, string(key))
	}
	return fmt.Sprintf("the rest was reset without a record; these were left alone because they are not what hostler wrote: %s; remove them by hand and run hostler reset again, or run hostler reset --force",
		strings.Join(names, ", "))
}

// salvaged stands in the place of recipe name and fingerprint in the record of
// a reset that has no other: until it is finished nothing may be installed.
const salvaged = "unknown"

func isSalvage(rec *record.Record) bool {
	return rec.Phase == record.Resetting && rec.Recipe.Name == salvaged && rec.Fingerprint == salvaged
}

// salvage resets without a usable record: from the stored states, else from
// the recipe given. Originals go back by their sidecars; what is exactly what
// would have been written goes; the rest is left alone and listed. It can be
// run again at any point.
func (r *run) salvage(ctx context.Context, req Request) error {
	if r.loadErr != nil && !errors.Is(r.loadErr, record.ErrAbsent) {
		r.warn(block.Warning{Summary: "Reset without the record", Detail: r.loadErr.Error()})
	}
	steps, others, err := r.salvageSteps(ctx, req)
	if err != nil {
		return err
	}
	sides, err := r.store.Backups().Sidecars()
	if err != nil {
		return err
	}
	if len(steps) == 0 && len(sides) == 0 && errors.Is(r.loadErr, record.ErrAbsent) {
		// Nothing is installed. A run may have died before it could say
		// what it was going to do, or after all of that was undone.
		return r.store.Erase(ctx, &record.Record{})
	}
	rec := &record.Record{Phase: record.Resetting, Recipe: record.Recipe{Name: salvaged}, Fingerprint: salvaged, Prefix: r.storedPrefix}
	for _, l := range append(others, layout{steps: steps}) {
		// As if it had been installed with each prefix, one after the other.
		if _, err := rec.Retarget(l.steps, r.keyed()); err != nil {
			return err
		}
	}
	left, err := r.prove(ctx, req, rec, proofs{sides, steps, others})
	if err != nil {
		return err
	}
	return r.resetSalvaged(ctx, req, rec, provedBy{sides, left})
}

// salvageSteps are the steps of all stored states, else those of the recipe
// given, else those that an unfinished salvage noted, with the same recipes'
// layouts below other prefixes.
func (r *run) salvageSteps(ctx context.Context, req Request) ([]block.Placed, []layout, error) {
	steps, others, err := r.storedSteps(ctx, req)
	if err != nil || len(steps) > 0 {
		return steps, others, err
	}
	if req.Recipe == nil && req.Unreadable == nil {
		steps, err := r.notedSteps()
		return steps, nil, err
	}
	given, inputs, err := r.identity(req)
	if err != nil {
		return nil, nil, err
	}
	rec := r.rec
	r.rec = &record.Record{Phase: record.Resetting, Recipe: record.Recipe{Name: given.Recipe}, Fingerprint: given.Fingerprint, Prefix: given.Prefix}
	defer func() { r.rec = rec }()
	t, err := r.evaluate(ctx, req, inputs)
	if err != nil {
		return nil, nil, err
	}
	return t.steps, r.layouts(ctx, req.Recipe, inputs, layout{r.installPrefix(), t.steps}), nil
}

func (r *run) storedSteps(ctx context.Context, req Request) (steps []block.Placed, others []layout, err error) {
	names, err := r.store.States()
	if err != nil {
		return nil, nil, err
	}
	seen := map[thing.Key]bool{}
	for _, name := range names {
		t, err := r.storedTarget(ctx, name)
		if newer, ok := errors.AsType[*block.NewerError](err); ok {
			return nil, nil, &record.RefusedError{Reason: newer.Error(), Advice: "nothing was changed"}
		}
		if err != nil {
			r.warn(block.Warning{Summary: "Stored state not readable", Detail: err.Error()})
			continue
		}
		steps = append(steps, unseen(t.steps, seen)...)
		others = append(others, r.storedLayouts(ctx, req, t)...)
	}
	return steps, others, nil
}

// storedLayouts are a stored state's layouts below other prefixes than its own.
func (r *run) storedLayouts(ctx context.Context, req Request, t *target) []layout {
	recipe, inputs, _, err := r.storedRecipe(ctx, req, t.name)
	if err != nil {
		r.warn(block.Warning{Summary: "Other prefixes not looked at", Detail: err.Error()})
		return nil
	}
	rec := r.rec
	r.rec = &record.Record{Phase: record.Resetting, Recipe: t.recipe, Fingerprint: t.fingerprint}
	defer func() { r.rec = rec }()
	return r.layouts(ctx, recipe, inputs, layout{r.installPrefix(), t.steps})
}

func (r *run) notedSteps() (steps []block.Placed, err error) {
	if r.rec == nil {
		return nil, nil
	}
	seen := map[thing.Key]bool{}
	for _, c := range r.rec.Claims {
		if c.Step == nil {
			continue
		}
		p, err := r.restore(*c.Step)
		if err != nil {
			return nil, err
		}
		steps = append(steps, unseen([]block.Placed{p}, seen)...)
	}
	return steps, nil
}

// unseen leaves out steps all of whose things another step owns already.
func unseen(steps []block.Placed, seen map[thing.Key]bool) (fresh []block.Placed) {
	for _, p := range steps {
		wanted := record.WantedOf([]block.Placed{p})
		known := len(wanted) > 0
		for _, w := range wanted {
			known = known && seen[w.Key]
		}
		if !known {
			fresh = append(fresh, p)
		}
		for _, w := range wanted {
			seen[w.Key] = true
		}
	}
	return fresh
}

// provedBy are the backups that prove what was there before us, and what
// nothing proves to be ours.
type provedBy struct {
	sides map[string]record.Sidecar
	left  []thing.Key
}

// resetSalvaged runs the reset of what was proved, then puts back originals
// that no step names any more.
func (r *run) resetSalvaged(ctx context.Context, req Request, rec *record.Record, by provedBy) error {
	if r.loadErr != nil && !errors.Is(r.loadErr, record.ErrAbsent) {
		if err := r.store.SetAside(); err != nil {
			return err
		}
	}
	r.rec, r.loadErr, r.begun = rec, nil, true
	in := r.input(nil, nil)
	in.DiscardEdits, in.Salvage, in.Force = true, true, req.Force
	in.Begin = func(ctx context.Context) error { return r.store.Save(ctx, r.rec) }
	r.walked = true
	result, err := walk.Reset(ctx, in)
	r.out.Result = result
	if err == nil {
		err = r.putBack(ctx, by.sides, req.Force)
	}
	if err != nil {
		return err
	}
	if len(by.left) > 0 {
		return &LeftError{by.left}
	}
	return r.erase(ctx)
}

// putBack puts back the originals on the host of things that are not claimed.
func (r *run) putBack(ctx context.Context, sides map[string]record.Sidecar, force bool) error {
	claimed := r.rec.Index()
	for _, backup := range slices.Sorted(maps.Keys(sides)) {
		side := sides[backup]
		if machine, _ := side.Thing.Machine(); machine != "" || claimed[side.Thing] != nil {
			continue
		}
		err := r.store.Backups().Restore(ctx, r.host, backup, side.Path)
		if lost, ok := errors.AsType[*record.LostError](err); ok && force {
			r.warn(block.Warning{Summary: "Original lost", Detail: lost.Error()})
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
