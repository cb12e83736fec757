package treefs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/host/treefs"
)

func TestUnprivilegedOwners(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, treefs.Options{Unprivileged: true})
	write(t, f, "/file", "")
	for _, ids := range [][2]int{{0, 0}, {os.Geteuid(), os.Getegid()}, {-1, 0}, {0, -1}, {-1, -1}} {
		if err := f.Lchown("/file", ids[0], ids[1]); err != nil {
			t.Errorf("Lchown to %v: %v", ids, err)
		}
	}
	for _, ids := range [][2]int{{4711, 0}, {0, 4711}, {4711, 4711}, {-2, 0}} {
		err := f.Chown("/file", ids[0], ids[1])
		want := fmt.Sprintf("giving it to %d:%d needs root", ids[0], ids[1])
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "/file") {
			t.Errorf("Chown to %v: %v, want %q", ids, err, want)
		}
	}
	var st syscall.Stat_t
	must(t, syscall.Stat(dir+"/file", &st))
	if int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid() {
		t.Errorf("the file belongs to %d:%d", st.Uid, st.Gid)
	}
}

// TestUnprivilegedRemoveAll: directories that the caller may not write to or
// read are removed as root would remove them.
func TestUnprivilegedRemoveAll(t *testing.T) {
	f := open(t, t.TempDir(), treefs.Options{Unprivileged: true})
	must(t, f.MkdirAll("/tree/a/b", 0o755))
	write(t, f, "/tree/a/b/file", "")
	for _, name := range []string{"/tree/a/b", "/tree/a", "/tree"} {
		must(t, f.Chmod(name, 0o000))
	}
	must(t, f.RemoveAll("/tree"))
	if got := names(t, f, "/"); got != "" {
		t.Errorf("left: %s", got)
	}
}
