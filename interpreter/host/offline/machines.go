package offline

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

// machines are the trees below /var/lib/machines. Each is opened once.
type machines struct {
	files *treefs.FS
	mu    sync.Mutex
	open  map[string]host.Host
}

// Registered is host.ErrNoManager: nothing runs.
func (m *machines) Registered(context.Context) ([]host.MachineState, error) {
	return nil, host.ErrNoManager
}

// Terminate is host.ErrNoManager: nothing runs.
func (m *machines) Terminate(context.Context, string) error { return host.ErrNoManager }

// View is the reading half of [machines.Host].
func (m *machines) View(ctx context.Context, name string) (host.View, error) {
	h, err := m.Host(ctx, name)
	if err != nil {
		return host.View{}, err
	}
	return h.View(), nil
}

// Host is the tree of the machine at rest, its root as "/".
func (m *machines) Host(_ context.Context, name string) (host.Host, error) {
	if !host.ValidMachineName(name) {
		return host.Host{}, fmt.Errorf("machine %q: %w: that is no machine name", name, host.ErrNoMachine)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if h, ok := m.open[name]; ok && m.same(name, h) {
		return h, nil
	}
	tree, err := m.files.Sub(host.MachineRoot(name))
	if host.Absent(err) {
		return host.Host{}, fmt.Errorf("machine %s: %w", name, host.ErrNoMachine)
	}
	if err != nil {
		return host.Host{}, fmt.Errorf("machine %s: %w", name, err)
	}
	root, err := m.files.RealDir(host.MachineRoot(name))
	if err != nil {
		return host.Host{}, errors.Join(err, tree.Close())
	}
	return m.keep(name, over(tree, root, name)), nil
}

// same says whether h still stands on what is at the machine's root: a tree
// may have been removed and made anew.
func (m *machines) same(name string, h host.Host) bool {
	now, err := m.files.Stat(host.MachineRoot(name))
	if err != nil {
		return false
	}
	then, err := h.Files.Stat("/")
	return err == nil && host.StatOf(now).Ino == host.StatOf(then).Ino && host.StatOf(now).Dev == host.StatOf(then).Dev
}

// keep remembers h in the place of an older tree, which stays open for who
// still uses it.
func (m *machines) keep(name string, h host.Host) host.Host {
	if m.open == nil {
		m.open = map[string]host.Host{}
	}
	m.open[name] = h
	return h
}

func (m *machines) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for _, h := range m.open {
		errs = append(errs, Close(h))
	}
	m.open = nil
	return errors.Join(errs...)
}
