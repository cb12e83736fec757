package restartonchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// Check says whether a restart is owed.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	if err := ctx.Err(); err != nil {
		return block.Change{}, fmt.Errorf("%s: %w", s.unit, err)
	}
	if len(in.Debts) == 0 {
		return block.NoChange(), nil
	}
	u, err := in.View.Units.Unit(ctx, s.unit)
	if errors.Is(err, host.ErrNoManager) {
		return block.Change{Action: block.ActionNone, Deferred: []string{
			fmt.Sprintf("%s gets it at next boot: %s", s.unit, reason(in.Debts)),
		}}, nil
	}
	if err != nil {
		return block.OrUnknown(s.unit, err)
	}
	owed := s.owed(u, in.Debts)
	if len(owed) == 0 {
		return block.NoChange(), nil
	}
	return block.Change{
		Action: block.ActionRestart, Reason: reason(owed),
		Diffs: []block.Diff{{Thing: string(thing.UnitActive(s.unit).Key()), Note: string(s.job(u))}},
	}, nil
}

// owed are the debts that are not void. A unit that has failed since it was
// running owes them all: a restart has not succeeded yet.
func (s *step) owed(u host.UnitState, debts []block.Debt) []block.Debt {
	switch {
	case !s.concerns(u):
		return nil
	case u.ActiveState == "failed":
		return debts
	}
	return slices.DeleteFunc(slices.Clone(debts), func(d block.Debt) bool {
		return u.InvocationID != d.Invocation && d.InPlace > 0 && u.InactiveExit > d.InPlace
	})
}

// concerns says whether the unit runs, or ran and has failed: then it may be
// our own restart that failed, or the start limit, and the debt stands.
func (s *step) concerns(u host.UnitState) bool {
	switch {
	case u.Running():
		return true
	case u.ActiveState == "failed":
		return s.verb != host.JobTryRestart
	}
	return u.ActiveState == "deactivating" && u.JobType != "" && u.JobType != string(host.JobStop)
}

// job is what is done: a unit that has failed cannot be reloaded.
func (s *step) job(u host.UnitState) host.JobVerb {
	if u.ActiveState == "failed" {
		return host.JobRestart
	}
	return s.verb
}

// reason names the causes, each once.
func reason(debts []block.Debt) string {
	var parts []string
	for _, d := range debts {
		part := d.Cause + " changed"
		if d.Reason != "" {
			part += " (" + d.Reason + ")"
		}
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}

// Apply validates, then restarts once, however many debts there are, and waits
// until the unit has settled.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", s.unit, err)
	}
	if len(do.Debts) == 0 {
		return nil
	}
	u, err := do.Host.Units.Unit(ctx, s.unit)
	switch {
	case errors.Is(err, host.ErrNoManager):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", s.unit, err)
	case len(s.owed(u, do.Debts)) == 0:
		return nil
	}
	if err := s.validate(ctx, do.Host.Commands); err != nil {
		return err
	}
	if err := s.clear(ctx, do, u); err != nil {
		return err
	}
	return s.run(ctx, do, u)
}

func (s *step) validate(ctx context.Context, c host.Commands) error {
	if len(s.args.Validate) == 0 {
		return nil
	}
	if _, err := c.Run(ctx, host.Command{Argv: s.args.Validate}); err != nil {
		return fmt.Errorf("%s is not restarted, its validation failed: %w", s.unit, err)
	}
	return nil
}

// clear forgets earlier failures, which count against the start limit. That it
// is refused is no error: the restart tells.
func (s *step) clear(ctx context.Context, do block.Do, u host.UnitState) error {
	if s.job(u) == host.JobReload {
		return nil
	}
	if err := thing.ResetFailed(ctx, do.Host.Units, s.unit); err != nil {
		return fmt.Errorf("%s: %w", s.unit, err)
	}
	if u.ActiveState == "failed" {
		do.Warn(block.Warning{Summary: s.unit + " had failed", Detail: fmt.Sprintf("Its failed state (result %q) is cleared before the restart that is owed.", u.Result)})
	}
	return nil
}

func (s *step) run(ctx context.Context, do block.Do, u host.UnitState) error {
	waits, err := thing.WaitsFor(ctx, do.Host.Units, u, do.OwnUnit)
	if err != nil {
		return fmt.Errorf("%s: %w", s.unit, err)
	}
	if waits {
		do.Warn(block.Warning{Summary: "The restart of " + s.unit + " is queued", Detail: "It is, or is ordered after, " + do.OwnUnit + ", which this run is part of, so it is not waited for."})
		return do.Host.Units.Queue(ctx, s.job(u), s.unit)
	}
	_, err = thing.Job(ctx, do.Host, s.job(u), s.unit)
	return err
}

// Reset has nothing to undo.
func (s *step) Reset(context.Context, block.Do, thing.Thing, thing.Origin) error { return nil }
