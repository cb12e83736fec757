package thing_test

import (
	"context"
	"errors"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

func machineHost(offline, noContainer bool) (*memory.Memory, host.Host) {
	m := memory.New(memory.Options{Offline: offline, NoSystemdContainer: noContainer})
	return m, m.Host()
}

// TestMachineAbsent: where there is no manager, no machined or no such machine
// there is nothing to stop; only teardown takes a missing machined for "none".
func TestMachineAbsent(t *testing.T) {
	ctx := context.Background()
	for name, offline := range map[string]bool{"offline": true, "live": false} {
		_, h := machineHost(offline, false)
		if _, registered, err := thing.FindMachine(ctx, h.Machines, "m"); registered || err != nil {
			t.Errorf("%s: %v %v", name, registered, err)
		}
		if err := errors.Join(thing.StopMachine(ctx, h, "m"), thing.ClearStale(ctx, h, "m")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, h := machineHost(false, true)
	if _, _, err := thing.FindMachine(ctx, h.Machines, "m"); !errors.Is(err, host.ErrNoMachined) {
		t.Errorf("without machined: %v", err)
	}
	if err := thing.StopMachine(ctx, h, "m"); err != nil {
		t.Errorf("stop without machined: %v", err)
	}
}

// TestR130MachineGone: after StopMachine nothing of it is left, stale or
// living; a living one is never taken for stale.
func TestR130MachineGone(t *testing.T) {
	ctx := context.Background()
	for _, stale := range []bool{false, true} {
		m := memory.New(memory.Options{Machines: []memory.Machine{{Name: "m", Running: true}}})
		h := m.Host()
		if err := thing.ClearStale(ctx, h, "m"); err == nil {
			t.Error("a living machine is terminated")
		}
		if stale {
			m.KillMachine("m", true)
		}
		if err := thing.StopMachine(ctx, h, "m"); err != nil {
			t.Fatal(err)
		}
		if _, registered, err := thing.FindMachine(ctx, h.Machines, "m"); registered || err != nil {
			t.Errorf("stale %v: %v %v", stale, registered, err)
		}
		if u, err := h.Units.Unit(ctx, thing.MachineUnit("m")); err != nil || !thing.Stopped(u) {
			t.Errorf("stale %v: unit %+v %v", stale, u, err)
		}
	}
}

func TestMachineInventoryFails(t *testing.T) {
	ctx := context.Background()
	m := memory.New(memory.Options{Machines: []memory.Machine{{Name: "m", Running: true}}})
	broken := errors.New("inventory broken")
	m.Refuse(memory.CallRegistered, broken)
	h := m.Host()
	_, _, err := thing.FindMachine(ctx, h.Machines, "m")
	if !errors.Is(err, broken) || !errors.Is(thing.StopMachine(ctx, h, "m"), broken) || !errors.Is(thing.ClearStale(ctx, h, "m"), broken) {
		t.Errorf("error %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	m.Refuse(memory.CallRegistered, nil)
	if err := thing.StopMachine(cancelled, h, "m"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestStopMachineLeavesNoFailure: a machine that could not be started, or was
// killed, does not stay behind as a failed unit.
func TestStopMachineLeavesNoFailure(t *testing.T) {
	ctx := context.Background()
	m := memory.New(memory.Options{Machines: []memory.Machine{{Name: "m", Running: true}}})
	h := m.Host()
	m.KillMachine("m", false)
	unit := thing.MachineUnit("m")
	if u, err := h.Units.Unit(ctx, unit); err != nil || u.ActiveState != "failed" {
		t.Fatalf("unit %+v %v", u, err)
	}
	if err := thing.StopMachine(ctx, h, "m"); err != nil {
		t.Fatal(err)
	}
	if u, err := h.Units.Unit(ctx, unit); err != nil || u.ActiveState != "inactive" {
		t.Errorf("unit %+v %v", u, err)
	}
}
