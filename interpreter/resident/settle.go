package resident

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// restart starts the daemon anew and waits until it has stayed up for a while,
// or stood down. A host without the daemon's unit has none to ask.
func (u Upgrade) restart(ctx context.Context) error {
	h := u.Interpreter.Host
	if _, err := host.Lstat(h.Files, delivery.UnitPath(delivery.DaemonUnit)); host.Absent(err) {
		return nil
	}
	err := again(ctx, h)
	if errors.Is(err, host.ErrNoManager) {
		return nil
	}
	if err != nil {
		return err
	}
	return u.stays(ctx)
}

// again starts the daemon, running or not. What an earlier failure left is
// cleared first; that this is refused is no error.
func again(ctx context.Context, h host.Host) error {
	if err := thing.ResetFailed(ctx, h.Units, delivery.DaemonUnit); err != nil {
		return err
	}
	return h.Units.Run(ctx, host.JobRestart, delivery.DaemonUnit)
}

// stays watches the daemon.
func (u Upgrade) stays(ctx context.Context) error {
	h, settle := u.Interpreter.Host, u.Settle
	if settle == 0 {
		settle = SettleTime
	}
	began := h.Clock.Monotonic()
	for {
		unit, err := h.Units.Unit(ctx, delivery.DaemonUnit)
		if err != nil {
			return err
		}
		switch {
		case failing(unit) || unit.NRestarts > 0:
			return u.fell(ctx, unit)
		case !unit.Running() && stoodDown(unit):
			return nil
		case !unit.Running() && unit.ActiveState != "deactivating":
			return u.fell(ctx, unit)
		case h.Clock.Monotonic()-began >= settle:
			return nil
		}
		if err := h.Clock.Sleep(ctx, settlePoll); err != nil {
			return err
		}
	}
}

// stoodDown says that the daemon ended because the installation is unfinished.
func stoodDown(u host.UnitState) bool { return u.Result == "success" && u.ExecMainStatus == StoodDown }

func (u Upgrade) fell(ctx context.Context, state host.UnitState) error {
	lines, err := u.Interpreter.Host.Units.Log(ctx, delivery.DaemonUnit, 5)
	if err != nil {
		lines = nil // the log only explains
	}
	what := fmt.Sprintf("does not stay up: %s (%s), result %q, exit status %d", state.ActiveState, state.SubState, state.Result, state.ExecMainStatus)
	return &thing.UnitError{Unit: delivery.DaemonUnit, What: what, State: state, Log: lines}
}

// back points the current link at the last good program and starts the daemon.
func (u Upgrade) back(ctx context.Context, prefix string) error {
	h := u.Interpreter.Host
	good, err := delivery.SlotOf(h.Files, prefix, delivery.LastGood(prefix))
	if err == nil && good == "" {
		err = fmt.Errorf("%s leads to no slot", delivery.LastGood(prefix))
	}
	if err == nil {
		err = delivery.Point(h.Files, delivery.Current(prefix), good)
	}
	if err == nil {
		err = again(ctx, h)
	}
	if errors.Is(err, host.ErrNoManager) {
		return nil
	}
	return err
}

// NothingBackError says why there was no going back.
type NothingBackError struct{ Why string }

func (e *NothingBackError) Error() string { return "the interpreter was left as it is: " + e.Why }

// RollBack goes back to the last good interpreter. It is what the recovery unit
// does when the daemon fails again and again: it never waits for the lock, which
// the one that fails may hold. An installation that is not complete is no reason
// to go back, and neither is a program that is the last good one itself, nor, in
// the recovery unit, a daemon that was only started too often: all are a
// *NothingBackError.
func (u Upgrade) RollBack(ctx context.Context) (slot string, err error) {
	i, err := u.Interpreter.Standing(ctx)
	if err != nil {
		return "", err
	}
	if i.Phase != string(record.Complete) {
		return "", &NothingBackError{"the installation is " + i.Phase + ", not complete"}
	}
	if byHand, err := u.startedTooOften(ctx); err != nil || byHand {
		return "", cmp.Or[error](err, &NothingBackError{"the daemon did not fail, it was started too often; run hostler ensure"})
	}
	f, prefix := u.Interpreter.Host.Files, record.InstallPrefix(i.Prefix)
	good, err := delivery.SlotOf(f, prefix, delivery.LastGood(prefix))
	if err != nil {
		return "", err
	}
	usable, err := delivery.Usable(f, delivery.LastGood(prefix))
	if err != nil {
		return "", err
	}
	if good == "" || !usable {
		return "", &NothingBackError{delivery.LastGood(prefix) + " leads to no program in a slot"}
	}
	if current, err := delivery.SlotOf(f, prefix, delivery.Current(prefix)); err != nil || current == good {
		if err != nil {
			return "", err
		}
		return "", &NothingBackError{"it is the last good one; the journal of " + delivery.DaemonUnit + " says why it fails"}
	}
	return good, u.back(ctx, prefix)
}

// startedTooOften says, to the recovery unit, that what hit the start limit were
// starts from outside: a daemon that ends again and again has restarts.
func (u Upgrade) startedTooOften(ctx context.Context) (bool, error) {
	if u.Interpreter.OwnUnit != delivery.RecoveryUnit {
		return false, nil
	}
	unit, err := u.Interpreter.Host.Units.Unit(ctx, delivery.DaemonUnit)
	return err == nil && unit.Result == "start-limit-hit" && unit.NRestarts == 0, err
}
