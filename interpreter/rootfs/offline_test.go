package rootfs

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/offline"
)

// TestOfflineHost unpacks onto a real root directory, as whoever runs the
// tests.
func TestOfflineHost(t *testing.T) {
	dir := t.TempDir()
	h, err := offline.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := offline.Close(h); err != nil {
			t.Error(err)
		}
	})
	if err := host.MakeParents(h.Files, host.MachineRoot("m"), 0o755); err != nil {
		t.Fatal(err)
	}
	unpackAndCheck(t, h, dir)
}

// unpackAndCheck unpacks an image by the descriptor tree and by the door of
// the same host, and holds both to the same result.
func unpackAndCheck(t *testing.T, h host.Host, dir string) {
	t.Helper()
	ctx := context.Background()
	image := plainImage(t, "mode=0700 d ./\n f etc/os-release ID=x\n mode=4755 f bin/su s\n l bin/sh -> /bin/bash\n h bin/hard = bin/su\n mode=0555 d ro\n f ro/x x\n p run/fifo\n x=user.k:v f attr")
	if _, ok := h.Files.(host.RealDir); !ok {
		t.Fatal("the offline host is no real directory")
	}
	door := h
	door.Files = struct {
		host.Files
		host.Special
	}{h.Files, h.Files.(host.Special)}
	for name, one := range map[string]host.Host{"at": h, "door": door} {
		if _, err := Unpack(ctx, image, one, host.MachineRoot(name), Options{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if digest, ok, err := Complete(h.Files, name); !ok || err != nil || digest != image.Digest {
			t.Errorf("%s: %q %v %v", name, digest, ok, err)
		}
	}
	at, through := listDir(t, filepath.Join(dir, host.MachineRoot("at"))), listDir(t, filepath.Join(dir, host.MachineRoot("door")))
	if strings.Join(at, "\n") != strings.Join(through, "\n") || len(at) != 12 {
		t.Errorf("descriptors:\n%s\ndoor:\n%s", strings.Join(at, "\n"), strings.Join(through, "\n"))
	}
	owned := plainImage(t, "f a\n own=5:6 f etc/shadow x\n c dev/null")
	_, err := Unpack(ctx, owned, h, host.MachineRoot("owned"), Options{})
	switch {
	case h.Identity.Privileged && err != nil:
		t.Errorf("as root: %v", err)
	case !h.Identity.Privileged && (err == nil || !strings.Contains(err.Error(), `entry "etc/shadow": owner 5:6 can only be set by root`)):
		t.Errorf("unprivileged: %v", err)
	}
	for _, name := range []string{"at", "door", "owned"} {
		if err := RemoveTree(ctx, h, host.MachineRoot(name)); err != nil {
			t.Error(err)
		}
	}
}

const childEnv = "HOSTLER_TEST_UNPRIVILEGED"

// TestUnprivilegedProcess runs TestOfflineHost as another user, when the tests
// run as root.
func TestUnprivilegedProcess(t *testing.T) {
	if os.Geteuid() != 0 || os.Getenv(childEnv) != "" {
		return // TestOfflineHost itself runs unprivileged
	}
	dir, err := os.MkdirTemp("", "unprivileged")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	work := filepath.Join(dir, "work")
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(work, 0o700), os.Chown(work, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "rootfs.test")
	copyProgram(t, program)
	cmd := exec.Command(program, "-test.run=^TestOfflineHost$", "-test.v")
	cmd.Dir = work
	cmd.Env = []string{childEnv + "=1", "TMPDIR=" + work, "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestOfflineHost") {
		t.Errorf("unprivileged: %v\n%s", err, out)
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, from)
	if err := errors.Join(err, out.Close(), from.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestSwappedParent: a link that somebody puts in the place of a directory
// while the tree is filled is not followed, by either way of opening.
func TestSwappedParent(t *testing.T) {
	outside := t.TempDir()
	g := atGround(t, false)
	defer g.done()
	at := g.tree.(*atTree)
	for _, name := range []string{"a", "a/b", "a/b/c"} {
		if err := at.Mkdir(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := at.dirs.close(); err != nil {
		t.Fatal(err)
	}
	if fd, err := stepDown(at.top, "a/b/c"); err != nil {
		t.Error(err)
	} else if err := unix.Close(fd); err != nil {
		t.Error(err)
	}
	if err := at.Remove("a/b"); err != nil {
		t.Fatal(err)
	}
	if err := at.dirs.close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Symlinkat(outside, at.top, "evil"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Symlinkat("../evil", at.top, "a/b"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"evil/x", "a/b/x", "evil/../x"} {
		if _, err := at.Put(name, object{content: strings.NewReader("")}); err == nil {
			t.Errorf("%s is written through a link", name)
		}
	}
	for _, name := range []string{"evil", "a/b"} {
		if _, err := stepDown(at.top, name); err == nil {
			t.Errorf("%s is stepped through", name)
		}
		if _, err := at.Dress(name, attrs{}); err == nil {
			t.Errorf("%s is dressed through", name)
		}
	}
	if names, err := os.ReadDir(outside); err != nil || len(names) != 0 {
		t.Errorf("outside: %v %v", names, err)
	}
	if _, err := newAtTree(filepath.Join(outside, "gone"), true); err == nil {
		t.Error("a top that is not there is opened")
	}
}
