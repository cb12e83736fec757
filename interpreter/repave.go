package interpreter

import (
	"context"
	"errors"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// Repave builds the machines anew and moves the installation to them, and with
// them its identity, when they are ready. With two slots the old machine is kept
// until then and comes back by itself when the new one is not; with
// Request.ConfirmWithin it comes back unless a repave with Request.Confirm
// follows in that time, for which Repave waits.
func (in *Interpreter) Repave(ctx context.Context, req Request) (Outcome, error) {
	var target string
	out, err := in.exclusive(ctx, req, func(ctx context.Context, r *run) error {
		err := r.repave(ctx, req)
		if r.rec != nil {
			target = r.rec.Target
		}
		return err
	})
	if err != nil || out.ConfirmUntil.IsZero() {
		return out, err
	}
	return in.awaitConfirmation(ctx, req, waiting{out, target})
}

// PlanRepave is Repave on a shadow of the host, up to where the new machine is
// ready.
func (in *Interpreter) PlanRepave(ctx context.Context, req Request) (Outcome, error) {
	return in.shadowed(ctx, req, func(ctx context.Context, r *run) error { return r.repave(ctx, req) })
}

func (r *run) repave(ctx context.Context, req Request) error {
	r.readClaims() // what is wrong with them, admission says
	if req.Confirm {
		return r.confirm(ctx, req)
	}
	given, inputs, givenErr := r.identity(req)
	if r.keyErr != nil {
		return r.keyErr
	}
	if _, err := record.Admit(record.Repave, r.rec, r.loadErr, given, givenErr); err != nil {
		return errors.Join(givenErr, err)
	}
	if err := r.repavable(req); err != nil {
		return err
	}
	old, err := r.storedTarget(ctx, r.rec.Applied)
	if err != nil {
		return err
	}
	t, err := r.next(ctx, req, next{given, inputs, standingOf(old)})
	if err != nil {
		return err
	}
	if err := r.taken(ctx, t.steps); err != nil {
		return err
	}
	return r.buildAnew(ctx, req, old, t)
}

// repavable refuses a repave that could not go on, or not go back.
func (r *run) repavable(req Request) error {
	switch {
	case !r.host.Identity.Live:
		return errors.New("a repave stops and starts machines, and this host does not run; nothing was changed")
	case r.rec.Applied == "":
		return &record.RefusedError{Reason: "the installation was never finished", Advice: "finish it with hostler apply, then repave"}
	case r.trial():
		return r.trialError()
	case req.Previous && r.rec.Previous == "":
		return errors.New("there is no earlier state to go back to; nothing was changed")
	}
	return nil
}

// next is what a repave is given: a recipe, or nothing for the one installed,
// and which slots are active.
type next struct {
	given    *record.Identity
	inputs   eval.Inputs
	standing map[string]bool
}

// next evaluates the target of a repave, as the identity that it brings, for
// the slots that are not active.
func (r *run) next(ctx context.Context, req Request, n next) (*target, error) {
	moved, was := *r.rec, r.rec
	defer func() { r.rec, r.standing = was, nil }()
	r.rec, r.standing = &moved, n.standing
	if n.given != nil && !req.Previous {
		moved.Recipe.Name, moved.Fingerprint = n.given.Recipe, n.given.Fingerprint
		return r.evaluate(ctx, req, n.inputs)
	}
	name := was.Applied
	if req.Previous {
		name = was.Previous
	}
	st, err := r.store.LoadState(ctx, name)
	if err != nil {
		return nil, err
	}
	moved.Recipe, moved.Fingerprint = st.Recipe, st.Fingerprint
	return r.again(ctx, req, name)
}

// taken refuses to claim for the first time what is there already, as on a
// clean host.
func (r *run) taken(ctx context.Context, steps []block.Placed) error {
	claimed := r.rec.Index()
	return r.foreign(ctx, steps, func(key thing.Key) bool { return claimed[key] != nil })
}

// buildAnew builds in the other slots if every machine has one, else in place.
func (r *run) buildAnew(ctx context.Context, req Request, old, t *target) error {
	machines := machinesOf(t.steps)
	if len(machines) == 0 {
		return errors.New("the recipe has no machine, so there is nothing to repave; nothing was changed: hostler apply changes the host")
	}
	standing := standingOf(old)
	var inPlace []string
	for _, m := range machines {
		if standing[m.active] {
			inPlace = append(inPlace, m.active)
		}
	}
	if err := needsInput(t.steps); err != nil {
		return err
	}
	switch {
	case len(inPlace) > 0:
		return r.rebuild(ctx, t, inPlace)
	case r.rec.Phase == record.Installing:
		return &record.RefusedError{
			Reason: "a change of this host is not finished",
			Advice: "finish it with hostler ensure, or take it back with hostler apply --previous, then repave",
		}
	}
	return r.swap(ctx, req, old, t)
}

// needsInput says which values a machine that is built anew needs and nobody
// gave.
func needsInput(steps []block.Placed) error {
	needs := &walk.NeedsInputError{}
	for _, p := range steps {
		if p.Machine != "" && len(p.NeedsInput) > 0 {
			needs.Steps = append(needs.Steps, p.Address)
			needs.Variables = append(needs.Variables, p.NeedsInput...)
		}
	}
	if len(needs.Steps) > 0 {
		return needs
	}
	return nil
}

// rebuild builds machines that have no other slot: the record says so, and what
// follows is an ordinary drive, which takes them away first.
func (r *run) rebuild(ctx context.Context, t *target, names []string) error {
	for _, name := range names {
		if c := r.rec.Claim(machineKey(name)); c != nil && c.Origin.Kind != thing.OriginAbsent {
			return &record.RefusedError{
				Reason: "machine " + name + " was there before hostler, which would take it away to build it anew",
				Advice: "nothing was changed: remove it by hand, or give the machine of the recipe slots",
			}
		}
	}
	r.rec.Repave = &record.Repaving{Rebuild: names}
	return r.drive(ctx, t)
}

// swap builds the other slots under phase complete. Until they are ready the
// record says that what was applied is what counts: whatever ends the run, the
// host goes back there.
func (r *run) swap(ctx context.Context, req Request, old, t *target) error {
	attempt, err := r.attempted(ctx, t)
	if err != nil {
		return err
	}
	r.admitted(ctx, t)
	holds := requirements(old.steps)
	if err := r.preflight(ctx, t.steps, holds); err != nil {
		return err
	}
	in := r.input(holds.without(t.steps), old.steps)
	in.Earlier, in.Replaces = attempt, elsewhere(t, standingOf(old))
	for _, m := range machinesOf(t.steps) {
		in.Cleared = append(in.Cleared, machineKey(m.active)) // left by a repave that was interrupted
	}
	if _, err := r.rec.Retarget(t.steps, r.keyed()); err != nil {
		return err
	}
	r.rec.Target, r.rec.Repave = t.name, &record.Repaving{Fingerprint: t.fingerprint}
	in.Build = r.noteBuilt(nil)
	in.Begin = func(ctx context.Context) error { return r.beginSwap(ctx, t) }
	err = r.walk(ctx, in)
	if err == nil && !r.shadow {
		err = r.settleTrial(ctx, req, t)
	}
	if err != nil && r.begun {
		err = r.goBack(ctx, req, err)
	}
	return err
}
