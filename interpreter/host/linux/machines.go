package linux

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"hostler/interpreter/host"
	"hostler/interpreter/host/offline"
	"hostler/interpreter/host/treefs"
)

// machines are the machines of the host. What is opened for one is kept until
// the machine is another: a tree that was made anew, a machine that was
// started again.
type machines struct {
	files   *treefs.FS
	bus     *bus
	manager *manager
	// host gives a machine the doors that are not its own.
	host host.Host

	mu   sync.Mutex
	open map[string]opened
	// past are those that were replaced. They stay open for who still uses
	// them.
	past []opened
}

// opened is the inside of a machine.
type opened struct {
	host   host.Host
	leader int
	same   func() bool // whether it still is what it was opened on
	close  func() error
}

var _ host.Machines = (*machines)(nil)

func (m *machines) machined() machined { return machined{m.bus, m.manager} }

// Registered asks machined, every time.
func (m *machines) Registered(ctx context.Context) ([]host.MachineState, error) {
	list, err := m.machined().list(ctx)
	return list, wrap("listing the registered machines", err)
}

// Terminate asks machined to end a machine.
func (m *machines) Terminate(ctx context.Context, name string) error {
	if !host.ValidMachineName(name) {
		return nil // none can be registered
	}
	return wrap("terminating machine "+name, m.machined().terminate(ctx, name))
}

// View is the reading half of Host.
func (m *machines) View(ctx context.Context, name string) (host.View, error) {
	h, err := m.Host(ctx, name)
	if err != nil {
		return host.View{}, err
	}
	return h.View(), nil
}

// Host is the inside of a machine: running, if it is registered and its first
// process lives, else its tree at rest.
func (m *machines) Host(ctx context.Context, name string) (host.Host, error) {
	if err := ctx.Err(); err != nil {
		return host.Host{}, err
	}
	if !host.ValidMachineName(name) {
		return host.Host{}, fmt.Errorf("machine %q: %w: that is no machine name", name, host.ErrNoMachine)
	}
	if h, ok := m.stillOpen(name); ok {
		return h, nil
	}
	state, registered, err := m.machined().find(ctx, name)
	if err != nil && !errors.Is(err, host.ErrNoMachined) {
		return host.Host{}, fmt.Errorf("machine %s: asking whether it is registered: %w", name, err)
	}
	switch {
	case !registered || !state.Alive:
		return m.get(name, 0, func() (opened, error) { return m.atRest(name) })
	case state.Class != "container":
		return host.Host{}, fmt.Errorf("machine %s is a %s; only containers can be worked in", name, state.Class)
	}
	return m.get(name, state.Leader, func() (opened, error) { return m.enter(name, state.Leader) })
}

// stillOpen returns the inside of a running machine that was opened and still
// runs: while its first process lives, no other machine has its name.
func (m *machines) stillOpen(name string) (host.Host, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	then, known := m.open[name]
	return then.host, known && then.leader != 0 && then.same()
}

// get returns what is open for a machine, or opens it. leader is 0 for a
// machine at rest.
func (m *machines) get(name string, leader int, open func() (opened, error)) (host.Host, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	then, known := m.open[name]
	if known && then.leader == leader && then.same() {
		return then.host, nil
	}
	now, err := open()
	if err != nil {
		return host.Host{}, err
	}
	if known {
		m.past = append(m.past, then)
	}
	if m.open == nil {
		m.open = map[string]opened{}
	}
	now.leader = leader
	m.open[name] = now
	return now.host, nil
}

// atRest opens the tree of a machine that does not run.
func (m *machines) atRest(name string) (opened, error) {
	root := host.MachineRoot(name)
	real, err := m.files.RealDir(root)
	if host.Absent(err) {
		return opened{}, fmt.Errorf("machine %s: %w", name, host.ErrNoMachine)
	}
	if err != nil {
		return opened{}, fmt.Errorf("machine %s: %w", name, err)
	}
	h, err := offline.Open(real)
	if err != nil {
		return opened{}, fmt.Errorf("machine %s: %w", name, err)
	}
	h.Identity.Machine = name
	same := func() bool {
		then, thenErr := h.Files.Stat("/")
		now, nowErr := m.files.Stat(root)
		return thenErr == nil && nowErr == nil && sameInode(host.StatOf(then), host.StatOf(now))
	}
	return opened{host: h, same: same, close: func() error { return offline.Close(h) }}, nil
}

func sameInode(a, b host.Stat) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

func (m *machines) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	errs := []error{m.bus.close()}
	for _, o := range m.open {
		errs = append(errs, o.close())
	}
	for _, o := range m.past {
		errs = append(errs, o.close())
	}
	m.open, m.past = nil, nil
	return errors.Join(errs...)
}
