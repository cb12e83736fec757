package host_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/host"
	"hostler/interpreter/host/hosttest"
	"hostler/interpreter/host/offline"
)

func newHost(t *testing.T) host.Host {
	t.Helper()
	h, err := offline.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = offline.Close(h) })
	return h
}

// put writes a file and the directories above it.
func put(t *testing.T, f host.Files, name, content string, mode uint32) {
	t.Helper()
	if err := f.MkdirAll(path.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := host.Replace(f, name, host.Content{Bytes: []byte(content), Mode: mode}); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, f host.Files, target, name string) {
	t.Helper()
	if err := f.MkdirAll(path.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := f.SymlinkIfPossible(target, name); err != nil {
		t.Fatal(err)
	}
}

func TestAtomicWrites(t *testing.T) {
	hosttest.Files(t, func(t *testing.T) host.Files { return newHost(t).Files })
}

// mounts answers for every path with the same mount.
type mounts struct {
	host.StorageView
	state host.MountState
	err   error
}

func (m mounts) Mount(context.Context, string) (host.MountState, error) { return m.state, m.err }

func osRelease(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../testdata/os-release", name+".os-release"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestImageManaged covers R160 to R164 and C69.
func TestImageManaged(t *testing.T) {
	const manager = "/usr/bin/"
	tests := map[string]struct {
		osRelease string
		readOnly  bool
		tool      string
		want      bool
	}{
		"R160 ACL by its variant":              {"acl", false, "tdnf", true},
		"R161 ACL by what it is like":          {"acl-without-variant", false, "tdnf", true},
		"ACL by an id of its own":              {"acl-by-id", false, "tdnf", true},
		"R162 plain Flatcar is not declared":   {"flatcar", false, "apt-get", false},
		"Flatcar whose /usr is read-only":      {"flatcar", true, "", true},
		"R163 Azure Linux 3 proper":            {"azurelinux-3", false, "tdnf", false},
		"C69 Fedora CoreOS":                    {"fedora-coreos", false, "", true},
		"C69 Fedora CoreOS with a dnf in it":   {"fedora-coreos", false, "dnf", true},
		"C69 a derived desktop without dnf":    {"bluefin", false, "", true},
		"Ubuntu":                               {"ubuntu-22.04", false, "apt-get", false},
		"Ubuntu with a read-only /usr":         {"ubuntu-24.04", true, "apt-get", true},
		"Debian":                               {"debian-13", false, "apt-get", false},
		"Debian from which apt was taken away": {"debian-12", false, "", true},
		"Ubuntu 24.04":                         {"ubuntu-24.04", false, "apt-get", false},
		"Ubuntu 26.04":                         {"ubuntu-26.04", false, "apt-get", false},
		"Debian 12":                            {"debian-12", false, "apt-get", false},
		"RHEL":                                 {"rhel-8", false, "dnf", false},
		"a RHEL-like system":                   {"rocky-9", false, "dnf", false},
		"a system no table knows":              {"unknown", false, "zypper", false},
	}
	all, err := filepath.Glob("../../testdata/os-release/*.os-release")
	if err != nil || len(all) < 15 {
		t.Fatalf("fixtures: %v, %v", all, err)
	}
	tried := map[string]bool{}
	for _, tt := range tests {
		tried[tt.osRelease+".os-release"] = true
	}
	for _, fixture := range all {
		if !tried[filepath.Base(fixture)] {
			t.Errorf("%s is in no row of the table", fixture)
		}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			put(t, h.Files, "/etc/os-release", osRelease(t, tt.osRelease), 0o644)
			if tt.tool != "" {
				put(t, h.Files, manager+tt.tool, "", 0o755)
			}
			h.Storage = mounts{state: host.MountState{ReadOnly: tt.readOnly}}
			facts, err := host.ReadFacts(t.Context(), h.View())
			if err != nil {
				t.Fatal(err)
			}
			if facts.ImageManaged != tt.want {
				t.Errorf("image-managed is %v, want %v (%+v)", facts.ImageManaged, tt.want, facts.OS)
			}
		})
	}
}

func TestImageManagedUnknownMount(t *testing.T) {
	h := newHost(t)
	put(t, h.Files, "/usr/bin/apt-get", "", 0o755)
	h.Storage = mounts{err: host.Unknownf("the mount")}
	if facts, err := host.ReadFacts(t.Context(), h.View()); err != nil || facts.ImageManaged {
		t.Errorf("an unknown mount proves something: %+v, %v", facts, err)
	}
	h.Storage = mounts{err: syscall.EIO}
	if _, err := host.ReadFacts(t.Context(), h.View()); !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "/usr") {
		t.Errorf("a mount that cannot be looked at: %v", err)
	}
}

// elfHeader is as much of an ELF file as tells the architecture.
func elfHeader(class, data byte, machine uint16) string {
	b := make([]byte, 64)
	copy(b, "\x7fELF")
	b[4], b[5] = class, data
	b[18], b[19] = byte(machine), byte(machine>>8)
	if data == 2 {
		b[18], b[19] = b[19], b[18]
	}
	return string(b)
}

func TestOfflineArch(t *testing.T) {
	tests := map[string]struct {
		program, want string
	}{
		"amd64":            {elfHeader(2, 1, 62), "amd64"},
		"x32":              {elfHeader(1, 1, 62), ""},
		"arm64":            {elfHeader(2, 1, 183), "arm64"},
		"386":              {elfHeader(1, 1, 3), "386"},
		"arm":              {elfHeader(1, 1, 40), "arm"},
		"riscv64":          {elfHeader(2, 1, 243), "riscv64"},
		"ppc64le":          {elfHeader(2, 1, 21), "ppc64le"},
		"big-endian power": {elfHeader(2, 2, 21), ""},
		"s390x":            {elfHeader(2, 2, 22), "s390x"},
		"loong64":          {elfHeader(2, 1, 258), "loong64"},
		"an unknown one":   {elfHeader(2, 1, 9999), ""},
		"a script":         {"#!/bin/busybox sh\n# that is long enough\n", ""},
		"a short file":     {"\x7fELF", ""},
		"an empty file":    {"", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			put(t, h.Files, "/usr/bin/dash", tt.program, 0o755)
			link(t, h.Files, "/usr/bin/dash", "/usr/bin/sh")
			facts, err := host.ReadFacts(t.Context(), h.View())
			if err != nil || facts.Arch != tt.want {
				t.Errorf("arch is %q, %v; want %q", facts.Arch, err, tt.want)
			}
		})
	}
}

// TestOfflineFacts: nothing of the machine the program runs on is taken, and
// the first program that tells is believed.
func TestOfflineFacts(t *testing.T) {
	h := newHost(t)
	facts, err := host.ReadFacts(t.Context(), h.View())
	if err != nil {
		t.Fatal(err)
	}
	want := host.Facts{Root: h.Identity.Root, ImageManaged: true}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Errorf("an empty root has facts: %s", diff)
	}
	put(t, h.Files, "/usr/bin/sh", elfHeader(2, 1, 62), 0o755)
	put(t, h.Files, "/usr/lib/systemd/systemd", elfHeader(2, 1, 183), 0o755)
	if facts, err := host.ReadFacts(t.Context(), h.View()); err != nil || facts.Arch != "arm64" {
		t.Errorf("arch is %q, %v", facts.Arch, err)
	}
}

type liveKernel struct {
	host.KernelView
	release  string
	hostname string
	err      error
}

func (k liveKernel) Release(context.Context) (string, error) { return k.release, k.err }

func (k liveKernel) Sysctl(_ context.Context, key string) (string, error) {
	if key != "kernel.hostname" {
		return "", fs.ErrNotExist
	}
	return k.hostname, k.err
}

type liveUnits struct {
	host.UnitView
	version int
	err     error
}

func (u liveUnits) Manager(context.Context) (host.ManagerState, error) {
	return host.ManagerState{Version: u.version}, u.err
}

func TestLiveFacts(t *testing.T) {
	live := func(kernelErr, managerErr error) (host.Facts, error) {
		v := newHost(t).View()
		v.Identity = host.Identity{Live: true, Root: "/"}
		v.Kernel = liveKernel{release: "6.8.0", hostname: "node1", err: kernelErr}
		v.Units = liveUnits{version: 255, err: managerErr}
		return host.ReadFacts(t.Context(), v)
	}
	want := host.Facts{Arch: runtime.GOARCH, Hostname: "node1", Kernel: "6.8.0", Systemd: 255, ImageManaged: true, Live: true, Root: "/"}
	facts, err := live(nil, nil)
	if diff := cmp.Diff(want, facts); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, ok := range []error{host.ErrNoManager, host.Unknownf("the manager")} {
		if _, err := live(nil, ok); err != nil {
			t.Errorf("a manager that answers %v: %v", ok, err)
		}
	}
	if _, err := live(host.Unknownf("the kernel"), nil); err != nil {
		t.Errorf("an unknown kernel: %v", err)
	}
	if _, err := live(syscall.EIO, nil); !errors.Is(err, syscall.EIO) {
		t.Errorf("a kernel that cannot be read: %v", err)
	}
	if _, err := live(nil, syscall.EIO); !errors.Is(err, syscall.EIO) {
		t.Errorf("a manager that does not answer: %v", err)
	}
}
