package treefs_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

// privateMounts, called before the tree is opened, lets the rest of the test mount: in a mount namespace that
// ends with the test's thread. It returns false for a caller who is not root,
// after seeing that such a caller cannot mount, which is then all that there
// is to expect.
func privateMounts(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		if err := unix.Mount("none", t.TempDir(), "tmpfs", 0, ""); !errors.Is(err, unix.EPERM) {
			t.Fatalf("mounting without privilege: %v, want EPERM", err)
		}
		return false
	}
	runtime.LockOSThread() // never unlocked: the thread is thrown away
	must(t, unix.Unshare(unix.CLONE_FS|unix.CLONE_NEWNS))
	must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	return true
}

func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	must(t, unix.Mount(source, target, kind, flags, data))
	t.Cleanup(func() { _ = unix.Unmount(target, unix.MNT_DETACH) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, f host.Files, name, content string) {
	t.Helper()
	must(t, host.Replace(f, name, host.Content{Bytes: []byte(content), Mode: 0o644}))
}

func holds(t *testing.T, f host.Files, name, want string) {
	t.Helper()
	b, err := afero.ReadFile(f, name)
	if err != nil || string(b) != want {
		t.Errorf("%s holds %.40q (%v), want %q", name, b, err, want)
	}
}

func names(t *testing.T, f host.Files, dir string) string {
	t.Helper()
	infos, err := afero.ReadDir(f, dir)
	must(t, err)
	var list []string
	for _, info := range infos {
		list = append(list, info.Name())
	}
	return strings.Join(list, " ")
}

func TestC10BindMountedFile(t *testing.T) {
	dir := t.TempDir()
	private := privateMounts(t)
	f := open(t, dir, caller())
	must(t, f.Mkdir("/etc", 0o755))
	write(t, f, "/etc/x", "below")
	write(t, f, "/y", "mounted")
	if !private {
		return
	}
	mount(t, dir+"/y", dir+"/etc/x", "", unix.MS_BIND, "")
	for range 2 {
		err := host.Replace(f, "/etc/x", host.Content{Bytes: []byte("new"), Mode: 0o644})
		if !errors.Is(err, unix.EBUSY) || !strings.Contains(err.Error(), "mount point") || !strings.Contains(err.Error(), "/etc/x") {
			t.Errorf("replacing a bind-mounted file: %v", err)
		}
	}
	holds(t, f, "/etc/x", "mounted")
	if got := names(t, f, "/etc"); got != "x" {
		t.Errorf("left in the directory: %s", got)
	}
}

// immutable is FS_IMMUTABLE_FL of linux/fs.h.
const immutable = 0x10

func TestC17ImmutableFile(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, caller())
	write(t, f, "/demo.conf", "old")
	file, err := os.Open(dir + "/demo.conf")
	must(t, err)
	t.Cleanup(func() { _ = file.Close() })
	err = unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, immutable)
	if os.Geteuid() != 0 {
		if !errors.Is(err, unix.EPERM) {
			t.Fatalf("chattr +i without privilege: %v, want EPERM", err)
		}
		return
	}
	must(t, err)
	t.Cleanup(func() { _ = unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, 0) })
	for what, err := range map[string]error{
		"Replace": host.Replace(f, "/demo.conf", host.Content{Bytes: []byte("new"), Mode: 0o644}),
		"Remove":  host.Remove(f, "/demo.conf"),
		"Symlink": host.Symlink(f, "target", "/demo.conf"),
	} {
		if !errors.Is(err, unix.EPERM) || !strings.Contains(err.Error(), "immutable") || !strings.Contains(err.Error(), "/demo.conf") {
			t.Errorf("%s of an immutable file: %v", what, err)
		}
	}
	holds(t, f, "/demo.conf", "old")
	if got := names(t, f, "/"); got != "demo.conf" {
		t.Errorf("left in the directory: %s", got)
	}
}

func TestC18ReadOnlyMount(t *testing.T) {
	dir := t.TempDir()
	private := privateMounts(t)
	f := open(t, dir, caller())
	must(t, f.MkdirAll("/usr/local/lib", 0o755))
	write(t, f, "/usr/local/lib/x.sh", "old")
	if !private {
		return
	}
	mount(t, dir+"/usr", dir+"/usr", "", unix.MS_BIND, "")
	must(t, unix.Mount("", dir+"/usr", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOEXEC, ""))
	for what, err := range map[string]error{
		"Replace": host.Replace(f, "/usr/local/lib/x.sh", host.Content{Bytes: []byte("new"), Mode: 0o644}),
		"Remove":  host.Remove(f, "/usr/local/lib/x.sh"),
	} {
		if !errors.Is(err, unix.EROFS) || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%s on a read-only mount: %v", what, err)
		}
	}
	must(t, host.Remove(f, "/usr/local/lib/absent"))
	holds(t, f, "/usr/local/lib/x.sh", "old")
	state, err := f.Mount(t.Context(), "/usr/local/lib")
	must(t, err)
	if state.Point != "/usr" || !state.ReadOnly || !state.NoExec {
		t.Errorf("the mount is %+v", state)
	}
	state, err = f.Mount(t.Context(), "/")
	must(t, err)
	if state.Point != "/" || state.ReadOnly {
		t.Errorf("the root's mount is %+v", state)
	}
}

func TestC20FullDisk(t *testing.T) {
	dir := t.TempDir()
	private := privateMounts(t)
	f := open(t, dir, caller())
	must(t, f.Mkdir("/s", 0o755))
	if !private {
		return
	}
	mount(t, "none", dir+"/s", "tmpfs", 0, "size=64k")
	must(t, f.Mkdir("/s/app.conf.d", 0o755))
	write(t, f, "/s/app.conf.d/10-x.conf", "old")
	for range 5 {
		err := host.Replace(f, "/s/app.conf.d/10-x.conf", host.Content{Bytes: make([]byte, 1<<20), Mode: 0o644})
		if !errors.Is(err, unix.ENOSPC) {
			t.Errorf("replacing on a full disk: %v, want ENOSPC", err)
		}
		if got := names(t, f, "/s/app.conf.d"); got != "10-x.conf" {
			t.Errorf("left in the directory: %s", got)
		}
	}
	holds(t, f, "/s/app.conf.d/10-x.conf", "old")
	if state, err := f.Mount(t.Context(), "/s/app.conf.d"); err != nil || state.Point != "/s" || state.Type != "tmpfs" || state.Source != "none" {
		t.Errorf("the mount is %+v, %v", state, err)
	}
}

// TestMountAtRunningRoot: a door onto "/" sees the kernel's own mounts.
func TestMountAtRunningRoot(t *testing.T) {
	f := open(t, "/", treefs.Options{Unprivileged: os.Geteuid() != 0})
	state, err := f.Mount(t.Context(), "/proc/self")
	must(t, err)
	if state.Point != "/proc" || state.Type != "proc" {
		t.Errorf("/proc is on %+v", state)
	}
	real, err := f.RealDir("/proc/self/../")
	if err != nil || real != "/proc" {
		t.Errorf("RealDir is %q, %v", real, err)
	}
	for _, name := range []string{"/proc/self/root/etc", "/proc/self/cwd", "/proc/self/exe", "/proc/self/fd/0"} {
		if _, err := f.Stat(name); !errors.Is(err, unix.ELOOP) {
			t.Errorf("a magic link is followed: %s: %v, want ELOOP", name, err)
		}
	}
	dir := t.TempDir()
	write(t, f, filepath.Join(dir, "file"), "content")
	must(t, f.RemoveAll(filepath.Join(dir, "file")))
}
