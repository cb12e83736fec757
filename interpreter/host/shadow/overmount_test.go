package shadow_test

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"hostler/interpreter/host"
)

// mountedMachine is a shadow over a host on which kube1 runs, as is seen from
// inside it: with a /run of its own, and a file bound into it.
func mountedMachine(t *testing.T) host.Host {
	t.Helper()
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"run/containerd.sock": "live", "run/user/1000/x": "", "run/link": "-> /etc/hosts",
		"etc/hosts": "kube1", "etc/resolv.conf": "of the host",
	})
	s := &still{
		units:    map[string]host.UnitState{nspawnUnit: service(nspawnUnit)},
		machines: []host.MachineState{{Name: "kube1", Unit: nspawnUnit, State: "running", Leader: 42, Alive: true}},
		guests: map[string]*still{"kube1": {name: "kube1", files: open(t, dir), mounts: []host.MountState{
			{Point: "/run/user/1000"}, {Point: "/run"}, {Point: "/etc/resolv.conf", ReadOnly: true}, {Point: "/gone"},
		}}},
	}
	h, _ := over(t, s, map[string]string{
		"usr/lib/systemd/system/systemd-nspawn@.service": unitFile,
		"var/lib/machines/kube1/run/below":               "",
		"var/lib/machines/kube1/tmp/":                    "",
		"var/lib/machines/kube1/etc/hosts":               "kube1",
		"var/lib/machines/kube1/etc/resolv.conf":         "of the image",
	})
	return h
}

// TestMountsOfARunningMachine: what is mounted in a machine is seen as it is
// there, and not as it lies below the mounts in its tree.
func TestMountsOfARunningMachine(t *testing.T) {
	h := mountedMachine(t)
	in := inside(t, h, "kube1")
	for name, want := range map[string]string{"/run/containerd.sock": "live", "/run/user/1000/x": "", "/run/link": "kube1", "/etc/resolv.conf": "of the host"} {
		if got := read(t, in.Files, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if names, err := host.Names(in.Files, "/run"); err != nil || !slices.Equal(names, []string{"containerd.sock", "link", "user"}) {
		t.Errorf("/run holds %q (%v)", names, err)
	}
	write(t, in.Files, "/run/new", "ours")
	if got := read(t, inside(t, h, "kube1").Files, "/run/new"); got != "ours" {
		t.Errorf("what was written is %q", got)
	}
	_, err := h.Files.Stat(tree + "/run/new")
	is(t, err, fs.ErrNotExist)
	must(t, in.Files.Remove("/run/containerd.sock"))
	_, err = in.Files.Stat("/run/containerd.sock")
	is(t, err, fs.ErrNotExist)
	is(t, in.Files.Rename("/etc/hosts", "/run/hosts"), syscall.EXDEV)
	is(t, in.Files.Remove("/etc/resolv.conf"), syscall.EBUSY)
	_, err = in.Files.OpenFile("/etc/resolv.conf", syscall.O_WRONLY, 0)
	is(t, err, syscall.EROFS)
	if got := read(t, h.Files, tree+"/etc/resolv.conf"); got != "of the image" {
		t.Errorf("from outside it is %q", got)
	}
	must(t, in.Kernel.Unmount(t.Context(), "/run"))
	if got := read(t, in.Files, "/run/below"); got != "" {
		t.Errorf("under the mount lies %q", got)
	}
}

// TestMountsGoWithTheMachine: a machine that is stopped shows its tree, one that
// was started in the shadow has mounts of which nothing is known.
func TestMountsGoWithTheMachine(t *testing.T) {
	h := mountedMachine(t)
	in := inside(t, h, "kube1")
	run(t, h, host.JobStop, nspawnUnit)
	if got := read(t, in.Files, "/run/below"); got != "" {
		t.Errorf("at rest /run/below is %q", got)
	}
	run(t, h, host.JobStart, nspawnUnit)
	_, err := in.Files.Stat("/run/containerd.sock")
	unknown(t, err, "machine kube1 is not running yet")
	_, err = in.Files.Stat("/tmp/x")
	unknown(t, err, "machine kube1 is not running yet")
	write(t, in.Files, "/run/ours/file", "ours")
	if got := read(t, in.Files, "/run/ours/file"); got != "ours" {
		t.Errorf("what was written is %q", got)
	}
	if _, err := in.Files.Stat("/var"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("/var: %v", err)
	}
}
