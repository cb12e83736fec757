package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/godbus/dbus/v5"
)

// Where the buses of the host listen.
const (
	privateBus = "/run/systemd/private"
	systemBus  = "/run/dbus/system_bus_socket"
)

// answerTime bounds how long a bus may take to authenticate a client.
const answerTime = 10 * time.Second

// dialHost connects to the manager of the host: as root on its private socket,
// which works before and without a D-Bus daemon, else on the system bus.
func dialHost(ctx context.Context) (*dbus.Conn, error) {
	if os.Geteuid() != 0 {
		return dialSocket(ctx, systemBus, bySystemBus)
	}
	conn, err := dialSocket(ctx, privateBus, direct)
	if err == nil {
		return conn, nil
	}
	conn, busErr := dialSocket(ctx, systemBus, bySystemBus)
	if busErr != nil {
		return nil, errors.Join(err, busErr)
	}
	return conn, nil
}

// greeting says what is at the other end of a connection.
type greeting bool

// A message bus wants to be greeted; a service at the end of its own socket
// does not know how.
const (
	bySystemBus greeting = true
	direct      greeting = false
)

// dialSocket connects to a bus. ctx is the life of the connection.
func dialSocket(ctx context.Context, path string, g greeting) (*dbus.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	conn, err := dbus.Dial("unix:path="+path, dbus.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("bus %s: %w", path, err)
	}
	if err := introduce(conn, cancel, g); err != nil {
		return nil, fmt.Errorf("bus %s: %w", path, err)
	}
	return conn, nil
}

// introduce authenticates by the user id, which the kernel vouches for, and
// closes the connection when that does not succeed in time.
func introduce(conn *dbus.Conn, cancel func(), g greeting) error {
	timer := time.AfterFunc(answerTime, cancel)
	err := conn.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Geteuid()))})
	if err == nil && g == bySystemBus {
		err = conn.Hello()
	}
	if !timer.Stop() {
		err = errors.Join(err, fmt.Errorf("no answer within %s", answerTime))
	}
	if err != nil {
		cancel()
		_ = conn.Close() // why it failed is told already
	}
	return err
}
