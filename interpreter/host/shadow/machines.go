package shadow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hostler/interpreter/host"
)

// machines is the machine door.
type machines struct{ w *world }

// Registered lists the machines of the base and those of the shadow.
func (m *machines) Registered(ctx context.Context) ([]host.MachineState, error) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return m.w.registered(ctx)
}

func (w *world) registered(ctx context.Context) ([]host.MachineState, error) {
	v, err := w.live(ctx)
	if err != nil {
		return nil, err
	}
	all, err := v.Machines.Registered(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(m host.MachineState) bool {
		g := w.guests[m.Name]
		return g != nil && g.cond != asBase
	})
	for name, g := range w.guests {
		if g.cond == started {
			all = append(all, machineState(name))
		}
	}
	slices.SortFunc(all, func(a, b host.MachineState) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// machineState is that of a machine that the shadow started. It has no first
// process.
func machineState(name string) host.MachineState {
	return host.MachineState{
		Name: name, Class: "container", Service: "systemd-nspawn", Unit: machineUnit(name),
		Root: host.MachineRoot(name), State: "running", Alive: true,
	}
}

const unitPrefix, unitSuffix = "systemd-nspawn@", ".service"

func machineUnit(name string) string { return unitPrefix + name + unitSuffix }

// machineOf is the machine that a unit runs, "" if it runs none.
func machineOf(unit string) string {
	name, ok := strings.CutPrefix(unit, unitPrefix)
	if !ok || !strings.HasSuffix(name, unitSuffix) {
		return ""
	}
	return strings.TrimSuffix(name, unitSuffix)
}

// View is the inside of the machine name.
func (m *machines) View(ctx context.Context, name string) (host.View, error) {
	h, err := m.Host(ctx, name)
	return h.View(), err
}

// Host is the inside of the machine name. Its files are the shadow's own below
// host.MachineRoot.
func (m *machines) Host(ctx context.Context, name string) (host.Host, error) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	if !host.ValidMachineName(name) {
		return host.Host{}, fmt.Errorf("machine %q: %w", name, host.ErrNoMachine)
	}
	_, err := m.w.files.Stat(host.MachineRoot(name))
	if host.Absent(err) {
		return host.Host{}, fmt.Errorf("machine %s has no tree at %s: %w", name, host.MachineRoot(name), host.ErrNoMachine)
	}
	if err != nil && !errors.Is(err, host.ErrUnknown) {
		return host.Host{}, err
	}
	g := m.w.guest(name)
	if v, err := g.live(ctx); err == nil {
		g.identity = v.Identity
		g.files.see(ctx, v)
	}
	return g.host(), nil
}

// Terminate takes a registration away.
func (m *machines) Terminate(ctx context.Context, name string) error {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	all, err := m.w.registered(ctx)
	if err != nil {
		return err
	}
	m.w.log.note("terminate", name)
	for _, r := range all {
		if r.Name == name {
			m.w.end(ctx, r.Unit)
			m.w.guest(name).become(stopped)
		}
	}
	return nil
}

// end makes a unit inactive, if there is one of that name.
func (w *world) end(ctx context.Context, name string) {
	if u, err := w.unit(ctx, name); err == nil && u.state.Running() {
		u.stop()
	}
}
