//go:build e2e

package linux_test

import (
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/host"
)

func guestFiles(t *testing.T, h, in host.Host) {
	ok(t, host.Replace(in.Files, "/etc/made-inside", host.Content{Bytes: []byte("inside"), Mode: 0o640}))
	info, err := host.Lstat(h.Files, host.MachineRoot(guest)+"/etc/made-inside")
	if err != nil || info.Size() != 6 || host.ModeBits(info.Mode()) != 0o640 {
		t.Errorf("from the host the file is %v (%v)", info, err)
	}
	// What the machine has mounted is seen.
	if _, err := in.Files.Stat("/run/systemd/system"); err != nil {
		t.Errorf("the machine's /run is not seen: %v", err)
	}
	if _, err := in.Files.Stat("/usr/bin/machinectl"); err == nil {
		t.Error("the files are the host's")
	}
	ok(t, host.Symlink(in.Files, "/etc/passwd", "/etc/made-link"))
	ok(t, in.Files.Chmod("/etc/made-link", 0o604))
	if info, err := h.Files.Stat("/etc/passwd"); err != nil || host.ModeBits(info.Mode()) != 0o644 {
		t.Errorf("a link in the machine leads to the host: %v (%v)", info.Mode(), err)
	}
	ok(t, in.Files.Chmod("/etc/passwd", 0o644))
	real, isReal := in.Files.(host.RealDir)
	if !isReal {
		t.Fatal("the machine's files are not real")
	}
	dir, err := real.RealDir("/etc/systemd")
	ok(t, err)
	if _, err := os.Stat(path.Join(dir, "system")); err != nil {
		t.Errorf("the machine's /etc/systemd is not at %s: %v", dir, err)
	}
}

func guestStorage(t *testing.T, _, in host.Host) {
	m, err := in.Storage.Mount(t.Context(), "/run/none")
	if err != nil || m.Point != "/run" || m.Type != "tmpfs" || m.ReadOnly || m.FreeBytes == 0 {
		t.Errorf("the machine's /run is on %+v (%v)", m, err)
	}
	if m, err := in.Storage.Mount(t.Context(), "/etc"); err != nil || m.Point != "/" {
		t.Errorf("the machine's /etc is on %+v (%v)", m, err)
	}
	if m, err := in.Storage.Mount(t.Context(), "/proc/sys"); err != nil || !m.ReadOnly {
		t.Errorf("the machine's /proc/sys is on %+v (%v)", m, err)
	}
	all, err := in.Storage.Mounts(t.Context())
	if err != nil || slices.ContainsFunc(all, func(m host.MountState) bool { return strings.Contains(m.Point, "/machines") }) {
		t.Errorf("the machine's mounts are the host's: %+v (%v)", all, err)
	}
}

func guestKernelCases(t *testing.T, h, in host.Host) {
	ctx := t.Context()
	said, err := in.Commands.Run(ctx, host.Command{Argv: []string{"hostname"}})
	ok(t, err)
	if name, err := in.Kernel.Sysctl(ctx, "kernel.hostname"); err != nil || name != strings.TrimSpace(string(said.Stdout)) || name == shell(t, "hostname") {
		t.Errorf("the machine's host name is %q (%v), it says %q", name, err, said.Stdout)
	}
	if err := in.Kernel.SetSysctl(ctx, "kernel.pid_max", "4194304"); err == nil {
		t.Error("the machine can change the host's kernel")
	}
	for what, err := range map[string]error{
		"LoadModule": in.Kernel.LoadModule(ctx, "loop"), "SwapOn": in.Kernel.SwapOn(ctx, host.SwapArea{Name: "/swap"}), "SwapOff": in.Kernel.SwapOff(ctx, "/swap"),
	} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s in a machine: %v", what, err)
		}
	}
	if version, err := in.Kernel.CgroupVersion(ctx); err != nil || version < 1 {
		t.Errorf("cgroups are version %d (%v)", version, err)
	}
	_, err = in.Commands.Run(ctx, host.Command{Argv: []string{"mount", "-t", "tmpfs", "none", "/mnt"}})
	ok(t, err)
	if m, err := in.Storage.Mount(ctx, "/mnt"); err != nil || m.Type != "tmpfs" {
		t.Errorf("what was mounted inside is %+v (%v)", m, err)
	}
	ok(t, in.Kernel.Unmount(ctx, "/mnt"))
	if m, err := in.Storage.Mount(ctx, "/mnt"); err != nil || m.Point != "/" {
		t.Errorf("after it was unmounted /mnt is on %+v (%v)", m, err)
	}
	if name, err := h.Kernel.Sysctl(ctx, "kernel.hostname"); err != nil || name != shell(t, "hostname") {
		t.Errorf("the host's name is %q (%v)", name, err)
	}
	if mounts, err := h.Storage.Mounts(ctx); err != nil || !slices.ContainsFunc(mounts, func(m host.MountState) bool { return m.Point == "/var" }) {
		t.Errorf("this process sees the machine's mounts (%v)", err)
	}
}

// guestListeners: R144–R147, a process of the machine is known as such by its
// root and its executable.
func guestListeners(t *testing.T, h, in host.Host) {
	exe, err := os.Executable()
	ok(t, err)
	program, err := os.ReadFile(exe)
	ok(t, err)
	ok(t, host.Replace(in.Files, "/usr/local/bin/x-listen", host.Content{Bytes: program, Mode: 0o755}))
	unitFile(t, in, "x-listen.service", "[Service]\nType=notify\nEnvironment="+listenAddress+"=127.0.0.1:18443\nExecStart=/usr/local/bin/x-listen\n")
	ok(t, in.Units.Run(within(t, time.Minute), host.JobStart, "x-listen.service"))
	root := host.MachineRoot(guest)
	want := host.ListenerState{Address: "127.0.0.1:18443", Root: root, Exe: root + "/usr/local/bin/x-listen"}
	for range 2 {
		for where, n := range map[string]host.Network{"host": h.Network, "machine": in.Network} {
			got := listener(t, n, want.Address)
			if want.PID = got.PID; got != want || got.PID == 0 {
				t.Errorf("from the %s the listener is %+v, want %+v", where, got, want)
			}
		}
		// An executable that was replaced is still the machine's.
		ok(t, host.Replace(in.Files, "/usr/local/bin/x-listen", host.Content{Bytes: []byte("new"), Mode: 0o755}))
	}
}
