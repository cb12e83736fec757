package nspawnmachine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// bootStep is the part that starts the machine.
type bootStep struct{ *machine }

func (s *bootStep) unit() string { return thing.MachineUnit(s.active) }

// Owns names the state of the machine's unit.
func (s *bootStep) Owns() []thing.Owned {
	want := &thing.State{Kind: thing.Present, Value: thing.Active}
	return []thing.Owned{{Thing: thing.UnitActive(s.unit()), Want: want, Foreign: true}}
}

// Check says whether the machine has to be started. One that runs is left
// alone whatever has changed.
func (s *bootStep) Check(ctx context.Context, in block.Look) (block.Change, error) {
	if err := ctx.Err(); err != nil {
		return block.Change{}, s.named(err)
	}
	why, action, err := s.needs(ctx, in.View)
	switch {
	case errors.Is(err, host.ErrNoManager):
		return block.Change{Action: block.ActionNone, Deferred: []string{"machine " + s.active + " is started at boot"}}, nil
	case err != nil:
		return block.OrUnknown("machine "+s.active, err)
	case why == "":
		why, action, err = s.unlinked(in)
		if err != nil || why == "" {
			return block.NoChange(), err
		}
	}
	c := block.Change{Action: action, Reason: why, Diffs: []block.Diff{{Thing: string(thing.UnitActive(s.unit()).Key()), Note: why}}}
	c.Wait, err = s.coming(ctx, in, why)
	return c, err
}

// coming is how long a machine may take that somebody else has started: the
// boot that this run is part of. What a run of ours started it waits for itself,
// since more has to be noted then.
func (s *bootStep) coming(ctx context.Context, in block.Look, why string) (time.Duration, error) {
	note, err := loadStart(in.View.Files, s.active)
	if err != nil || note != nil {
		return 0, err
	}
	if why == silentReason {
		return s.responsive, nil
	}
	u, err := in.View.Units.Unit(ctx, s.unit())
	if err != nil || u.JobType != string(host.JobStart) {
		return 0, err
	}
	waits, err := thing.WaitsFor(ctx, in.View.Units, u, in.OwnUnit)
	if err != nil || waits {
		return 0, err
	}
	return s.responsive, nil
}

// needs says why the machine has to be started, "" if it runs.
func (s *bootStep) needs(ctx context.Context, v host.View) (why string, action block.Action, err error) {
	u, err := v.Units.Unit(ctx, s.unit())
	if err != nil {
		return "", "", err
	}
	if other, err := s.otherSlot(ctx, v); err != nil || other != "" {
		return other + ", another slot of it, runs", block.ActionRun, err
	}
	found, registered, err := thing.FindMachine(ctx, v.Machines, s.active)
	switch {
	case err != nil:
		return "", "", err
	case registered && found.Alive:
		return s.silent(ctx, v)
	case registered:
		return "it is registered, but does not run any more", block.ActionRestart, nil
	case u.LoadState == "not-found":
		return "", "", host.Unknownf("there is no systemd-nspawn@.service yet: the package systemd-container brings it")
	case u.LoadState == "masked":
		return "", "", fmt.Errorf("%s is masked; unmask it with systemctl unmask %s", s.unit(), s.unit())
	case u.ActiveState == "failed":
		return fmt.Sprintf("it has failed (result %q)", u.Result), block.ActionRun, nil
	}
	return "it does not run", block.ActionRun, nil
}

// otherSlot is a slot that runs, or is about to, and is not the active one, ""
// if none does: two slots are one machine, and never run at a time. machined
// knows of a machine when it is up; a killed run may have queued its start just
// before.
func (s *bootStep) otherSlot(ctx context.Context, v host.View) (string, error) {
	for _, slot := range s.slots {
		if slot == s.active {
			continue
		}
		found, registered, err := thing.FindMachine(ctx, v.Machines, slot)
		if err != nil {
			return "", err
		}
		if registered && found.Alive {
			return slot, nil
		}
		u, err := v.Units.Unit(ctx, thing.MachineUnit(slot))
		if err != nil {
			return "", err
		}
		if !thing.Stopped(u) {
			return slot, nil
		}
	}
	return "", nil
}

// silentReason is why a machine that runs is waited for.
const silentReason = "its own service manager does not answer yet"

// silent says whether a machine that runs does not answer yet: it has just been
// started, by a run that was killed or by the boot that this run is part of.
func (s *bootStep) silent(ctx context.Context, v host.View) (why string, action block.Action, err error) {
	inside, err := v.Machines.View(ctx, s.active)
	if err == nil {
		_, err = inside.Units.Manager(ctx)
	}
	if unlessUnknown(err) == nil || ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	return silentReason, block.ActionRun, nil
}

// Apply starts the machine and waits until its own manager answers. A stale
// registration is cleared once.
func (s *bootStep) Apply(ctx context.Context, do block.Do) error {
	err := ctx.Err()
	if err == nil {
		err = s.boot(ctx, do)
	}
	if err != nil {
		return s.named(err)
	}
	return nil
}

func (s *bootStep) boot(ctx context.Context, do block.Do) error {
	why, action, err := s.needs(ctx, do.View)
	if errors.Is(err, host.ErrNoManager) {
		return nil // it starts at boot
	}
	if err == nil && why == "" {
		return s.link(do)
	}
	if err != nil {
		return err
	}
	if other, err := s.otherSlot(ctx, do.View); err != nil || other != "" {
		if err == nil {
			err = thing.StopMachine(ctx, do.Host, other)
		}
		if err != nil {
			return err
		}
		return s.boot(ctx, do)
	}
	if why == silentReason {
		return s.awaitStarted(ctx, do)
	}
	if err := s.waitable(ctx, do); err != nil {
		return err
	}
	if action == block.ActionRestart {
		if err := thing.ClearStale(ctx, do.Host, s.active); err != nil {
			return err
		}
	}
	if err := s.afterOthers(ctx, do); err != nil {
		return err
	}
	if err := s.link(do); err != nil {
		return err
	}
	if err := s.noteStart(ctx, do, starting); err != nil {
		return err
	}
	if err := s.start(ctx, do); err != nil {
		return err
	}
	if err := s.responsiveNow(ctx, do); err != nil {
		return err
	}
	return s.noteStart(ctx, do, running)
}

// awaitStarted waits for a machine that somebody has started. If that was a run
// of ours that was killed, what the machine was built from is still noted.
func (s *bootStep) awaitStarted(ctx context.Context, do block.Do) error {
	if err := s.responsiveNow(ctx, do); err != nil {
		return err
	}
	note, err := s.readStart(ctx, do.View)
	if err != nil || note == nil {
		return err
	}
	return s.noteStart(ctx, do, running)
}

// waitable refuses a start that could not go on before the unit we run in is
// done.
func (s *bootStep) waitable(ctx context.Context, do block.Do) error {
	u, err := do.Host.Units.Unit(ctx, s.unit())
	if err != nil {
		return err
	}
	waits, err := thing.WaitsFor(ctx, do.Host.Units, u, do.OwnUnit)
	if err == nil && waits {
		err = fmt.Errorf("%s is ordered after %s, which this run is part of, so it can never be waited for; take the After= out of service", s.unit(), do.OwnUnit)
	}
	return err
}

// start starts the unit. If it fails because a registration came to be stale
// meanwhile, that is cleared and the start tried once more.
func (s *bootStep) start(ctx context.Context, do block.Do) error {
	_, err := thing.Start(ctx, do.Host, s.unit())
	if err == nil || ctx.Err() != nil {
		return err
	}
	found, registered, ferr := thing.FindMachine(ctx, do.Host.Machines, s.active)
	if ferr != nil || !registered || found.Alive {
		return errors.Join(err, ferr)
	}
	if cerr := thing.ClearStale(ctx, do.Host, s.active); cerr != nil {
		return errors.Join(err, cerr)
	}
	_, err = thing.Start(ctx, do.Host, s.unit())
	return err
}

// responsivePoll is how often a machine is asked whether it answers.
const responsivePoll = 250 * time.Millisecond

// responsiveNow waits until the machine's own manager answers.
func (s *bootStep) responsiveNow(ctx context.Context, do block.Do) error {
	for waited := time.Duration(0); ; waited += responsivePoll {
		err := s.answers(ctx, do.Host.Machines)
		if err == nil || errors.Is(err, host.ErrUnknown) || ctx.Err() != nil {
			return errors.Join(ctx.Err(), unlessUnknown(err))
		}
		if waited >= s.responsive {
			return fmt.Errorf("it runs, but its own service manager does not answer within %s: %w", s.responsive, err)
		}
		if err := do.Host.Clock.Sleep(ctx, responsivePoll); err != nil {
			return err
		}
	}
}

func unlessUnknown(err error) error {
	if errors.Is(err, host.ErrUnknown) {
		return nil
	}
	return err
}

func (s *bootStep) answers(ctx context.Context, m host.Machines) error {
	inside, err := m.Host(ctx, s.active)
	if err != nil {
		return err
	}
	_, err = inside.Units.Manager(ctx)
	return err
}

// Reset stops the machine where it did not run before us.
func (s *bootStep) Reset(ctx context.Context, do block.Do, _ thing.Thing, o thing.Origin) error {
	if err := ctx.Err(); err != nil {
		return s.named(err)
	}
	if o.Kind != thing.OriginAbsent {
		return thing.UnitActive(s.unit()).PutBack(ctx, do.Host, o, do.Keep)
	}
	if err := thing.StopMachine(ctx, do.Host, s.active); err != nil {
		return err
	}
	return forgetStart(do.Host.Files, s.active)
}
