package linux

import (
	"context"
	"fmt"

	systemd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

const (
	managerName = "org.freedesktop.systemd1"
	managerPath = "/org/freedesktop/systemd1"
	unitIface   = managerName + ".Unit"
	changedName = "org.freedesktop.DBus.Properties.PropertiesChanged"
)

// units reports when one of the units has come to rest in another state than
// before: active, inactive or failed.
func (w *watch) units(units []string) error {
	if len(units) == 0 || !booted() {
		return nil
	}
	conn, bus, err := dialSignals(w.ctx)
	if err != nil {
		return err
	}
	return w.signals(conn, bus, hostPlace{}, units)
}

// signals listens on a connection to a manager, or to a bus that it is on.
func (w *watch) signals(conn *dbus.Conn, bus bool, at place, units []string) error {
	names := map[dbus.ObjectPath]string{}
	for _, unit := range units {
		names[dbus.ObjectPath(managerPath+"/unit/"+systemd.PathBusEscape(unit))] = at.label("unit " + unit)
	}
	signals := make(chan *dbus.Signal, 256)
	conn.Signal(signals)
	if err := subscribe(w.ctx, conn, bus, names); err != nil {
		_ = conn.Close() // why it failed is told already
		return err
	}
	w.group.Go(func() {
		defer w.cancel()
		defer conn.Close()
		follow(w.ctx, signals, names, w.changes)
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
			return fmt.Errorf("watch %s: %w", names[name], err)
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
				report(changes, unit)
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
