package memory

import (
	"context"
	"fmt"

	"hostler/interpreter/host"
)

// machineDoor is the machine door of the host; inside a machine there is no
// machined.
type machineDoor struct {
	m      *Memory
	inside string
}

var _ host.Machines = machineDoor{}

func (d machineDoor) ready(ctx context.Context, call Call) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case d.m.system == nil:
		return host.ErrNoManager
	case d.m.opts.NoSystemdContainer, d.inside != "":
		return host.ErrNoMachined
	}
	return d.m.refused[call]
}

// Registered lists machines, stale registrations too.
func (d machineDoor) Registered(ctx context.Context) ([]host.MachineState, error) {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if err := d.ready(ctx, CallRegistered); err != nil {
		return nil, err
	}
	var list []host.MachineState
	for _, name := range sortedKeys(d.m.machines) {
		mc := d.m.machines[name]
		list = append(list, host.MachineState{Name: name, Class: "container", Service: "systemd-nspawn",
			Unit: mc.unit.def.name, Root: host.MachineRoot(name), Leader: mc.leader, State: mc.state, Alive: mc.alive})
	}
	return list, nil
}

// Host is the inside of a machine, running or at rest.
func (d machineDoor) Host(ctx context.Context, name string) (host.Host, error) {
	if err := ctx.Err(); err != nil {
		return host.Host{}, err
	}
	if d.inside != "" || !host.ValidMachineName(name) || !isDirectory(d.m.admin, host.MachineRoot(name)) {
		return host.Host{}, fmt.Errorf("machine %q: %w", name, host.ErrNoMachine)
	}
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	return d.m.inside(name), nil
}

// View is the reading half of Host.
func (d machineDoor) View(ctx context.Context, name string) (host.View, error) {
	h, err := d.Host(ctx, name)
	if err != nil {
		return host.View{}, err
	}
	return h.View(), nil
}

// Terminate kills a machine; it is gone a little later.
func (d machineDoor) Terminate(ctx context.Context, name string) error {
	d.m.count("machines")
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if err := d.ready(ctx, CallTerminate); err != nil {
		return err
	}
	mc := d.m.machines[name]
	if mc == nil {
		return nil
	}
	mc.state = "closing"
	d.m.after(terminateTime, func() {
		if d.m.machines[name] != mc {
			return
		}
		if !mc.alive {
			delete(d.m.machines, name)
			return
		}
		if _, err := mc.unit.s.enqueue(host.JobStop, mc.unit); err == nil {
			mc.unit.s.dispatch()
		}
	})
	return nil
}
