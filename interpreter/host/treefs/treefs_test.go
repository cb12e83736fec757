package treefs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/file", nil, 0o644))
	for root, want := range map[string]error{
		dir + "/none": fs.ErrNotExist,
		dir + "/file": unix.ENOTDIR,
	} {
		if _, err := treefs.Open(root, caller()); !errors.Is(err, want) || !strings.Contains(err.Error(), root) {
			t.Errorf("Open(%s): %v, want %v", root, err, want)
		}
	}
	if _, err := treefs.Open(dir+"\x00", caller()); err == nil {
		t.Error("a root with a NUL byte opens")
	}
}

func TestNames(t *testing.T) {
	f := open(t, t.TempDir(), caller())
	if f.Name() != "treefs" {
		t.Errorf("called %q", f.Name())
	}
	must(t, f.Mkdir("/dir", 0o755))
	write(t, f, "/dir/../dir/./file", "clean") // names are cleaned, never resolved out
	holds(t, f, "/../../dir/file", "clean")
	for _, name := range []string{"", "dir", "./dir", "a\x00b", "/a\x00b"} {
		_, open := f.Open(name)
		_, stat := f.Stat(name)
		for what, err := range map[string]error{
			"Open": open, "Stat": stat, "Mkdir": f.Mkdir(name, 0o755), "MkdirAll": f.MkdirAll(name, 0o755),
			"Remove": f.Remove(name), "RemoveAll": f.RemoveAll(name), "Rename": f.Rename("/dir/file", name),
			"Lchown": f.Lchown(name, 0, 0), "Chmod": f.Chmod(name, 0o700), "SyncTree": f.SyncTree(name),
		} {
			if !errors.Is(err, unix.EINVAL) {
				t.Errorf("%s(%q): %v, want EINVAL", what, name, err)
			}
		}
	}
	holds(t, f, "/dir/file", "clean")
	if err := f.RemoveAll("/"); !errors.Is(err, unix.EBUSY) {
		t.Errorf("RemoveAll(/): %v, want EBUSY", err)
	}
}

func TestSubAndRealDir(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, caller())
	must(t, f.MkdirAll("/var/lib/machines/kube1/etc", 0o755))
	must(t, f.SymlinkIfPossible("/var/lib/machines", "/m"))
	real, err := f.RealDir("/m/kube1")
	if want := dir + "/var/lib/machines/kube1"; err != nil || real != want {
		t.Errorf("RealDir is %q, %v; want %q", real, err, want)
	}
	if real, err := f.RealDir("/"); err != nil || real != dir {
		t.Errorf("RealDir(/) is %q, %v", real, err)
	}
	sub, err := f.Sub("/m/kube1")
	must(t, err)
	defer sub.Close()
	write(t, sub, "/etc/x", "inside")
	holds(t, f, "/var/lib/machines/kube1/etc/x", "inside")
	if real, err := sub.RealDir("/etc"); err != nil || real != dir+"/var/lib/machines/kube1/etc" {
		t.Errorf("RealDir in a sub-root is %q, %v", real, err)
	}
	if state, err := sub.Mount(t.Context(), "/etc"); err != nil || state.Point != "/" {
		t.Errorf("the mount is at %q, %v", state.Point, err)
	}
	if _, err := f.Sub("/m/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Sub of nothing: %v", err)
	}
	if _, err := f.Sub("/m/kube1/etc/x"); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("Sub of a file: %v", err)
	}
	must(t, os.RemoveAll(dir+"/var"))
	if _, err := f.RealDir("/m/kube1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("RealDir of nothing: %v", err)
	}
}

func TestClosed(t *testing.T) {
	f := open(t, t.TempDir(), caller())
	write(t, f, "/file", "content")
	file, err := f.Open("/file")
	must(t, err)
	must(t, f.Close())
	if _, err := f.Stat("/file"); !errors.Is(err, unix.EBADF) {
		t.Errorf("Stat after Close: %v, want EBADF", err)
	}
	if info, err := file.Stat(); err != nil || info.Size() != 7 {
		t.Errorf("an open file after Close: %v", err)
	}
	must(t, file.Close())
}

func TestFileTypes(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, caller())
	must(t, f.Mknod("/socket", unix.S_IFSOCK|0o600, 0))
	for name, want := range map[string]fs.FileMode{"/socket": fs.ModeSocket, "/": fs.ModeDir} {
		info, err := host.Lstat(f, name)
		must(t, err)
		if info.Mode().Type() != want {
			t.Errorf("%s is a %v, want %v", name, info.Mode().Type(), want)
		}
	}
	must(t, f.SyncTree("/socket"))
	err := f.Mknod("/disk", unix.S_IFBLK|0o600, unix.Mkdev(7, 0))
	if os.Geteuid() != 0 {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a block device without privilege: %v", err)
		}
		return
	}
	must(t, err)
	info, err := f.Stat("/disk")
	must(t, err)
	if info.Mode().Type() != fs.ModeDevice {
		t.Errorf("/disk is a %v", info.Mode().Type())
	}
}

func TestLargeDirectoryAndDeepTree(t *testing.T) {
	f := open(t, t.TempDir(), caller())
	must(t, f.Mkdir("/many", 0o755))
	for i := range 1500 {
		must(t, f.SymlinkIfPossible("x", filepath.Join("/many", fmt.Sprint(i))))
	}
	d, err := f.Open("/many")
	must(t, err)
	infos, err := d.Readdir(-1)
	must(t, errors.Join(err, d.Close()))
	if len(infos) != 1500 {
		t.Errorf("%d entries, want 1500", len(infos))
	}
	must(t, f.MkdirAll(strings.Repeat("/d", 200), 0o755))
	must(t, f.RemoveAll("/many"))
	must(t, f.RemoveAll("/d"))
	if got := names(t, f, "/"); got != "" {
		t.Errorf("left: %s", got)
	}
}

// TestReaddirWhileRemoving: what vanishes between listing and looking is left
// out.
func TestReaddirWhileRemoving(t *testing.T) {
	f := open(t, t.TempDir(), caller())
	for i := range 400 {
		write(t, f, fmt.Sprintf("/%d", i), "")
	}
	var done sync.WaitGroup
	done.Go(func() {
		for i := range 400 {
			if err := f.Remove(fmt.Sprintf("/%d", i)); err != nil {
				t.Error(err)
			}
		}
	})
	for range 20 {
		d, err := f.Open("/")
		must(t, err)
		if _, err := d.Readdir(-1); err != nil {
			t.Errorf("listing: %v", err)
		}
		must(t, d.Close())
	}
	done.Wait()
}
