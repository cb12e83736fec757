//go:build e2e

package bench

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hostler/testdata/lab"
)

// stamps are inode and times of all that hostler could write in a host, but for
// /run, and for what is in machines, which write there themselves.
func stamps(t *testing.T, h *lab.Host) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range []string{"/etc", "/opt", "/usr/local", "/var/lib/hostler", "/var/lib/machines"} {
		err := filepath.WalkDir(filepath.Join(h.Root(), dir), func(name string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if inMachine(strings.TrimPrefix(name, h.Root())) {
				return fs.SkipDir
			}
			var st syscall.Stat_t
			if err := syscall.Lstat(name, &st); err != nil {
				return err
			}
			all[name] = fmt.Sprint(st.Ino, st.Ctim, st.Mtim)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// inMachine says whether a path is the tree of a machine.
func inMachine(name string) bool {
	dir, base := filepath.Split(name)
	return dir == "/var/lib/machines/" && !strings.HasPrefix(base, ".")
}

// differing counts what is new, gone or written.
func differing(before, after map[string]string) (n int) {
	for name, stamp := range after {
		if before[name] != stamp {
			n++
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			n++
		}
	}
	return n
}
