//go:build e2e

package linux_test

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/host"
)

// userNamespaces: the users of the machine are not the host's, so its bus
// refuses us, and the fall-backs are taken.
func userNamespaces(t *testing.T) {
	h := openHost(t)
	in := startGuest(t, h, "[Exec]\nPrivateUsers=pick\n[Files]\nPrivateUsersOwnership=auto\n[Network]\nVirtualEthernet=yes\n")
	if shared := shell(t, "readlink /proc/self/ns/user") == shell(t, "readlink /proc/$(machinectl show -p Leader --value "+guest+")/ns/user"); shared {
		t.Fatal("the machine has the host's users")
	}
	t.Run("commands", func(t *testing.T) { commandCases(t, in) })
	t.Run("units", func(t *testing.T) {
		ok(t, in.Units.Run(within(t, time.Minute), host.JobRestart, "systemd-journald.service"))
		u, err := in.Units.Unit(t.Context(), "systemd-journald.service")
		if err != nil || u.ActiveState != "active" {
			t.Errorf("the unit is %+v (%v)", u, err)
		}
		if err := in.Units.Run(t.Context(), host.JobStart, "x-none.service"); !errors.Is(err, host.ErrNoUnit) {
			t.Errorf("a unit that is not there: %v", err)
		}
	})
	t.Run("network", func(t *testing.T) { privateNetwork(t, h, in) })
}

func privateNetwork(t *testing.T, h, in host.Host) {
	ctx := t.Context()
	links, err := in.Network.Links(ctx)
	ok(t, err)
	names := func(all []host.LinkState) (list []string) {
		for _, l := range all {
			list = append(list, l.Name)
		}
		return list
	}
	if !slices.Contains(names(links), "host0") {
		t.Errorf("the machine's links are %+v", links)
	}
	outer, err := h.Network.Links(ctx)
	ok(t, err)
	if slices.Contains(names(outer), "host0") || !slices.Contains(names(outer), "ve-"+guest) {
		t.Errorf("the host's links are %+v", outer)
	}
	ok(t, in.Kernel.SetSysctl(ctx, "net.ipv4.ip_forward", "1"))
	ok(t, h.Kernel.SetSysctl(ctx, "net.ipv4.ip_forward", "0"))
	if v, err := in.Kernel.Sysctl(ctx, "net.ipv4.ip_forward"); err != nil || v != "1" {
		t.Errorf("the machine's ip_forward is %q (%v)", v, err)
	}
	t.Run("listeners", func(t *testing.T) { privateListener(t, h, in) })
}

// privateListener: a program of the host that was started into the network of
// the machine listens there, is the host's still, and is reached from there.
func privateListener(t *testing.T, h, in host.Host) {
	const address = "127.0.0.1:18445"
	exe, err := os.Executable()
	ok(t, err)
	server := exec.Command("nsenter", "--net", "--target", shell(t, "machinectl show -p Leader --value "+guest), "--", exe)
	server.Env = []string{listenAddress + "=" + address}
	ok(t, server.Start())
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	want := host.ListenerState{Address: address, PID: server.Process.Pid, Root: "/", Exe: exe}
	eventually(t, "it listens", func() bool {
		all, err := in.Network.Listeners(t.Context())
		return err == nil && slices.Contains(all, want)
	})
	outer, err := h.Network.Listeners(t.Context())
	ok(t, err)
	if slices.ContainsFunc(outer, func(l host.ListenerState) bool { return l.Address == address }) {
		t.Error("the machine's listeners are the host's")
	}
	for where, n := range map[string]host.Network{"machine": in.Network, "host": h.Network} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address, nil)
		ok(t, err)
		res, err := n.Transport().RoundTrip(req)
		if (err == nil) != (where == "machine") {
			t.Errorf("asking from the %s: %v", where, err)
		}
		if err == nil && (res.StatusCode != http.StatusNoContent || res.Body.Close() != nil) {
			t.Errorf("from the %s the status is %d", where, res.StatusCode)
		}
	}
}

// staleMachine: C35.
func staleMachine(t *testing.T) {
	h := openHost(t)
	t.Run("killed", func(t *testing.T) { killedMachine(t, h) })
	t.Run("registration without a leader", func(t *testing.T) { leaderless(t, h) })
}

// leaderless: the first process of a machine is gone, its unit and with it the
// registration is not.
func leaderless(t *testing.T, h host.Host) {
	ctx := t.Context()
	shell(t, `systemd-run --quiet --unit=x-stale sh -c 'unshare --fork --pid sleep 1000 & sleep 2000'
until pgrep -x unshare >/dev/null && pgrep -P "$(pgrep -x unshare)" >/dev/null; do sleep 0.1; done
busctl call org.freedesktop.machine1 /org/freedesktop/machine1 org.freedesktop.machine1.Manager RegisterMachine sayssus x-stale 0 test container "$(pgrep -P "$(pgrep -x unshare)")" /srv`)
	t.Cleanup(func() { shell(t, "systemctl stop x-stale.service || true") })
	ok(t, h.Files.MkdirAll(host.MachineRoot("x-stale"), 0o755))
	m, found := find(t, h, "x-stale")
	if !found || !m.Alive || m.Root != "/srv" || m.Service != "test" || m.Unit != "x-stale.service" {
		t.Errorf("the machine is %+v", m)
	}
	if _, err := h.Machines.Host(ctx, "x-stale"); err == nil || !strings.Contains(err.Error(), "its root directory is the host's") {
		t.Errorf("a machine that shares the host's root can be entered: %v", err)
	}
	shell(t, "pkill -KILL -P $(pgrep -x unshare)")
	eventually(t, "the leader is gone", func() bool { m, found = find(t, h, "x-stale"); return found && !m.Alive })
	rest, err := h.Machines.Host(ctx, "x-stale")
	if err != nil || rest.Identity.Live {
		t.Errorf("a stale machine is %+v (%v)", rest.Identity, err)
	}
	ok(t, h.Machines.Terminate(ctx, "x-stale"))
	eventually(t, "the registration is gone", func() bool { _, found := find(t, h, "x-stale"); return !found })
}

// killedMachine: the machine was killed from outside while machined did not
// listen; cleared away, it can be started again.
func killedMachine(t *testing.T, h host.Host) {
	startGuest(t, h, sharedNetwork)
	ctx := t.Context()
	// machined does not hear of the end while it is stopped.
	shell(t, "systemctl kill -s STOP systemd-machined; systemctl kill -s KILL "+guestUnit+"; sleep 1; systemctl kill -s CONT systemd-machined || true")
	var m host.MachineState
	found := false
	eventually(t, "the leader is gone", func() bool { m, found = find(t, h, guest); return !found || !m.Alive })
	rest, err := h.Machines.Host(ctx, guest)
	ok(t, err)
	if rest.Identity.Live {
		t.Errorf("a machine whose first process is gone is %+v", rest.Identity)
	}
	_ = h.Units.ResetFailed(ctx, guestUnit)
	ok(t, h.Machines.Terminate(ctx, guest))
	eventually(t, "the registration is gone", func() bool { _, found := find(t, h, guest); return !found })
	again := startGuest(t, h, sharedNetwork)
	if now, found := find(t, h, guest); !found || !now.Alive || now.Leader == m.Leader || !again.Identity.Live {
		t.Errorf("once started again the machine is %+v", now)
	}
}

// noMachined runs on a host without systemd-container.
func noMachined(t *testing.T) {
	h := openHost(t)
	if list, err := h.Machines.Registered(t.Context()); !errors.Is(err, host.ErrNoMachined) || list != nil {
		t.Errorf("Registered: %+v, %v, want host.ErrNoMachined", list, err)
	}
	if err := h.Machines.Terminate(t.Context(), guest); !errors.Is(err, host.ErrNoMachined) {
		t.Errorf("Terminate: %v, want host.ErrNoMachined", err)
	}
	if _, err := h.Machines.Host(t.Context(), guest); !errors.Is(err, host.ErrNoMachine) {
		t.Errorf("a machine without a tree: %v, want host.ErrNoMachine", err)
	}
	ok(t, h.Files.MkdirAll(host.MachineRoot(guest), 0o755))
	in, err := h.Machines.Host(t.Context(), guest)
	if err != nil || in.Identity.Live {
		t.Errorf("a tree at rest: %+v, %v", in.Identity, err)
	}
	// Without the message bus machined is missing all the same.
	shell(t, "systemctl stop dbus.socket dbus.service; rm -f /run/dbus/system_bus_socket")
	fresh := openHost(t)
	if _, err := fresh.Machines.Registered(t.Context()); !errors.Is(err, host.ErrNoMachined) {
		t.Errorf("without a bus: %v, want host.ErrNoMachined", err)
	}
	if _, err := fresh.Units.Manager(t.Context()); err != nil {
		t.Errorf("without a bus the manager does not answer: %v", err)
	}
}
