package linux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// bus is the lasting connection to a message bus, opened when it is first
// needed and anew when it was lost.
type bus struct {
	path string
	mu   sync.Mutex
	conn *dbus.Conn
}

func (b *bus) connected() (*dbus.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn != nil && b.conn.Connected() {
		return b.conn, nil
	}
	conn, err := dialSocket(context.Background(), b.path, bySystemBus)
	if err != nil {
		return nil, err
	}
	b.conn = conn
	return conn, nil
}

func (b *bus) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn == nil {
		return nil
	}
	return b.conn.Close()
}

// machinedTime bounds a question to machined, which may have to be started for
// it first.
const machinedTime = 30 * time.Second

// The interfaces of machined, see org.freedesktop.machine1(5).
const (
	machinedName     = "org.freedesktop.machine1"
	machinedPath     = "/org/freedesktop/machine1"
	machinedManager  = "org.freedesktop.machine1.Manager."
	machinedMachine  = "org.freedesktop.machine1.Machine"
	propertiesGetAll = "org.freedesktop.DBus.Properties.GetAll"
)

// machined talks to systemd-machined.
type machined struct {
	bus     *bus
	manager *manager
}

// query is a method call.
type query struct {
	path   dbus.ObjectPath
	method string
	args   []any
}

// call asks machined and stores its answer; once more when the connection was
// lost under it.
func (m machined) call(ctx context.Context, q query, answer ...any) error {
	if !m.manager.running() {
		return host.ErrNoMachined
	}
	ctx, end := context.WithTimeout(ctx, machinedTime)
	defer end()
	for again := true; ; again = false {
		conn, err := m.bus.connected()
		if err != nil {
			return m.unreachable(ctx, err)
		}
		err = conn.Object(machinedName, q.path).CallWithContext(ctx, q.method, 0, q.args...).Store(answer...)
		if disconnected(err) {
			_ = conn.Close() // it is gone already
		}
		switch {
		case refusedAs(err, serviceUnknown, nameHasNoOwner, noSuchUnit):
			return fmt.Errorf("%w: %w", host.ErrNoMachined, err)
		case err == nil || !again || ctx.Err() != nil || conn.Connected():
			return err
		}
	}
}

// unreachable tells a host without a D-Bus daemon, on which machined cannot
// have registered anything, from one whose daemon fails.
func (m machined) unreachable(ctx context.Context, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		u, unitErr := units{manager: m.manager}.Unit(ctx, "systemd-machined.service")
		if unitErr == nil && u.LoadState == "not-found" {
			return fmt.Errorf("%w: %w", host.ErrNoMachined, err)
		}
	}
	return err
}

// list lists the registered machines.
func (m machined) list(ctx context.Context) ([]host.MachineState, error) {
	var listed []struct {
		Name, Class, Service string
		Path                 dbus.ObjectPath
	}
	if err := m.call(ctx, query{path: machinedPath, method: machinedManager + "ListMachines"}, &listed); err != nil {
		return nil, err
	}
	var states []host.MachineState
	for _, l := range listed {
		if l.Name == ".host" || l.Class == "host" {
			continue
		}
		state, registered, err := m.describe(ctx, l.Path)
		if err != nil {
			return nil, err
		}
		if registered {
			states = append(states, state)
		}
	}
	return states, nil
}

// find looks for one machine.
func (m machined) find(ctx context.Context, name string) (state host.MachineState, registered bool, err error) {
	var path dbus.ObjectPath
	err = m.call(ctx, query{machinedPath, machinedManager + "GetMachine", []any{name}}, &path)
	if refusedAs(err, noSuchMachine) {
		return state, false, nil
	}
	if err != nil {
		return state, false, err
	}
	return m.describe(ctx, path)
}

// describe is not registered when the machine went away meanwhile.
func (m machined) describe(ctx context.Context, path dbus.ObjectPath) (state host.MachineState, registered bool, err error) {
	var all map[string]dbus.Variant
	err = m.call(ctx, query{path, propertiesGetAll, []any{machinedMachine}}, &all)
	if refusedAs(err, noSuchMachine, unknownObject) {
		return state, false, nil
	}
	if err != nil {
		return state, false, err
	}
	p := properties{}
	for name, v := range all {
		p[name] = v.Value()
	}
	return machineState(p), true, nil
}

func machineState(p properties) host.MachineState {
	leader := int(p.number("Leader"))
	return host.MachineState{
		Name: p.text("Name"), Class: p.text("Class"), Service: p.text("Service"), Unit: p.text("Unit"),
		Root: p.text("RootDirectory"), Leader: leader, State: p.text("State"),
		Alive: alive(leader, p.text("Class")),
	}
}

// alive says whether the leader of a machine runs: that a process has its id
// is not enough, as the id may have been given to another process since. The
// leader of a container is the first process of a namespace of its own.
func alive(leader int, class string) bool {
	if leader <= 0 {
		return false
	}
	dir := fmt.Sprintf("/proc/%d/", leader)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil || hasEnded(string(stat)) {
		return false // also for who may not look: alive is what is known to be
	}
	theirs, err := os.Readlink(dir + "ns/pid")
	if class != "container" || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		return true
	}
	ours, ownErr := os.Readlink("/proc/self/ns/pid")
	return err == nil && ownErr == nil && theirs != ours
}

// terminate takes a registration away and kills what is left. That there is
// none is no error.
//
// To machined it means to stop the machine's unit, which has been tried before
// and waits for a first process that may not listen. The stop comes first all
// the same: a unit that is killed without it is started again.
func (m machined) terminate(ctx context.Context, name string) error {
	err := m.call(ctx, query{machinedPath, machinedManager + "TerminateMachine", []any{name}})
	if refusedAs(err, noSuchMachine) {
		return nil
	}
	if err == nil {
		// Refused when it has gone meanwhile; whoever waits for its end will see.
		_ = m.call(ctx, query{machinedPath, machinedManager + "KillMachine", []any{name, "all", int32(unix.SIGKILL)}})
	}
	return err
}
