package interpreter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// drive drives an installation to a target and commits it. The record is
// written before the first effect, or when the target is another one.
func (r *run) drive(ctx context.Context, t *target) error {
	r.admitted(ctx, t)
	applied, err := r.before(ctx)
	if err != nil {
		return err
	}
	attempt, err := r.attempted(ctx, t)
	if err != nil {
		return err
	}
	holds := requirements(nil)
	if r.rec.Phase == record.Complete {
		holds = requirements(applied)
	}
	if err := r.preflight(ctx, t.steps, holds); err != nil {
		return err
	}
	in := r.input(holds.without(t.steps), applied)
	in.Earlier = attempt
	if in.Dropped, err = r.retarget(ctx, t); err != nil {
		return err
	}
	if r.rec.Repave != nil {
		r.unsettled(t, &in)
	}
	if t.state == nil {
		in.Fill = r.fill(r.req, t.name)
	}
	in.Begin = func(ctx context.Context) error { return r.begin(ctx, t) }
	if err := r.walk(ctx, in); err != nil {
		return err
	}
	if err := r.restate(ctx, t); err != nil {
		return err
	}
	return r.commit(ctx, t)
}

// before are the steps that the host was driven to last: what was applied, or
// an unfinished first target. What differs from both it and the target at hand
// was changed behind our back.
func (r *run) before(ctx context.Context) ([]block.Placed, error) {
	if r.rec.Applied != "" {
		return r.earlier(ctx, r.rec.Applied)
	}
	return r.earlier(ctx, r.rec.Target)
}

// attempted are the steps of a target that was not reached, nil if the last one
// was, or is the one at hand.
func (r *run) attempted(ctx context.Context, t *target) ([]block.Placed, error) {
	if r.rec.Target == t.name || r.rec.Applied == "" || r.rec.Target == r.rec.Applied {
		return nil, nil
	}
	return r.earlier(ctx, r.rec.Target)
}

// retarget makes the claims, in memory, those of a target and returns what it
// drops.
func (r *run) retarget(ctx context.Context, t *target) ([]thing.Key, error) {
	r.rec.Supersede(t.fingerprint)
	r.rec.Recipe = t.recipe
	if err := r.mint(); err != nil {
		return nil, err
	}
	dropped, err := r.rec.Retarget(t.steps, r.keyed())
	if err == nil {
		err = r.destroys(ctx, dropped)
	}
	if err == nil {
		err = r.claimDelivered(t.steps)
	}
	if err == nil {
		err = r.claimHome()
	}
	return dropped, err
}

// destroys refuses to drop a machine that runs, unless that is allowed.
func (r *run) destroys(ctx context.Context, dropped []thing.Key) error {
	if r.req.AllowDestroy || !slices.ContainsFunc(dropped, isMachine) {
		return nil
	}
	registered, err := r.host.Machines.Registered(ctx)
	if errors.Is(err, host.ErrNoManager) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("whether machines that the recipe drops run cannot be told: %w", err)
	}
	var running []string
	for _, m := range registered {
		if slices.Contains(dropped, thing.Key("machine:"+m.Name)) {
			running = append(running, m.Name)
		}
	}
	if len(running) == 0 {
		return nil
	}
	refused := &record.RefusedError{
		Reason: "the recipe does not name machines any more that run: " + strings.Join(running, ", "),
		Advice: "nothing was changed: run again with --allow-destroy to stop and remove them",
	}
	if r.shadow {
		r.warn(block.Warning{Summary: "Machines would be destroyed", Detail: refused.Error()})
		return nil
	}
	return refused
}

func isMachine(key thing.Key) bool {
	machine, _ := key.Machine()
	return machine == "" && key.Kind() == "machine"
}

func (r *run) walk(ctx context.Context, in walk.Input) error {
	r.walked = true
	result, err := walk.Drive(ctx, in)
	r.out.Result = result
	return err
}

// begin makes durable what the run is about to do: the key, the target, the
// claims with their origins, and the phase.
func (r *run) begin(ctx context.Context, t *target) error {
	if r.key != nil {
		if err := r.store.SaveKey(r.key); err != nil {
			return err
		}
	}
	if t.state != nil {
		if _, err := r.store.SaveState(ctx, *t.state, t.files); err != nil {
			return err
		}
	}
	r.rec.Target, r.rec.Phase = t.name, record.Installing
	r.begun = true
	return r.store.Save(ctx, r.rec)
}

// claimHome claims the directories that the installation's own memory needs
// and that are not there.
func (r *run) claimHome() error {
	for _, dir := range append(record.Parents(record.Dir), record.Dir) {
		if there, err := exists(r.host.Files, dir); err != nil {
			return err
		} else if !there {
			r.rec.ClaimDir(thing.Key("dir:" + dir))
		}
	}
	return nil
}

// commit makes a reached target what is applied. On an offline root, or when
// something waits for the first boot, the installation stays unfinished: the
// first live run completes it. Nothing is written when nothing is new.
func (r *run) commit(ctx context.Context, t *target) error {
	done := r.host.Identity.Live && !r.out.Deferred
	committed := r.rec.Target == t.name
	if done {
		committed = r.rec.Phase == record.Complete && r.rec.Applied == t.name
	}
	if committed && !r.begun && r.rec.Repave == nil {
		return nil
	}
	if err := walk.Capture(ctx, r.input(t.steps, nil)); err != nil {
		return err
	}
	if err := r.begin(ctx, t); err != nil {
		return err
	}
	if done {
		if r.rec.Applied != "" && r.rec.Applied != t.name {
			r.rec.Previous = r.rec.Applied
		}
		r.rec.Applied, r.rec.Phase, r.rec.Repave = t.name, record.Complete, nil
		r.completed = true
		if err := r.store.Save(ctx, r.rec); err != nil {
			return err
		}
	}
	r.sweep(ctx)
	return nil
}

// sweep removes what the record does not name any more. What cannot be removed
// is no fault of the run: the next one that writes tries again.
func (r *run) sweep(ctx context.Context) {
	if err := r.store.Sweep(ctx, r.rec); err != nil {
		r.warn(block.Warning{Summary: "Old states not removed", Detail: err.Error()})
	}
}

// repair drives a complete installation to what was applied. Requirements are
// not asked. Nothing is written unless something had to be repaired; then
// completion is committed again.
func (r *run) repair(ctx context.Context, req Request, t *target) error {
	return r.repairWith(ctx, req, t, func(*walk.Input) {})
}

// repairWith is repair with more to say about the walk.
func (r *run) repairWith(ctx context.Context, req Request, t *target, more func(*walk.Input)) error {
	r.admitted(ctx, t)
	in := r.input(withoutPreflight(t.steps), t.steps)
	in.Claims, in.Fill = r.readClaims, r.fill(req, t.name)
	in.Begin = func(context.Context) error {
		r.begun = true
		return nil
	}
	more(&in)
	if err := r.walk(ctx, in); err != nil || !r.begun {
		return err
	}
	if err := r.restate(ctx, t); err != nil {
		return err
	}
	if t.state != nil {
		if _, err := r.store.SaveState(ctx, *t.state, t.files); err != nil {
			return err
		}
		if r.rec.Target == r.rec.Applied {
			r.rec.Target = t.name
		}
		r.rec.Applied = t.name
	}
	return r.store.Commit(ctx, r.rec)
}

// withoutPreflight leaves out requirements.
func withoutPreflight(steps []block.Placed) []block.Placed {
	return slices.DeleteFunc(slices.Clone(steps), func(p block.Placed) bool { return p.Type.Preflight })
}

// input is what every walk of this run has in common.
func (r *run) input(desired, applied []block.Placed) walk.Input {
	return walk.Input{
		Desired: desired, Applied: applied, Host: r.host, Store: r.store, Record: r.rec, Keyed: r.keyed(),
		Restore: r.restore, Emit: r.tell, Shadow: r.shadow, Survey: r.survey, Ahead: r.Ahead, OwnUnit: r.OwnUnit,
		Leave: r.req.Leave, First: delivery.Units(), Last: delivery.Programs(r.installPrefix()), Delivered: r.mayBeDelivered, Program: r.Program,
		Unapplied: r.rec.Applied == "",
	}
}

// restore makes a step again from a claim, whose bulky values are slimmed.
func (r *run) restore(s block.Stored) (block.Placed, error) {
	return r.vocabulary().Restore(s, block.Setting{Facts: r.facts, Prefix: r.installPrefix()})
}
