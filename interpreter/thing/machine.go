package thing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hostler/interpreter/host"
)

// MachineUnit is the unit that runs a machine.
func MachineUnit(name string) string { return "systemd-nspawn@" + name + ".service" }

// FindMachine looks for a machine among those that are registered. Where no
// manager runs there are none; an inventory that cannot be had is an error.
func FindMachine(ctx context.Context, v host.MachineView, name string) (found host.MachineState, registered bool, err error) {
	all, err := v.Registered(ctx)
	switch {
	case errors.Is(err, host.ErrNoManager):
		return found, false, nil
	case errors.Is(err, host.ErrNoMachined):
		return found, false, fmt.Errorf("machine %s: %w; it comes with the package systemd-container, or on an image-managed host with a system extension", name, err)
	}
	if err != nil {
		return found, false, fmt.Errorf("machine %s: the registered machines cannot be listed: %w", name, err)
	}
	for _, m := range all {
		if m.Name == name {
			return m, true, nil
		}
	}
	return found, false, nil
}

// How long a machine may take to go away: first by the stop of its unit, then
// after it was terminated.
const (
	machinePoll      = 500 * time.Millisecond
	machineStopWait  = 30 * time.Second
	machineTermWait  = 15 * time.Second
	machineTermTries = 2
)

// StopMachine stops a machine by its unit and waits until the unit is inactive
// and the registration gone; a machine that does not go is terminated, twice.
// Without an error nothing of it runs and its tree may be removed. Where
// machined or a manager is missing, no machine is registered. A unit that failed
// is not left so.
func StopMachine(ctx context.Context, h host.Host, name string) error {
	if err := stopMachine(ctx, h, name); err != nil {
		return err
	}
	_ = ForgetFailure(ctx, h.Units, MachineUnit(name)) // what it stopped is known to be gone
	return ctx.Err()
}

func stopMachine(ctx context.Context, h host.Host, name string) error {
	w := machineWait{h, name}
	gone, err := w.gone(ctx)
	if err != nil || gone {
		return err
	}
	if err := h.Units.Queue(ctx, host.JobStop, MachineUnit(name)); err != nil && !errors.Is(err, host.ErrNoUnit) {
		return fmt.Errorf("machine %s: stop of %s: %w", name, MachineUnit(name), err)
	}
	if gone, err = w.wait(ctx, machineStopWait); err != nil || gone {
		return err
	}
	for range machineTermTries {
		if gone, err = w.terminate(ctx); err != nil || gone {
			return err
		}
	}
	return fmt.Errorf("machine %s does not go away: its unit was stopped and it was terminated %d times; look at systemctl status %s",
		name, machineTermTries, MachineUnit(name))
}

// ClearStale takes away the registration of a machine that does not run any
// more, which keeps it from being started (systemd-machined was restarted, or
// the machine was killed from outside). A machine whose first process runs is
// never touched.
func ClearStale(ctx context.Context, h host.Host, name string) error {
	host.AskAgain(h.Machines)
	found, registered, err := FindMachine(ctx, h.Machines, name)
	if err != nil || !registered {
		return err
	}
	if found.Alive {
		return fmt.Errorf("machine %s is registered and runs: it is not terminated", name)
	}
	if err := ResetFailed(ctx, h.Units, MachineUnit(name)); err != nil {
		return err
	}
	gone, err := machineWait{h, name}.terminate(ctx)
	if err == nil && !gone {
		err = fmt.Errorf("machine %s: its stale registration does not go away", name)
	}
	return err
}

// machineWait waits for a machine to be gone.
type machineWait struct {
	host host.Host
	name string
}

func (w machineWait) terminate(ctx context.Context) (gone bool, err error) {
	if err := w.host.Machines.Terminate(ctx, w.name); err != nil && !errors.Is(err, host.ErrNoMachined) {
		return false, fmt.Errorf("machine %s: terminate: %w", w.name, err)
	}
	return w.wait(ctx, machineTermWait)
}

func (w machineWait) wait(ctx context.Context, limit time.Duration) (gone bool, err error) {
	for waited := time.Duration(0); ; waited += machinePoll {
		if gone, err = w.gone(ctx); err != nil || gone || waited >= limit {
			return gone, err
		}
		if err := w.host.Clock.Sleep(ctx, machinePoll); err != nil {
			return false, fmt.Errorf("machine %s: waiting for its end: %w", w.name, err)
		}
	}
}

func (w machineWait) gone(ctx context.Context) (bool, error) {
	u, err := w.host.Units.Unit(ctx, MachineUnit(w.name))
	if errors.Is(err, host.ErrNoManager) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("machine %s: state of %s: %w", w.name, MachineUnit(w.name), err)
	}
	host.AskAgain(w.host.Machines)
	_, registered, err := FindMachine(ctx, w.host.Machines, w.name)
	if errors.Is(err, host.ErrNoMachined) {
		registered, err = false, nil
	}
	// A stale registration alone goes by being terminated; a unit that never
	// ran is inactive.
	return err == nil && !registered && Stopped(u), err
}
