package treefs_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host/treefs"
)

// TestC78RemoveAllStopsAtMounts: what is mounted below survives, nothing is
// half removed, and once it is unmounted the removal completes.
func TestC78RemoveAllStopsAtMounts(t *testing.T) {
	dir := t.TempDir()
	private := privateMounts(t)
	f := open(t, dir, caller())
	must(t, f.MkdirAll("/precious/sub", 0o755))
	write(t, f, "/precious/marker", "survives")
	write(t, f, "/precious/sub/marker", "survives")
	must(t, f.MkdirAll("/tree/a/mnt", 0o755))
	write(t, f, "/tree/a/file", "")
	write(t, f, "/tree/zz", "")
	if private {
		stopsAtMount(t, f, dir, "/precious", "/tree/a/mnt")
		stopsAtMount(t, f, dir, "/precious/marker", "/tree/a/file")
		stopsAtMount(t, f, dir, "/precious", "/tree")
		mount(t, "none", dir+"/tree/a/mnt", "tmpfs", 0, "")
		if err := f.RemoveAll("/tree"); err == nil || !strings.Contains(err.Error(), "none (tmpfs) is mounted here") {
			t.Errorf("RemoveAll over a tmpfs: %v, want an error that names it", err)
		}
		must(t, unix.Unmount(dir+"/tree/a/mnt", 0))
	}
	must(t, f.RemoveAll("/tree"))
	if got := names(t, f, "/"); got != "precious" {
		t.Errorf("left: %s", got)
	}
	holds(t, f, "/precious/marker", "survives")
	holds(t, f, "/precious/sub/marker", "survives")
}

// stopsAtMount bind-mounts source at point, inside the same file system, which
// a comparison of devices does not see, with a file open below.
func stopsAtMount(t *testing.T, f *treefs.FS, dir, source, point string) {
	t.Helper()
	mount(t, dir+source, dir+point, "", unix.MS_BIND|unix.MS_REC, "")
	busy, err := f.Open(point)
	must(t, err)
	before := names(t, f, "/tree")
	err = f.RemoveAll("/tree")
	if !errors.Is(err, syscall.EBUSY) || !strings.Contains(err.Error(), point+":") || !strings.Contains(err.Error(), "mounted") {
		t.Errorf("RemoveAll over a mount at %s: %v", point, err)
	}
	if got := names(t, f, "/tree"); got != before {
		t.Errorf("half removed: %q, want %q", got, before)
	}
	holds(t, f, "/precious/marker", "survives")
	must(t, busy.Close())
	must(t, unix.Unmount(dir+point, 0))
}
