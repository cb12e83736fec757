package thing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hostler/interpreter/host"
)

// How long a unit is watched after a job. A job that ended with "done" does
// not say that the unit runs: one whose program is missing, dies at once or is
// started over and over is "done" too.
const (
	settlePoll  = 100 * time.Millisecond
	settleQuick = 300 * time.Millisecond // unchanged for so long: a unit that says itself when it is up
	settleSlow  = time.Second            // a unit that is up as soon as it is forked
	// settleLimit bounds the wait when a unit does not come to rest.
	settleLimit = 15 * time.Second
	logLines    = 5
)

// Outcome is how a start ended well.
type Outcome int

// The outcomes of a start.
const (
	// Runs: the unit is active.
	Runs Outcome = iota
	// Ran: a oneshot unit has run with success and is not active any more.
	Ran
	// NotNeeded: a condition of a oneshot unit is not met, so it need not run.
	NotNeeded
)

// UnitError is a unit that is not in the state it was brought to. Its text has
// the newest lines of the unit's log.
type UnitError struct {
	Unit  string
	What  string // "failed: result \"exit-code\", …"
	State host.UnitState
	Log   []string
}

func (e *UnitError) Error() string {
	s := fmt.Sprintf("unit %s %s", e.Unit, e.What)
	if len(e.Log) > 0 {
		s += "; its log ends with:\n  " + strings.Join(e.Log, "\n  ")
	}
	return s
}

// ResetFailed clears a unit's failed state and the count of its start limit.
// That this is refused is no error: what follows tells. The only one is that of
// a context that has ended.
func ResetFailed(ctx context.Context, units host.Units, unit string) error {
	if err := units.ResetFailed(ctx, unit); err != nil {
		return ctx.Err()
	}
	return nil
}

// ForgetFailure clears a unit's failed state if it has one, which the manager
// would otherwise list when the unit's file is long gone. It is an error when
// that cannot be told; that clearing is refused is none.
func ForgetFailure(ctx context.Context, units host.Units, unit string) error {
	u, err := units.Unit(ctx, unit)
	if err != nil || u.ActiveState != "failed" {
		return err
	}
	return ResetFailed(ctx, units, unit)
}

// Start starts a unit and waits until its state has settled. A failed state
// and the count of the start limit are cleared first; that this is refused is
// no error.
func Start(ctx context.Context, h host.Host, unit string) (Outcome, error) {
	if err := ResetFailed(ctx, h.Units, unit); err != nil {
		return 0, fmt.Errorf("start of %s: %w", unit, err)
	}
	return Job(ctx, h, host.JobStart, unit)
}

// Job runs a job that leaves the unit running, waits until its state has
// settled, and says whether it does what it should. What went wrong is a
// *UnitError, with the cause where the job itself failed.
func Job(ctx context.Context, h host.Host, verb host.JobVerb, unit string) (Outcome, error) {
	if err := h.Units.Run(ctx, verb, unit); err != nil {
		return 0, jobFault(ctx, h, verb, unit, err)
	}
	state, rest, err := Settle(ctx, h.Units, h.Clock, unit)
	if err != nil {
		return 0, fmt.Errorf("%s of %s: %w", verb, unit, err)
	}
	outcome, what := Judge(state)
	if what == "" && !rest {
		what = fmt.Sprintf("does not come to rest: %s, started over %d times by itself", result(state), state.NRestarts)
	}
	if what == "" {
		return outcome, nil
	}
	return 0, unitError(ctx, h, unit, what, state)
}

// jobFault adds to the error of a job what the unit logged.
func jobFault(ctx context.Context, h host.Host, verb host.JobVerb, unit string, err error) error {
	job, ok := errors.AsType[*host.JobError](err)
	if !ok {
		return fmt.Errorf("%s of %s: %w", verb, unit, err)
	}
	state, asked := h.Units.Unit(ctx, unit)
	if asked != nil || job.Result != "failed" {
		return err
	}
	_, what := Judge(state)
	if what == "" {
		return err
	}
	return errors.Join(err, unitError(ctx, h, unit, what, state))
}

func unitError(ctx context.Context, h host.Host, unit, what string, state host.UnitState) error {
	lines, err := h.Units.Log(ctx, unit, logLines)
	if err != nil {
		lines = nil // the log only explains; the state is the fault
	}
	return &UnitError{Unit: unit, What: what, State: state, Log: lines}
}

// Settle waits until nothing about a unit has changed for a while, and returns
// its state then; [Judge] tells what that means. rest is false for a unit that
// does not come to rest in a bounded time. The error is that of asking or of
// ctx.
func Settle(ctx context.Context, u host.UnitView, clock host.Clock, unit string) (last host.UnitState, rest bool, err error) {
	if last, err = u.Unit(ctx, unit); err != nil {
		return last, false, err
	}
	var still, waited time.Duration
	for waited < settleLimit && still < window(last) {
		if err := clock.Sleep(ctx, settlePoll); err != nil {
			return last, false, fmt.Errorf("waiting for %s to settle (%s): %w", unit, phase(last), err)
		}
		waited += settlePoll
		still += settlePoll
		now, err := u.Unit(ctx, unit)
		if err != nil {
			return last, false, err
		}
		if now.InvocationID == "" {
			// The manager may forget a unit as soon as it is inactive.
			now.InvocationID, now.InactiveExit = last.InvocationID, last.InactiveExit
		}
		if changed(last, now) || passing(now) {
			still = 0
		}
		last = now
	}
	return last, still >= window(last), nil
}

// window is how long a unit must not change.
func window(u host.UnitState) time.Duration {
	switch u.Type {
	case "simple", "exec", "idle":
		return settleSlow
	}
	return settleQuick
}

func changed(a, b host.UnitState) bool {
	return a.ActiveState != b.ActiveState || a.SubState != b.SubState || a.NRestarts != b.NRestarts ||
		a.InvocationID != b.InvocationID || a.MainPID != b.MainPID
}

// Stop stops a unit and waits until that is done. A unit that does not exist is
// stopped.
func Stop(ctx context.Context, h host.Host, unit string) error {
	err := h.Units.Run(ctx, host.JobStop, unit)
	switch {
	case err == nil, errors.Is(err, host.ErrNoUnit):
		return nil
	case errors.Is(err, host.ErrNoManager):
		return nil
	}
	return fmt.Errorf("stop of %s: %w", unit, err)
}
