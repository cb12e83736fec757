//go:build e2e

package lab

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestGroupParents(t *testing.T) {
	for name, c := range map[string]struct {
		self string
		pure bool
		want []string
	}{
		"hybrid": {"9:name=systemd:/\n4:memory:/a/b\n1:cpu,cpuacct:/c\n0::/u\n", false,
			[]string{"/cg/systemd", "/cg/memory/a/b", "/cg/cpu,cpuacct/c", "/cg/unified/u"}},
		"pure v2": {"0::/user.slice/session-1.scope\n", true, []string{"/cg"}},
		"empty":   {"", false, nil},
	} {
		if got := groupParents(c.self, "/cg", c.pure); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q want %q", name, got, c.want)
		}
	}
}

func TestNewGroupsGetControllersAndProcessors(t *testing.T) {
	parent, group := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"cgroup.controllers": "cpu memory\n", "cgroup.subtree_control": "", "cpuset.cpus": "0-1\n", "cpuset.mems": "\n",
	} {
		if err := os.WriteFile(filepath.Join(parent, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(group, "cgroup.clone_children"), []byte("0"), 0o644); err != nil {
		t.Fatal(err)
	}
	enable(parent)
	if err := inherit(parent, group); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		parent + "/cgroup.subtree_control": "+cpu+memory", group + "/cpuset.cpus": "0-1\n", group + "/cgroup.clone_children": "1",
	} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", filepath.Base(path), got, err)
		}
	}
	if _, err := os.Stat(group + "/cpuset.mems"); err == nil {
		t.Error("an empty value was written")
	}
}

func TestCountPackets(t *testing.T) {
	const text = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
  eth0:     786       9    0    0    0     0          0         0      786      11    0    0    0     0       0          0
`
	for iface, want := range map[string]int{"lo": 0, "eth0": 11} {
		if got, err := countPackets(text, iface); err != nil || got != want {
			t.Errorf("%s: %d %v", iface, got, err)
		}
	}
	if _, err := countPackets(text, "eth1"); err == nil {
		t.Error("eth1 was found")
	}
}

func TestIsInit(t *testing.T) {
	for status, want := range map[string]bool{
		"Name:\tsystemd\nNSpid:\t812\t1\n": true, "NSpid:\t812\t12\n": false, "NSpid:\t1\n": false, "": false,
	} {
		if got := isInit(status); got != want {
			t.Errorf("%q: %v", status, got)
		}
	}
}

func TestSlotsCountTestsNotHosts(t *testing.T) {
	s := newSlots(1)
	release := s.take("TestA")
	s.take("TestA")() // a second host of the same test
	s.take("TestA/sub")()
	got := make(chan struct{})
	go func() {
		defer s.take("TestAB")()
		close(got)
	}()
	select {
	case <-got:
		t.Fatal("two tests had the only slot")
	case <-time.After(50 * time.Millisecond):
	}
	release()
	<-got
}

func TestUsableNamesAllThatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := usable("/nonexistent")
	if err == nil {
		t.Fatal("a machine without anything is usable")
	}
	for _, want := range append(programs(), "/nonexistent/host", "/nonexistent/guest", "testdata/lab/prepare") {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

func TestSnapshotSeesEveryKindOfChange(t *testing.T) {
	t.Parallel()
	root := Tree(t, "host")
	at := func(name string) string { return filepath.Join(root, name) }
	before := Snapshot(t, root, "usr/share")
	if len(before) < 3000 || before["usr/lib/systemd/systemd"].Mode.Perm() != 0o755 {
		t.Errorf("that is no Debian: %d entries", len(before))
	}
	if _, ok := before["usr/share/doc"]; ok {
		t.Error("usr/share was not skipped")
	}
	for _, err := range []error{
		os.WriteFile(at("etc/issue"), []byte("changed"), 0o644),
		os.Chmod(at("etc/fstab"), 0o600),
		os.Chown(at("etc/passwd"), 1, 2),
		os.Remove(at("etc/os-release")), os.Symlink("elsewhere", at("etc/os-release")),
		os.Remove(at("etc/shadow")),
		os.WriteFile(at("srv/new"), nil, 0o644),
		unix.Setxattr(at("etc/group"), "user.lab", []byte("x"), 0),
		unix.Mknod(at("dev/lab"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))),
		os.WriteFile(at("usr/share/new"), nil, 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"+ dev/lab", "~ etc/fstab: mode -rw-r--r-- → -rw-------", "~ etc/group: xattrs", "~ etc/issue: content",
		"~ etc/os-release: content", "~ etc/passwd: owner 0:0 → 1:2", "- etc/shadow", "+ srv/new",
	}
	if got := Changes(before, Snapshot(t, root, "usr/share")); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if fresh := Changes(before, Snapshot(t, Tree(t, "host"), "usr/share")); len(fresh) > 0 {
		t.Errorf("a fresh tree has changes: %q", fresh)
	}
}
