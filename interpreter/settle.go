package interpreter

import (
	"context"
	"errors"
	"fmt"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

// noteBuilt notes what machines were built from for when the target is applied.
func (r *run) noteBuilt(save func(context.Context) error) func(context.Context, string, block.Built) error {
	return func(ctx context.Context, address string, b block.Built) error {
		if r.rec.Repave.Machines == nil {
			r.rec.Repave.Machines = map[string]block.Built{}
		}
		r.rec.Repave.Machines[address] = b
		if save == nil {
			return nil
		}
		return save(ctx)
	}
}

// beginSwap makes durable what a repave may touch, and not more: phase and
// identity stay.
func (r *run) beginSwap(ctx context.Context, t *target) error {
	if _, err := r.store.SaveState(ctx, *t.state, t.files); err != nil {
		return err
	}
	r.begun = true
	return r.store.Save(ctx, r.rec)
}

// settleTrial makes a target whose machines are ready what is applied, or lets
// it wait for its confirmation.
func (r *run) settleTrial(ctx context.Context, req Request, t *target) error {
	if err := walk.Capture(ctx, r.input(t.steps, nil)); err != nil {
		return err
	}
	if req.ConfirmWithin <= 0 {
		return r.accept(ctx, req)
	}
	r.rec.Repave.Until = r.host.Clock.Now().Add(req.ConfirmWithin).UTC()
	if err := r.beginSwap(ctx, t); err != nil {
		return err
	}
	r.out.ConfirmUntil = r.rec.Repave.Until
	return nil
}

// goBack drives a host to what was applied, after a repave that failed because
// of cause. It is not cut short by what ended the repave.
func (r *run) goBack(ctx context.Context, req Request, cause error) error {
	if !r.rec.Unproved() {
		return cause // the new machines are what is applied; ensure finishes
	}
	err := r.settle(context.WithoutCancel(ctx), req)
	if err == nil {
		return fmt.Errorf("the repave failed, and the host is back at what was applied: %w", cause)
	}
	return errors.Join(fmt.Errorf("the repave failed: %w", cause),
		fmt.Errorf("going back to what was applied failed too; hostler ensure tries it again: %w", err))
}

// confirm keeps what a repave brought.
func (r *run) confirm(ctx context.Context, req Request) error {
	switch {
	case r.loadErr != nil:
		return r.loadErr
	case r.keyErr != nil:
		return r.keyErr
	case !r.rec.Unproved() || r.rec.Repave.Until.IsZero():
		return &record.RefusedError{Reason: "no repave waits for a confirmation", Advice: "nothing was changed"}
	case !r.trial():
		return r.expire(ctx, req)
	}
	return r.accept(ctx, req)
}

// expire goes back from a repave that nobody confirmed.
func (r *run) expire(ctx context.Context, req Request) error {
	late := errors.New("it was not confirmed by " + stamp(r.rec.Repave.Until))
	return r.goBack(ctx, req, late)
}

// accept makes the target of a repave what is applied, with one write, and then
// takes away what is not wanted any more.
func (r *run) accept(ctx context.Context, req Request) error {
	st, err := r.store.LoadState(ctx, r.rec.Target)
	if err != nil {
		return err
	}
	r.rec.Prove(st.Recipe, st.Fingerprint)
	r.begun = true
	if err := r.store.Save(ctx, r.rec); err != nil {
		return err
	}
	return r.settle(ctx, req)
}

// settle drives a complete installation to what is applied after a repave,
// whichever way that ended: slots that are not active go, and what they own.
func (r *run) settle(ctx context.Context, req Request) error {
	t, err := r.storedTarget(ctx, r.rec.Applied)
	if err != nil {
		return err
	}
	other := r.rec.Previous
	if r.rec.Unproved() {
		other = r.rec.Target
	}
	earlier, err := r.earlier(ctx, other)
	if err != nil {
		return err
	}
	r.admitted(ctx, t)
	before := r.out.Result
	in := r.input(withoutPreflight(t.steps), t.steps)
	in.Earlier, in.Fill = earlier, r.fill(req, t.name)
	if in.Dropped, err = r.rec.Retarget(t.steps, r.keyed()); err != nil {
		return err
	}
	r.unsettled(t, &in)
	in.Cleared, in.Leave = nil, nil // a budget of repairs does not keep it from the end
	in.Begin = func(ctx context.Context) error {
		r.begun = true
		return r.store.Save(ctx, r.rec)
	}
	err = r.walk(ctx, in)
	r.out.Result = together(before, r.out.Result)
	if err != nil {
		return err
	}
	r.rec.Target, r.rec.Repave = r.rec.Applied, nil
	if err := r.store.Save(ctx, r.rec); err != nil {
		return err
	}
	r.sweep(ctx)
	return nil
}

// together is what two walks did, and what was left by the second.
func together(a, b walk.Result) walk.Result {
	b.Changed, b.Unchanged, b.Failed = a.Changed+b.Changed, a.Unchanged+b.Unchanged, a.Failed+b.Failed
	b.Undone += a.Undone
	return b
}

// hold drives a host to the target of a repave that waits for its confirmation.
func (r *run) hold(ctx context.Context, req Request) error {
	t, err := r.storedTarget(ctx, r.rec.Target)
	if err != nil {
		return err
	}
	old, err := r.storedTarget(ctx, r.rec.Applied)
	if err != nil {
		return err
	}
	r.out.ConfirmUntil = r.rec.Repave.Until
	return r.repairWith(ctx, req, t, func(in *walk.Input) {
		in.Earlier, in.Replaces = old.steps, elsewhere(t, standingOf(old))
		in.Build = r.noteBuilt(func(ctx context.Context) error { return r.store.Save(ctx, r.rec) })
	})
}

// settleLeft settles what a repave left that was killed, or that nobody
// confirmed in time, and says so.
func (r *run) settleLeft(ctx context.Context, req Request) error {
	switch {
	case r.rec.Unproved() && !r.rec.Repave.Until.IsZero():
		r.warn(block.Warning{Summary: "Repave not confirmed", Detail: "It was not confirmed by " + stamp(r.rec.Repave.Until) + "; the host goes back to what was applied."})
	case r.rec.Unproved():
		r.warn(block.Warning{Summary: "Repave not finished", Detail: "It was interrupted before the new machine was ready; the host goes back to what was applied."})
	}
	return r.settle(ctx, req)
}

// sameMachines refuses to go back by an ordinary drive to a state with other
// machines, or of another identity: only a repave moves them.
func (r *run) sameMachines(t *target) error {
	same := t.fingerprint == r.rec.Fingerprint
	for _, m := range machinesOf(t.steps) {
		now := r.active(m.address, m.slots)
		same = same && (now == "" || now == m.active)
	}
	if same {
		return nil
	}
	return &record.RefusedError{
		Reason: "between the state before and this one lies a repave",
		Advice: "nothing was changed: hostler repave --previous goes back to it",
	}
}

// undoRebuild marks machines that a repave in place has built from another image
// than the state to go back to was.
func (r *run) undoRebuild(ctx context.Context, t *target) error {
	r.rec.Repave.Rebuild = nil
	for _, m := range machinesOf(t.steps) {
		built, key := r.rec.Machines[m.address], machineKey(m.active)
		for _, want := range record.WantedOf(t.steps) {
			if want.Key != key || built.Digest == "" {
				continue
			}
			st, err := want.Owned.Look(ctx, r.host.View())
			if err != nil {
				return err
			}
			if st.Digest != built.Digest {
				r.rec.Repave.Rebuild = append(r.rec.Repave.Rebuild, m.active)
			}
		}
	}
	return nil
}

// unconfirmed are the machines of a target that waits for its confirmation.
func (r *run) unconfirmed(t *target) (all []block.Pending) {
	if r.out.ConfirmUntil.IsZero() {
		return nil
	}
	for _, m := range machinesOf(t.steps) {
		all = append(all, block.Pending{Machine: m.active, Needs: "confirmation", Reason: "it goes back at " + stamp(r.out.ConfirmUntil) + " unless hostler repave --confirm is run before"})
	}
	return all
}

// lookRepave says how a repave is that is not decided yet.
func (r *run) lookRepave(ctx context.Context, t *target, in *walk.Input) error {
	if !r.trial() {
		r.warn(block.Warning{Summary: "Repave not finished", Detail: "It was interrupted, or nobody confirmed it in time. hostler ensure goes back to what was applied; hostler repave begins anew."})
		return nil
	}
	old, err := r.storedTarget(ctx, r.rec.Applied)
	if err != nil {
		return err
	}
	r.out.ConfirmUntil = r.rec.Repave.Until
	in.Replaces = elsewhere(t, standingOf(old))
	return nil
}
