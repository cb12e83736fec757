package offline_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/hosttest"
	"hostler/interpreter/host/offline"
)

func open(t *testing.T, root string) host.Host {
	t.Helper()
	h, err := offline.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := offline.Close(h); err != nil {
			t.Error(err)
		}
	})
	return h
}

func TestContract(t *testing.T) {
	hosttest.Run(t, hosttest.Maker{
		Traits: hosttest.Traits{Privileged: os.Geteuid() == 0, Special: true},
		New:    func(t *testing.T) host.Host { return open(t, t.TempDir()) },
	})
}

func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	want := host.Identity{Root: dir, Privileged: os.Geteuid() == 0}
	if got := open(t, dir).Identity; got != want {
		t.Errorf("identity is %+v, want %+v", got, want)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "disk.img")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	slash := filepath.Join(dir, "slash")
	if err := os.Symlink("/", slash); err != nil {
		t.Fatal(err)
	}
	for root, want := range map[string]string{
		"/":                          "the running host itself",
		slash:                        "the running host itself",
		file:                         "disk.img is not a directory",
		filepath.Join(dir, "absent"): "no such file or directory",
		file + "/below":              "not a directory",
	} {
		_, err := offline.Open(root)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "offline root") {
			t.Errorf("Open(%s): %v, want an error that says %q", root, err, want)
		}
	}
}

func TestRelativeRoot(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("root", 0o755); err != nil {
		t.Fatal(err)
	}
	h := open(t, "root")
	if want := filepath.Join(dir, "root"); h.Identity.Root != want {
		t.Errorf("root is %s, want %s", h.Identity.Root, want)
	}
}

func TestCloseLeavesOtherHosts(t *testing.T) {
	if err := offline.Close(host.Host{}); err != nil {
		t.Error(err)
	}
}

func TestLockIsOnTheDirectory(t *testing.T) {
	dir := t.TempDir()
	h, other := open(t, dir), open(t, dir)
	release, err := h.Locks.Acquire(t.Context(), host.LockExclusive, host.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.Locks.Acquire(t.Context(), host.LockShared, host.Holder{})
	held, ok := errors.AsType[*host.HeldError](err)
	if !ok || held.Path != dir || held.Holder == nil || held.Holder.PID != os.Getpid() || held.Holder.Command != filepath.Base(os.Args[0]) {
		t.Errorf("a second host on the same root: %v, want an error that names %s and this process", err, dir)
	}
	flock := exec.Command("flock", "--nonblock", dir, "true")
	if err := flock.Run(); flock.ProcessState.ExitCode() != 1 {
		t.Errorf("flock(1) of the locked directory: %v, want exit status 1", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the lock left %v in the root (%v)", entries, err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if err := exec.Command("flock", "--nonblock", dir, "true").Run(); err != nil {
		t.Errorf("flock(1) after the release: %v", err)
	}
}

// TestMachineTreeMadeAnew: a rebuilt rootfs is another directory.
func TestMachineTreeMadeAnew(t *testing.T) {
	h := open(t, t.TempDir())
	root := host.MachineRoot("kube1")
	build := func(content string) {
		t.Helper()
		if err := h.Files.MkdirAll(root, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := host.Replace(h.Files, root+"/mark", host.Content{Bytes: []byte(content), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
	}
	build("first")
	first, err := h.Machines.Host(t.Context(), "kube1")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := h.Machines.Host(t.Context(), "kube1"); err != nil || again.Files != first.Files {
		t.Errorf("the same tree is opened twice (%v)", err)
	}
	if err := h.Files.Rename(root, root+".old"); err != nil {
		t.Fatal(err)
	}
	build("the second")
	second, err := h.Machines.Host(t.Context(), "kube1")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := second.Files.Stat("/mark"); err != nil || info.Size() != 10 {
		t.Errorf("the machine shows the old tree (%v)", err)
	}
	if want := h.Identity.Root + root; second.Identity.Root != want {
		t.Errorf("the machine's root is %s, want %s", second.Identity.Root, want)
	}
}

// TestMachineBehindALink: links at or above the tree stay inside the root.
func TestMachineBehindALink(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	for _, d := range []string{"/var/lib", "/data/kube1"} {
		if err := h.Files.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Files.SymlinkIfPossible("/data", host.MachinesDir); err != nil {
		t.Fatal(err)
	}
	in, err := h.Machines.Host(t.Context(), "kube1")
	if err != nil {
		t.Fatal(err)
	}
	if want := dir + "/data/kube1"; in.Identity.Root != want {
		t.Errorf("the machine's root is %s, want %s", in.Identity.Root, want)
	}
	if err := h.Files.SymlinkIfPossible("/etc/passwd", "/data/file"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Machines.Host(t.Context(), "file"); err == nil {
		t.Error("a dangling link is taken for a machine")
	}
}

func TestStorage(t *testing.T) {
	dir := t.TempDir()
	state, err := open(t, dir).Storage.Mount(t.Context(), "/var/lib/none")
	if err != nil {
		t.Fatal(err)
	}
	if state.Point != "/" || state.Type == "" || state.Source == "" || state.FreeBytes == 0 || state.ReadOnly {
		t.Errorf("the root is on %+v", state)
	}
}
