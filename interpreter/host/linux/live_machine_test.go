//go:build e2e

package linux_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/hosttest"
)

// guest is the machine whose tree the lab has put into the host.
const guest = "m1"

const guestUnit = "systemd-nspawn@" + guest + ".service"

// startGuest boots the machine with these settings and waits until its manager
// answers. It is stopped when the test ends.
func startGuest(t *testing.T, h host.Host, settings string) host.Host {
	t.Helper()
	ok(t, h.Files.MkdirAll("/etc/systemd/nspawn", 0o755))
	ok(t, host.Replace(h.Files, "/etc/systemd/nspawn/"+guest+".nspawn", host.Content{Bytes: []byte(settings), Mode: 0o644}))
	ok(t, h.Units.Run(within(t, time.Minute), host.JobStart, guestUnit))
	t.Cleanup(func() {
		shell(t, "machinectl kill -s KILL "+guest+" 2>/dev/null || true; systemctl stop "+guestUnit+"; systemctl reset-failed")
	})
	var in host.Host
	eventually(t, "the machine's manager answers", func() bool {
		var err error
		if in, err = h.Machines.Host(t.Context(), guest); err != nil || !in.Identity.Live {
			return false
		}
		m, err := in.Units.Manager(t.Context())
		return err == nil && (m.State == "running" || m.State == "degraded")
	})
	return in
}

const sharedNetwork = "[Exec]\nPrivateUsers=no\n[Network]\nVirtualEthernet=no\n"

func liveMachine(t *testing.T) {
	h := openHost(t)
	before, err := h.Machines.Host(t.Context(), guest)
	ok(t, err)
	if _, err := before.Units.Manager(t.Context()); before.Identity.Live || !errors.Is(err, host.ErrNoManager) {
		t.Errorf("before the boot the machine is %+v, its manager %v", before.Identity, err)
	}
	in := startGuest(t, h, sharedNetwork)
	if want := (host.Identity{Live: true, Root: "/", Machine: guest, Privileged: true}); in.Identity != want {
		t.Errorf("the machine is %+v, want %+v", in.Identity, want)
	}
	for name, run := range map[string]func(t *testing.T, h, in host.Host){
		"registered":       registered,
		"files":            guestFiles,
		"storage":          guestStorage,
		"kernel":           guestKernelCases,
		"listeners":        guestListeners,
		"same host again":  sameHost,
		"links stay in":    escapingSocket,
		"a machine inside": machineInside,
		"leftovers":        sweptUnits,
	} {
		t.Run(name, func(t *testing.T) { run(t, h, in) })
	}
	t.Run("commands", func(t *testing.T) { commandCases(t, in) })
	t.Run("units", func(t *testing.T) { hosttest.Units(t, func(*testing.T) host.Host { return in }) })
	t.Run("log", func(t *testing.T) { unitLogInside(t, in) })
	t.Run("terminate", func(t *testing.T) { terminate(t, h, in) })
}

func find(t *testing.T, h host.Host, name string) (host.MachineState, bool) {
	t.Helper()
	all, err := h.Machines.Registered(t.Context())
	ok(t, err)
	i := slices.IndexFunc(all, func(m host.MachineState) bool { return m.Name == name })
	if i < 0 {
		return host.MachineState{}, false
	}
	return all[i], true
}

func registered(t *testing.T, h, _ host.Host) {
	m, found := find(t, h, guest)
	leader, err := strconv.Atoi(shell(t, "machinectl show -p Leader --value "+guest))
	ok(t, err)
	want := host.MachineState{Name: guest, Class: "container", Service: "systemd-nspawn", Unit: guestUnit,
		Root: host.MachineRoot(guest), Leader: leader, State: "running", Alive: true}
	if !found || m != want {
		t.Errorf("the machine is %+v, want %+v", m, want)
	}
}

func listener(t *testing.T, n host.Network, address string) host.ListenerState {
	t.Helper()
	all, err := n.Listeners(t.Context())
	ok(t, err)
	i := slices.IndexFunc(all, func(l host.ListenerState) bool { return l.Address == address })
	if i < 0 {
		t.Fatalf("%s is not among %+v", address, all)
	}
	return all[i]
}

func sameHost(t *testing.T, h, in host.Host) {
	again, err := h.Machines.Host(t.Context(), guest)
	ok(t, err)
	view, err := h.Machines.View(t.Context(), guest)
	ok(t, err)
	if again.Files != in.Files || view.Files != host.FileView(in.Files) {
		t.Error("a machine that runs on is opened again")
	}
}

// escapingSocket: a machine whose bus is a link to the host's cannot hand us
// the host's manager for its own.
func escapingSocket(t *testing.T, h, in host.Host) {
	ctx := t.Context()
	const socket = "/run/dbus/system_bus_socket"
	ok(t, in.Files.Rename(socket, socket+".kept"))
	ok(t, in.Files.Rename("/run/dbus", "/run/dbus.kept"))
	ok(t, in.Files.SymlinkIfPossible("/run/dbus", "/run/dbus"))
	fresh := openHost(t)
	other, err := fresh.Machines.Host(ctx, guest)
	ok(t, err)
	if m, err := other.Units.Manager(ctx); err == nil {
		t.Errorf("a manager answers: %+v", m)
	}
	ok(t, in.Files.Remove("/run/dbus"))
	ok(t, in.Files.Rename("/run/dbus.kept", "/run/dbus"))
	ok(t, in.Files.Rename(socket+".kept", socket))
	_, err = other.Units.Manager(ctx)
	ok(t, err)
}

func machineInside(t *testing.T, _, in host.Host) {
	if _, err := in.Machines.Registered(t.Context()); !errors.Is(err, host.ErrNoMachined) {
		t.Errorf("Registered inside: %v", err)
	}
	_, hostErr := in.Machines.Host(t.Context(), "m2")
	_, viewErr := in.Machines.View(t.Context(), "m2")
	if !errors.Is(hostErr, host.ErrNoMachine) || !errors.Is(viewErr, host.ErrNoMachine) {
		t.Errorf("a machine inside: %v and %v", hostErr, viewErr)
	}
	if err := in.Machines.Terminate(t.Context(), "m2"); !errors.Is(err, host.ErrNoMachined) {
		t.Errorf("Terminate inside: %v", err)
	}
}

// sweptUnits: what a process left that died while its command ran is removed
// by the next.
func sweptUnits(t *testing.T, _, in host.Host) {
	const left = "hostler-command-4194303-left.service"
	shell(t, "systemd-run --quiet --machine="+guest+" --unit="+left+" sleep 1000")
	_, err := in.Commands.Run(t.Context(), host.Command{Argv: []string{"true"}})
	ok(t, err)
	if units := shell(t, "systemctl --machine="+guest+" list-units --all --plain --no-legend 'hostler-command-*'"); units != "" {
		t.Errorf("left are the units\n%s", units)
	}
}

// unitLogInside: the program lives on for a moment, so that the journal can tell
// which unit it is of.
func unitLogInside(t *testing.T, in host.Host) {
	unitFile(t, in, "x-log.service", "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo said inside; sleep 0.5; exit 3'\n")
	jobError(t, in.Units.Run(t.Context(), host.JobStart, "x-log.service"), "failed")
	log, err := in.Units.Log(t.Context(), "x-log.service", 10)
	if err != nil || !slices.Contains(log, "said inside") {
		t.Errorf("the log is %q (%v)", log, err)
	}
}

func terminate(t *testing.T, h, in host.Host) {
	ctx := t.Context()
	ok(t, h.Machines.Terminate(ctx, guest))
	eventually(t, "the machine is gone", func() bool { _, found := find(t, h, guest); return !found })
	eventually(t, "its unit is inactive", func() bool {
		u, err := h.Units.Unit(ctx, guestUnit)
		return err == nil && !u.Running()
	})
	ok(t, h.Machines.Terminate(ctx, guest))
	for what, err := range map[string]error{
		"a command": func() error { _, err := in.Commands.Run(ctx, host.Command{Argv: []string{"true"}}); return err }(),
		"a unit":    func() error { _, err := in.Units.Unit(ctx, "x.service"); return err }(),
	} {
		if err == nil {
			t.Errorf("%s of a machine that has ended succeeds", what)
		}
	}
	rest, err := h.Machines.Host(ctx, guest)
	ok(t, err)
	if rest.Identity.Live || rest.Identity.Machine != guest {
		t.Errorf("afterwards the machine is %+v", rest.Identity)
	}
	if _, err := rest.Files.Stat("/etc/made-inside"); err != nil {
		t.Errorf("what was written is gone: %v", err)
	}
}
