package shadow_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/shadow"
)

const nspawnUnit = "systemd-nspawn@kube1.service"

// withMachine is a shadow over a host on which the machine kube1 runs, with
// a.service in it, and the tree of kube2 lies.
func withMachine(t *testing.T) (host.Host, *shadow.Shadow) {
	t.Helper()
	files := map[string]string{
		"usr/lib/systemd/system/systemd-nspawn@.service":             "[Service]\nType=notify\nExecStart=/bin/nspawn\n[Install]\nWantedBy=machines.target\n",
		"var/lib/machines/kube1/usr/lib/systemd/system/a.service":    unitFile,
		"var/lib/machines/kube1/etc/hosts":                           "kube1",
		"var/lib/machines/kube1/etc/link":                            "-> /etc/hosts",
		"var/lib/machines/kube2/usr/lib/systemd/system/once.service": "[Service]\nType=oneshot\nExecStart=/bin/a\n",
		"var/lib/machines/kube2/usr/lib/systemd/system/shut.service": "[Service]\nExecStart=/bin/a\n",
		"var/lib/machines/kube2/etc/systemd/system/shut.service":     "-> /dev/null",
		"etc/hosts": "host",
	}
	nspawn := service(nspawnUnit)
	nspawn.FragmentPath, nspawn.UnitFileState = lib+"systemd-nspawn@.service", "disabled"
	s := &still{
		units:    map[string]host.UnitState{nspawnUnit: nspawn},
		machines: []host.MachineState{{Name: "kube1", Class: "container", Service: "systemd-nspawn", Unit: nspawnUnit, Root: tree, Leader: 42, State: "running", Alive: true}},
		guests: map[string]*still{"kube1": {
			name: "kube1", units: map[string]host.UnitState{"a.service": service("a.service")}, sysctls: map[string]string{"vm.x": "1"}, transport: &echo{},
		}},
	}
	h, sh := over(t, s, files)
	dir, err := s.files.(host.RealDir).RealDir(tree)
	must(t, err)
	s.guests["kube1"].files = open(t, dir)
	return h, sh
}

func inside(t *testing.T, h host.Host, name string) host.Host {
	t.Helper()
	in, err := h.Machines.Host(t.Context(), name)
	must(t, err)
	return in
}

func registered(t *testing.T, h host.Host) []string {
	t.Helper()
	list, err := h.Machines.Registered(t.Context())
	must(t, err)
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	return names
}

func TestRunningMachineIsOverlaid(t *testing.T) {
	h, s := withMachine(t)
	in := inside(t, h, "kube1")
	if !in.Identity.Live || in.Identity.Machine != "kube1" {
		t.Errorf("inside it is %+v", in.Identity)
	}
	if u := unit(t, in, "a.service"); u.InvocationID != "base" {
		t.Errorf("a.service is %+v", u)
	}
	run(t, in, host.JobRestart, "a.service")
	if u := unit(t, inside(t, h, "kube1"), "a.service"); u.InvocationID == "base" || u.ActiveState != "active" {
		t.Errorf("restarted, a.service is %+v", u)
	}
	must(t, in.Kernel.SetSysctl(t.Context(), "vm.x", "2"))
	if _, err := h.Kernel.Sysctl(t.Context(), "vm.x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the host's parameter is %v", err)
	}
	want := []shadow.Effect{{Kind: "restart", Name: "machine:kube1/a.service"}, {Kind: "sysctl", Name: "machine:kube1/vm.x"}}
	if got := s.Effects(); !slices.Equal(got, want) {
		t.Errorf("effects are %v", got)
	}
	write(t, in.Files, "/etc/systemd/system/a.service", "[Service]\nType=exec\nExecStart=/bin/b\n")
	reload(t, in)
	if u := unit(t, in, "a.service"); u.Type != "exec" || u.ActiveState != "active" {
		t.Errorf("reloaded, a.service is %+v", u)
	}
	if mounts, err := in.Storage.Mounts(t.Context()); err != nil || len(mounts) != 1 {
		t.Errorf("its mounts are %v, %v", mounts, err)
	}
	if m, err := in.Storage.Mount(t.Context(), "/etc"); err != nil || m.Point != "/" {
		t.Errorf("its root is on %v, %v", m, err)
	}
}

func TestMachineFilesAreTheHosts(t *testing.T) {
	h, _ := withMachine(t)
	in := inside(t, h, "kube1")
	if got := read(t, in.Files, "/etc/link"); got != "kube1" {
		t.Errorf("the link leads to %q", got)
	}
	write(t, in.Files, "/etc/new", "inside")
	if got := read(t, h.Files, tree+"/etc/new"); got != "inside" {
		t.Errorf("from outside it is %q", got)
	}
	write(t, h.Files, tree+"/etc/hosts", "outside")
	if got := read(t, in.Files, "/etc/link"); got != "outside" {
		t.Errorf("from inside it is %q", got)
	}
	must(t, in.Files.SymlinkIfPossible("../../../../etc/hosts", "/climb"))
	if got := read(t, in.Files, "/climb"); got != "outside" {
		t.Errorf("a climbing link leads to %q", got)
	}
	in.Files.(host.Unknowable).MarkUnknown("/opt", "not fetched yet")
	_, err := h.Files.Stat(tree + "/opt/x")
	unknown(t, err, "not fetched yet")
	must(t, h.Files.RemoveAll(tree))
	_, err = in.Files.Stat("/etc")
	is(t, err, fs.ErrNotExist)
	_, err = h.Machines.View(t.Context(), "kube1")
	is(t, err, host.ErrNoMachine)
}

func TestStoppedMachine(t *testing.T) {
	for what, stop := range map[string]func(host.Host) error{
		"by its unit":  func(h host.Host) error { return h.Units.Run(t.Context(), host.JobStop, nspawnUnit) },
		"by terminate": func(h host.Host) error { return h.Machines.Terminate(t.Context(), "kube1") },
	} {
		t.Run(what, func(t *testing.T) {
			h, _ := withMachine(t)
			in := inside(t, h, "kube1")
			must(t, stop(h))
			if got := registered(t, h); len(got) != 0 {
				t.Errorf("registered are %q", got)
			}
			if u := unit(t, h, nspawnUnit); u.ActiveState != "inactive" {
				t.Errorf("its unit is %+v", u)
			}
			_, err := in.Units.Unit(t.Context(), "a.service")
			is(t, err, host.ErrNoManager)
			is(t, in.Units.Reload(t.Context()), host.ErrNoManager)
			is(t, in.Units.Run(t.Context(), host.JobStart, "a.service"), host.ErrNoManager)
			_, err = in.Kernel.Sysctl(t.Context(), "vm.x")
			unknown(t, err, "machine kube1 is not running")
			if m, err := in.Storage.Mount(t.Context(), "/etc/x"); err != nil || m.Point != "/" {
				t.Errorf("at rest its root is on %v, %v", m, err)
			}
			if in = inside(t, h, "kube1"); in.Identity.Live {
				t.Errorf("inside it is %+v", in.Identity)
			}
			must(t, h.Machines.Terminate(t.Context(), "kube1"))
		})
	}
}

func TestStartedMachine(t *testing.T) {
	h, _ := withMachine(t)
	ctx := t.Context()
	const unit2 = "systemd-nspawn@kube2.service"
	in := inside(t, h, "kube2")
	_, err := in.Units.Manager(ctx)
	is(t, err, host.ErrNoManager)
	run(t, h, host.JobStart, unit2)
	list, err := h.Machines.Registered(ctx)
	must(t, err)
	want := host.MachineState{Name: "kube2", Class: "container", Service: "systemd-nspawn", Unit: unit2, Root: "/var/lib/machines/kube2", State: "running", Alive: true}
	if len(list) != 2 || list[1] != want {
		t.Errorf("registered are %+v", list)
	}
	const why = "machine kube2 is not running yet"
	in = inside(t, h, "kube2")
	if !in.Identity.Live {
		t.Errorf("inside it is %+v", in.Identity)
	}
	_, manager := in.Units.Manager(ctx)
	_, unitErr := in.Units.Unit(ctx, "once.service")
	_, log := in.Units.Log(ctx, "once.service", 1)
	_, sysctl := in.Kernel.Sysctl(ctx, "vm.x")
	_, links := in.Network.Links(ctx)
	_, inner := in.Machines.Registered(ctx)
	_, mounts := in.Storage.Mounts(ctx)
	for _, err := range []error{manager, unitErr, log, sysctl, links, inner, mounts, in.Kernel.SetSysctl(ctx, "a", "b")} {
		unknown(t, err, why)
	}
	reload(t, in)
	must(t, in.Units.ResetFailed(ctx, "any.service"))
	run(t, in, host.JobStart, "once.service")
	must(t, in.Units.Queue(ctx, host.JobStart, "generated.service"))
	if u := unit(t, in, "once.service"); u.LoadState != "loaded" || u.ActiveState != "inactive" || u.Result != "success" || u.InactiveExit == 0 {
		t.Errorf("once.service is %+v", u)
	}
	if u := unit(t, in, "generated.service"); u.LoadState != "loaded" || u.ActiveState != "active" {
		t.Errorf("generated.service is %+v", u)
	}
	if err := in.Units.Run(ctx, host.JobStart, "shut.service"); err == nil {
		t.Error("a masked unit can be started")
	}
	if lines, err := in.Units.Log(ctx, "once.service", 1); err != nil || len(lines) != 0 {
		t.Errorf("it has logged %q, %v", lines, err)
	}
	run(t, h, host.JobRestart, unit2)
	_, err = in.Units.Unit(ctx, "once.service")
	unknown(t, err, why)
}

func TestRestartedMachineIsNew(t *testing.T) {
	h, _ := withMachine(t)
	in := inside(t, h, "kube1")
	run(t, h, host.JobRestart, nspawnUnit)
	_, err := in.Units.Unit(t.Context(), "a.service")
	unknown(t, err, "machine kube1 is not running yet")
	if got := registered(t, h); !slices.Equal(got, []string{"kube1"}) {
		t.Errorf("registered are %q", got)
	}
}

func TestMachineWithUnknownTree(t *testing.T) {
	h, _ := withMachine(t)
	ctx := t.Context()
	h.Files.(host.Unknowable).MarkUnknown("/var/lib/machines/new", unpacked)
	run(t, h, host.JobStart, "systemd-nspawn@new.service")
	in := inside(t, h, "new")
	write(t, in.Files, "/etc/ours", "ours")
	if got := read(t, h.Files, "/var/lib/machines/new/etc/ours"); got != "ours" {
		t.Errorf("from outside it is %q", got)
	}
	_, err := in.Files.Stat("/")
	unknown(t, err, unpacked)
	run(t, in, host.JobStart, "containerd.service")
	_, err = in.Units.Unit(ctx, "containerd.service")
	unknown(t, err, unpacked)
	_, err = in.Units.Unit(ctx, "other.service")
	unknown(t, err, "machine new is not running yet")
}

func TestMachineWithoutTreeDoesNotStart(t *testing.T) {
	h, _ := withMachine(t)
	const name = "systemd-nspawn@none.service"
	err := h.Units.Run(t.Context(), host.JobStart, name)
	if e, ok := errors.AsType[*host.JobError](err); !ok || e.Result != "failed" || e.Unit != name {
		t.Errorf("it starts: %v", err)
	}
	if u := unit(t, h, name); u.ActiveState != "failed" || u.Result != "exit-code" {
		t.Errorf("its unit is %+v", u)
	}
	must(t, h.Units.Queue(t.Context(), host.JobStart, name))
	if got := registered(t, h); !slices.Equal(got, []string{"kube1"}) {
		t.Errorf("registered are %q", got)
	}
}

func TestStaleRegistrationIsCleared(t *testing.T) {
	s := &still{machines: []host.MachineState{{Name: "kube1", Unit: nspawnUnit, State: "closing"}}}
	h, _ := over(t, s, map[string]string{
		"usr/lib/systemd/system/systemd-nspawn@.service": unitFile, "var/lib/machines/kube1/etc/": "",
	})
	must(t, h.Machines.Terminate(t.Context(), "kube1"))
	if got := registered(t, h); len(got) != 0 {
		t.Errorf("registered are %q", got)
	}
	run(t, h, host.JobStart, nspawnUnit)
	list, err := h.Machines.Registered(t.Context())
	must(t, err)
	if len(list) != 1 || !list[0].Alive {
		t.Errorf("registered are %+v", list)
	}
}
