package linux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

type machineLine struct {
	Name, Class, Service string
	Path                 dbus.ObjectPath
}

// fakeMachined answers for these machines, by name.
func fakeMachined(t *testing.T, all map[string]properties) *fakeBus {
	return newFakeBus(t, func(q question) ([]any, *dbus.Error) {
		const dir = machinedPath + "/machine/"
		name := strings.TrimPrefix(string(q.path), dir)
		switch q.method {
		case "ListMachines":
			lines := []machineLine{{".host", "host", "", dir + "host"}, {"vanished", "container", "x", dir + "vanished"}}
			for n := range all {
				lines = append(lines, machineLine{n, "container", "systemd-nspawn", dbus.ObjectPath(dir + n)})
			}
			return []any{lines}, nil
		case "KillMachine":
			all[q.args[0].(string)]["killed"] = fmt.Sprint(q.args[1:])
			return nil, nil
		case "GetMachine", "TerminateMachine":
			name = q.args[0].(string)
			if all[name] == nil {
				return nil, refusal(noSuchMachine, "No machine '"+name+"' known")
			}
			if q.method == "TerminateMachine" {
				return nil, nil
			}
			return []any{dbus.ObjectPath(dir + name)}, nil
		}
		if all[name] == nil {
			return nil, refusal(unknownObject, "Unknown object")
		}
		answer := map[string]dbus.Variant{}
		for k, v := range all[name] {
			answer[k] = dbus.MakeVariant(v)
		}
		return []any{answer}, nil
	})
}

// machinesOn are the machines of a host whose files are root and whose bus is
// at a socket.
func machinesOn(t *testing.T, root *treefs.FS, socket string) *machines {
	t.Helper()
	_, u := newFakeManager(t)
	m := &machines{files: root, bus: &bus{path: socket}, manager: u.manager}
	t.Cleanup(func() { ok(t, m.close()) })
	return m
}

func TestRegistered(t *testing.T) {
	all := map[string]properties{
		"kube1": {"Name": "kube1", "Class": "vm", "Service": "systemd-nspawn", "Unit": "systemd-nspawn@kube1.service",
			"RootDirectory": "/var/lib/machines/kube1", "State": "running", "Leader": uint32(os.Getpid())},
		"stale": {"Name": "stale", "Class": "container", "Leader": uint32(0)},
	}
	m := machinesOn(t, tree(t, nil), fakeMachined(t, all).socket)
	list, err := m.Registered(t.Context())
	ok(t, err)
	want := map[string]host.MachineState{
		"kube1": {Name: "kube1", Class: "vm", Service: "systemd-nspawn", Unit: "systemd-nspawn@kube1.service", Root: "/var/lib/machines/kube1", State: "running", Leader: os.Getpid(), Alive: true},
		"stale": {Name: "stale", Class: "container"},
	}
	if len(list) != len(want) {
		t.Errorf("the machines are %+v", list)
	}
	for _, got := range list {
		if got != want[got.Name] {
			t.Errorf("the machine is %+v, want %+v", got, want[got.Name])
		}
	}
	ok(t, m.Terminate(t.Context(), "kube1"))
	if got := all["kube1"]["killed"]; got != "[all 9]" {
		t.Errorf("what is left is killed by %v", got)
	}
	ok(t, m.Terminate(t.Context(), "none"))
	ok(t, m.Terminate(t.Context(), "../none"))
	if _, err := m.Host(t.Context(), "kube1"); err == nil || !strings.Contains(err.Error(), "machine kube1 is a vm") {
		t.Errorf("a virtual machine can be entered: %v", err)
	}
}

func TestMachineAtRest(t *testing.T) {
	root := tree(t, map[string]string{"var/lib/machines/kube1/etc/os-release": "ID=x\n", "var/lib/machines/stale/etc/x": ""})
	m := machinesOn(t, root, fakeMachined(t, map[string]properties{"stale": {"Class": "container", "Leader": uint32(0)}}).socket)
	h, err := m.Host(t.Context(), "kube1")
	ok(t, err)
	if h.Identity.Live || h.Identity.Machine != "kube1" || !strings.HasSuffix(h.Identity.Root, "/var/lib/machines/kube1") {
		t.Errorf("the machine is %+v", h.Identity)
	}
	v, err := m.View(t.Context(), "kube1")
	if err != nil || v.Files != host.FileView(h.Files) {
		t.Errorf("the tree is opened twice (%v)", err)
	}
	if stale, err := m.Host(t.Context(), "stale"); err != nil || stale.Identity.Live {
		t.Errorf("a stale machine is %+v (%v)", stale.Identity, err)
	}
	ok(t, root.Rename("/var/lib/machines/kube1", "/var/lib/machines/old"))
	_, hostErr := m.Host(t.Context(), "kube1")
	_, viewErr := m.View(t.Context(), "a/b")
	if !errors.Is(hostErr, host.ErrNoMachine) || !errors.Is(viewErr, host.ErrNoMachine) {
		t.Errorf("machines that are not there: %v and %v", hostErr, viewErr)
	}
	ok(t, root.MkdirAll("/var/lib/machines/kube1", 0o755))
	again, err := m.Host(t.Context(), "kube1")
	if err != nil || again.Files == h.Files {
		t.Errorf("a tree made anew is the old one (%v)", err)
	}
	ok(t, root.Remove("/var/lib/machines/kube1"))
	ok(t, root.SymlinkIfPossible("/etc", "/var/lib/machines/kube1"))
	if h, err := m.Host(t.Context(), "kube1"); !errors.Is(err, host.ErrNoMachine) {
		t.Errorf("a link to the host's /etc is the machine %+v (%v)", h.Identity, err)
	}
}

// TestInventoryFails: C44, machined that is missing is told from one that
// fails, which is an error to everybody.
func TestInventoryFails(t *testing.T) {
	for name, missing := range map[string]bool{
		serviceUnknown: true, nameHasNoOwner: true, noSuchUnit: true,
		"org.freedesktop.DBus.Error.NoReply": false, accessDenied: false, "org.freedesktop.systemd1.UnitMasked": false,
	} {
		bus := newFakeBus(t, func(question) ([]any, *dbus.Error) { return nil, refusal(name, "the words of it") })
		m := machinesOn(t, tree(t, map[string]string{"var/lib/machines/kube1/x": ""}), bus.socket)
		list, err := m.Registered(t.Context())
		if errors.Is(err, host.ErrNoMachined) != missing || err == nil || list != nil || !strings.Contains(err.Error(), "the words of it") {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
		if _, err := m.Host(t.Context(), "kube1"); (err == nil) != missing {
			t.Errorf("%s: the machine: %v", name, err)
		}
		if err := m.Terminate(t.Context(), "kube1"); errors.Is(err, host.ErrNoMachined) != missing || err == nil {
			t.Errorf("%s: terminate: %v", name, err)
		}
	}
}

func TestInventoryWithoutBus(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	m := machinesOn(t, tree(t, nil), none)
	if _, err := m.Registered(t.Context()); !errors.Is(err, host.ErrNoMachined) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a bus and without machined: %v", err)
	}
	fm, u := newFakeManager(t)
	fm.set("systemd_2dmachined_2eservice", properties{"LoadState": "loaded"})
	m.manager = u.manager
	if _, err := m.Registered(t.Context()); err == nil || errors.Is(err, host.ErrNoMachined) {
		t.Errorf("machined is there, its bus is not: %v, want another error than host.ErrNoMachined", err)
	}
	m.manager = newManager("", nil, func() bool { return false })
	if _, err := m.Registered(t.Context()); !errors.Is(err, host.ErrNoMachined) {
		t.Errorf("without systemd: %v", err)
	}
}

// TestBusRestarted: the connection was lost since the last question.
func TestBusRestarted(t *testing.T) {
	bus := fakeMachined(t, map[string]properties{"kube1": {"Name": "kube1"}})
	m := machinesOn(t, tree(t, nil), bus.socket)
	for range 3 {
		if list, err := m.Registered(t.Context()); err != nil || len(list) != 1 {
			t.Fatalf("the machines are %+v (%v)", list, err)
		}
		bus.hangUp()
	}
}

func TestAlive(t *testing.T) {
	own := os.Getpid()
	if !alive(own, "vm") {
		t.Error("this process is dead")
	}
	// The leader of a container is never in our own process namespace: its id
	// was given to another process.
	if alive(own, "container") {
		t.Error("this process is the leader of a container")
	}
	cmd := exec.Command("true")
	ok(t, cmd.Start())
	for range 100 {
		if !alive(cmd.Process.Pid, "vm") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if alive(cmd.Process.Pid, "vm") {
		t.Error("a zombie is alive")
	}
	ok(t, cmd.Wait())
	for _, pid := range []int{0, -1, cmd.Process.Pid, 1 << 30} {
		if alive(pid, "vm") {
			t.Errorf("process %d is alive", pid)
		}
	}
}

// TestEnterRefuses: this process shares the host's root, so that it is no
// machine, whoever says so.
func TestEnterRefuses(t *testing.T) {
	files, err := treefs.Open("/", treefs.Options{})
	ok(t, err)
	defer files.Close()
	if _, err := openInside("m", os.Getpid(), files); err == nil || !strings.Contains(err.Error(), "its root directory is the host's") {
		t.Errorf("this process can be entered: %v", err)
	}
	if _, err := openInside("m", 1<<30, files); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a process that is not there can be entered: %v", err)
	}
}

func TestMachinesWithEndedContext(t *testing.T) {
	m := machinesOn(t, tree(t, nil), fakeMachined(t, nil).socket)
	ended, end := context.WithCancel(t.Context())
	end()
	_, hostErr := m.Host(ended, "kube1")
	_, listErr := m.Registered(ended)
	if !errors.Is(hostErr, context.Canceled) || !errors.Is(listErr, context.Canceled) {
		t.Errorf("%v and %v, want context.Canceled", hostErr, listErr)
	}
}
