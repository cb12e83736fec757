package linux

import (
	"context"
	"fmt"
	"sync"

	systemd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

const (
	managerName = "org.freedesktop.systemd1"
	managerPath = "/org/freedesktop/systemd1"
	unitIface   = managerName + ".Unit"
	changedName = "org.freedesktop.DBus.Properties.PropertiesChanged"
)

// watchUnits reports when one of the units has come to rest in another state
// than before: active, inactive or failed.
func watchUnits(ctx context.Context, cancel func(), group *sync.WaitGroup, units []string, changes chan<- string) error {
	if len(units) == 0 || !booted() {
		return nil
	}
	conn, bus, err := dialSignals(ctx)
	if err != nil {
		return err
	}
	names := map[dbus.ObjectPath]string{}
	for _, unit := range units {
		names[dbus.ObjectPath(managerPath+"/unit/"+systemd.PathBusEscape(unit))] = unit
	}
	signals := make(chan *dbus.Signal, 256)
	conn.Signal(signals)
	if err := subscribe(ctx, conn, bus, names); err != nil {
		_ = conn.Close() // why it failed is told already
		return err
	}
	group.Go(func() {
		defer cancel()
		defer conn.Close()
		follow(ctx, signals, names, changes)
	})
	return nil
}

// dialSignals connects to the system bus, which passes on only what is asked
// for, or where there is none to the manager itself.
func dialSignals(ctx context.Context) (conn *dbus.Conn, bus bool, err error) {
	if conn, err = dialSocket(ctx, systemBus, bySystemBus); err == nil {
		return conn, true, nil
	}
	conn, err = dialHost(ctx)
	return conn, false, err
}

func subscribe(ctx context.Context, conn *dbus.Conn, bus bool, names map[dbus.ObjectPath]string) error {
	for name := range names {
		if !bus {
			break
		}
		err := conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(managerName), dbus.WithMatchObjectPath(name),
			dbus.WithMatchInterface("org.freedesktop.DBus.Properties"), dbus.WithMatchMember("PropertiesChanged"), dbus.WithMatchArg(0, unitIface))
		if err != nil {
			return fmt.Errorf("watch unit %s: %w", names[name], err)
		}
	}
	call := conn.Object(managerName, managerPath).CallWithContext(ctx, managerName+".Manager.Subscribe", 0)
	if call.Err != nil {
		return fmt.Errorf("watch units: %w", call.Err)
	}
	return nil
}

// follow reports until ctx or the connection ends.
func follow(ctx context.Context, signals <-chan *dbus.Signal, names map[dbus.ObjectPath]string, changes chan<- string) {
	last := map[string]string{}
	for {
		select {
		case <-ctx.Done():
			return
		case s, ok := <-signals:
			if !ok {
				return
			}
			unit, state := rested(s, names)
			if unit != "" && last[unit] != state {
				last[unit] = state
				report(changes, "unit "+unit)
			}
		}
	}
}

// rested is the unit and its state when the signal says that one of ours has
// come to rest.
func rested(s *dbus.Signal, names map[dbus.ObjectPath]string) (unit, state string) {
	if s.Name != changedName || len(s.Body) < 2 || names[s.Path] == "" {
		return "", ""
	}
	if iface, _ := s.Body[0].(string); iface != unitIface {
		return "", ""
	}
	props, _ := s.Body[1].(map[string]dbus.Variant)
	state, _ = props["ActiveState"].Value().(string)
	switch state {
	case "active", "inactive", "failed":
		return names[s.Path], state
	}
	return "", ""
}
