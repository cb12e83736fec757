package linux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	systemd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/offline"
)

// manager is the lasting connection to a service manager. It is opened when it
// is first needed, and anew when it was lost: a manager that executes itself
// again closes it.
type manager struct {
	// machine is "" for the host's.
	machine string
	dial    func(ctx context.Context) (*dbus.Conn, error)
	// running says whether there is a manager to connect to.
	running func() bool

	life context.Context
	end  context.CancelFunc

	mu   sync.Mutex
	conn *systemd.Conn
}

func newManager(machine string, dial func(context.Context) (*dbus.Conn, error), running func() bool) *manager {
	life, end := context.WithCancel(context.Background())
	return &manager{machine: machine, dial: dial, running: running, life: life, end: end}
}

// reconnectTime bounds how long a manager that was connected before may take
// to listen again.
const (
	reconnectTime  = 10 * time.Second
	reconnectPause = 50 * time.Millisecond
)

// connected returns the connection, which may be lost a moment later.
func (m *manager) connected(ctx context.Context) (*systemd.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !m.running() {
		return nil, host.ErrNoManager
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil && m.conn.Connected() {
		return m.conn, nil
	}
	patience := time.Duration(0)
	if m.conn != nil {
		m.conn.Close()
		patience = reconnectTime
	}
	conn, err := m.connect(ctx, patience)
	if err != nil {
		return nil, fmt.Errorf("the service manager%s cannot be reached: %w", m.of(), err)
	}
	m.conn = conn
	return conn, nil
}

// of is " of machine NAME" in error texts, "" for the host.
func (m *manager) of() string {
	if m.machine == "" {
		return ""
	}
	return " of machine " + m.machine
}

func (m *manager) connect(ctx context.Context, patience time.Duration) (*systemd.Conn, error) {
	began := offline.Clock{}.Monotonic()
	for {
		// It subscribes to the ends of jobs before it returns. Manager.Subscribe,
		// which would bring the signals of every unit, is not called: the
		// manager tells the ends of its jobs to the client that queued them.
		conn, err := systemd.NewConnection(m.once())
		if err == nil || (offline.Clock{}).Monotonic()-began >= patience {
			return conn, err
		}
		if sleeping := (offline.Clock{}).Sleep(ctx, reconnectPause); sleeping != nil {
			return nil, errors.Join(sleeping, err)
		}
	}
}

// once dials when it is called first. The library asks for two connections, one
// of them for signals; one does for both.
func (m *manager) once() func() (*dbus.Conn, error) {
	var conn *dbus.Conn
	return func() (_ *dbus.Conn, err error) {
		if conn == nil {
			conn, err = m.dial(m.life)
		}
		return conn, err
	}
}

// callTime bounds a question to the manager: as long as systemctl waits.
// Reading all unit files again may take longer on a busy host.
const (
	callTime   = 90 * time.Second
	reloadTime = 5 * time.Minute
)

// ask runs one exchange with the manager, once more when the connection was
// lost under it.
func ask[T any](ctx context.Context, m *manager, limit time.Duration, do func(context.Context, *systemd.Conn) (T, error)) (T, error) {
	ctx, end := context.WithTimeout(ctx, limit)
	defer end()
	for again := true; ; again = false {
		conn, err := m.connected(ctx)
		if err != nil {
			var none T
			return none, err
		}
		answer, err := do(ctx, conn)
		if disconnected(err) {
			conn.Close()
		}
		if err == nil || !again || ctx.Err() != nil || conn.Connected() {
			return answer, err
		}
	}
}

// disconnected says whether err is that the connection is gone, which is seen
// by who writes to it before the connection itself knows.
func disconnected(err error) bool {
	for _, gone := range []error{dbus.ErrClosed, net.ErrClosed, io.EOF, unix.EPIPE, unix.ECONNRESET} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

func (m *manager) close() error {
	m.end()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil {
		m.conn.Close()
	}
	return nil
}

// refusedAs says whether err is a refusal by D-Bus with one of the names.
func refusedAs(err error, names ...string) bool {
	refusal, ok := errors.AsType[dbus.Error](err)
	if !ok {
		return false
	}
	for _, name := range names {
		if refusal.Name == name {
			return true
		}
	}
	return false
}

// The names of refusals that mean something here.
const (
	noSuchUnit     = "org.freedesktop.systemd1.NoSuchUnit"
	noSuchMachine  = "org.freedesktop.machine1.NoSuchMachine"
	accessDenied   = "org.freedesktop.DBus.Error.AccessDenied"
	interactive    = "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"
	serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
	nameHasNoOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
	unknownObject  = "org.freedesktop.DBus.Error.UnknownObject"
)
