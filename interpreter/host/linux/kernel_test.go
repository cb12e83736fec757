package linux

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree is a directory with these files, as a root.
func tree(t *testing.T, files map[string]string) *treefs.FS {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		ok(t, os.MkdirAll(filepath.Dir(name), 0o755))
		ok(t, os.WriteFile(name, []byte(text), 0o755))
	}
	f, err := treefs.Open(dir, treefs.Options{Unprivileged: os.Geteuid() != 0})
	ok(t, err)
	t.Cleanup(func() { ok(t, f.Close()) })
	return f
}

func release(t *testing.T) string {
	t.Helper()
	r, err := kernel{}.Release(t.Context())
	ok(t, err)
	return r
}

// recorder takes commands and runs none.
type recorder struct {
	argv [][]string
	err  error
}

func (r *recorder) Run(_ context.Context, c host.Command) (host.CommandResult, error) {
	r.argv = append(r.argv, c.Argv)
	return host.CommandResult{}, r.err
}

func TestModules(t *testing.T) {
	dir := "usr/lib/modules/" + release(t) + "/"
	k := kernel{files: tree(t, map[string]string{
		"proc/modules":             "nf_tables 331776 0 - Live 0x0000000000000000\nveth 40960 0 - Live 0x0\n",
		"sys/module/overlay/x":     "",
		dir + "modules.builtin":    "kernel/fs/ext4/ext4.ko\nkernel/lib/crc-t10dif.ko\n",
		dir + "modules.dep":        "kernel/net/br-netfilter.ko.zst: kernel/net/bridge.ko.zst\nkernel/net/bridge.ko.zst:\nextra/wire.ko.xz:\nkernel/plain.ko:\nkernel/README:\n",
		"lib/modules/other/ignore": "",
	})}
	for _, c := range []struct {
		name              string
		available, loaded bool
	}{
		{"nf_tables", true, true}, {"nf-tables", true, true}, {"veth", true, true}, {"overlay", true, true},
		{"ext4", true, true}, {"crc_t10dif", true, true},
		{"br_netfilter", true, false}, {"br-netfilter", true, false}, {"bridge", true, false}, {"wire", true, false}, {"plain", true, false},
		{"nf", false, false}, {"README", false, false}, {"none", false, false},
	} {
		loaded, err := k.ModuleLoaded(t.Context(), c.name)
		if err != nil || loaded != c.loaded {
			t.Errorf("%s is loaded: %v (%v), want %v", c.name, loaded, err, c.loaded)
		}
		available, err := k.ModuleAvailable(t.Context(), c.name)
		if err != nil || available != c.available {
			t.Errorf("%s is available: %v (%v), want %v", c.name, available, err, c.available)
		}
	}
	for _, name := range []string{"", "../x", "a b", "-r", "x.ko"} {
		_, loadedErr := k.ModuleLoaded(t.Context(), name)
		_, availableErr := k.ModuleAvailable(t.Context(), name)
		if loadedErr == nil || availableErr == nil || k.LoadModule(t.Context(), name) == nil {
			t.Errorf("%q is taken for the name of a module", name)
		}
	}
}

func TestModulesOfAKernelWithoutAny(t *testing.T) {
	k := kernel{files: tree(t, nil)}
	if available, err := k.ModuleAvailable(t.Context(), "loop"); err != nil || available {
		t.Errorf("a module is available: %v, %v", available, err)
	}
}

func TestLoadModule(t *testing.T) {
	ran := &recorder{}
	k := kernel{files: tree(t, map[string]string{"proc/modules": "veth 1 0 - Live 0x0\n"}), commands: ran}
	ok(t, k.LoadModule(t.Context(), "veth"))
	ok(t, k.LoadModule(t.Context(), "br_netfilter"))
	if len(ran.argv) != 1 || strings.Join(ran.argv[0], " ") != "modprobe br_netfilter" {
		t.Errorf("the commands are %q", ran.argv)
	}
	ran.err = &host.ExitError{Program: "modprobe", Result: host.CommandResult{ExitCode: 1, Stderr: []byte("FATAL: not found\n")}}
	if err := k.LoadModule(t.Context(), "none"); !errors.Is(err, ran.err) || !strings.Contains(err.Error(), "kernel module none cannot be loaded: modprobe: exit status 1: FATAL") {
		t.Errorf("a module that is not there: %v", err)
	}
}

func TestSysctlFile(t *testing.T) {
	for key, want := range map[string]string{
		"kernel.hostname":                "/proc/sys/kernel/hostname",
		"kernel/hostname":                "/proc/sys/kernel/hostname",
		"net.ipv4.conf.eth0/1.rp_filter": "/proc/sys/net/ipv4/conf/eth0.1/rp_filter",
		"net/ipv4/conf/eth0.1/rp_filter": "/proc/sys/net/ipv4/conf/eth0.1/rp_filter",
		"net.ipv4.conf.all.forwarding":   "/proc/sys/net/ipv4/conf/all/forwarding",
		"":                               "",
		"kernel..hostname":               "",
		"../../etc/passwd":               "",
		"/kernel/hostname":               "",
		"net/../../etc/passwd":           "",
		"kernel.hostname.":               "",
		"net.ipv4.conf.//.x":             "",
		"net/ipv4/conf/./x":              "",
		"vm":                             "/proc/sys/vm",
	} {
		got, err := sysctlFile(key)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q (%v), want %q", key, got, err, want)
		}
	}
}

func TestSysctl(t *testing.T) {
	files := tree(t, map[string]string{"proc/sys/vm/swappiness": "60\n", "proc/sys/kernel/lines": "a\nb\n"})
	k := kernel{files: files}
	ok(t, k.SetSysctl(t.Context(), "vm.swappiness", "100"))
	// The file of a fixture, unlike one of the kernel, keeps what is longer.
	for key, want := range map[string]string{"vm.swappiness": "100", "kernel/lines": "a\nb"} {
		if got, err := k.Sysctl(t.Context(), key); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", key, got, err, want)
		}
	}
	_, getErr := k.Sysctl(t.Context(), "vm.none")
	setErr := k.SetSysctl(t.Context(), "vm.none", "1")
	if !errors.Is(getErr, fs.ErrNotExist) || !errors.Is(setErr, fs.ErrNotExist) || !strings.Contains(setErr.Error(), "vm/none") {
		t.Errorf("a key that is not there: %v and %v", getErr, setErr)
	}
	if _, err := k.Sysctl(t.Context(), "vm."); !errors.Is(err, unix.EINVAL) {
		t.Errorf("a key that is none: %v", err)
	}
	if err := k.SetSysctl(t.Context(), "vm.", ""); !errors.Is(err, unix.EINVAL) {
		t.Errorf("setting a key that is none: %v", err)
	}
}

func TestCgroupVersion(t *testing.T) {
	k := kernel{files: tree(t, map[string]string{"sys/fs/cgroup/cgroup.controllers": ""})}
	if version, err := k.CgroupVersion(t.Context()); err != nil || version != 1 {
		t.Errorf("what is no cgroup2 file system is version %d (%v)", version, err)
	}
	k = kernel{files: tree(t, nil)}
	if _, err := k.CgroupVersion(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without cgroups: %v", err)
	}
}

func TestSwapFlags(t *testing.T) {
	for priority, want := range map[int]uintptr{-2: 0, -1: 0, 0: 0x8000, 5: 0x8005, 0x7fff: 0xffff, 0x8000: 0xffff} {
		if got := swapFlags(priority); got != want {
			t.Errorf("priority %d: flags %#x, want %#x", priority, got, want)
		}
	}
}

func TestSwap(t *testing.T) {
	k := kernel{files: tree(t, map[string]string{"proc/swaps": "Filename\n/dev/vdb partition 1 0 -2\n"})}
	if areas, err := k.Swaps(t.Context()); err != nil || len(areas) != 1 || areas[0].Name != "/dev/vdb" || areas[0].Priority != -2 {
		t.Errorf("the areas are %v (%v)", areas, err)
	}
	if areas, err := (kernel{files: tree(t, nil)}).Swaps(t.Context()); err != nil || areas != nil {
		t.Errorf("a kernel without swapping has %v (%v)", areas, err)
	}
	for what, err := range map[string]error{
		"swapoff": k.SwapOff(t.Context(), "/nonexistent/area"), "swapon": k.SwapOn(t.Context(), host.SwapArea{Name: "/nonexistent/area"}),
		"zero": k.SwapOn(t.Context(), host.SwapArea{Name: "a\x00b"}), "umount": k.Unmount(t.Context(), "/nonexistent/point"),
	} {
		if pe, found := errors.AsType[*fs.PathError](err); !found || pe.Path == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
}
