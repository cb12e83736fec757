package lab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Tree is a fresh, writable copy of a base tree, "host" or "guest": a real
// Debian that is not booted. It goes away when the test ends.
func Tree(t testing.TB, name string) string {
	t.Helper()
	r := of(t)
	if _, ok := r.trees[name]; !ok {
		t.Fatalf("lab: there is no base tree %q", name)
	}
	dir, err := r.mkdir("tree")
	if err != nil {
		t.Fatalf("lab: %v", err)
	}
	t.Cleanup(func() {
		if err := unmountBelow(dir); err != nil {
			t.Errorf("lab: %v", err)
		} else if err := removeTree(dir); err != nil {
			t.Errorf("lab: %v", err)
		}
	})
	root, upper, work := filepath.Join(dir, "root"), filepath.Join(dir, "upper"), filepath.Join(dir, "work")
	err = errors.Join(os.Mkdir(upper, 0o755), os.Mkdir(work, 0o755))
	if err == nil {
		err = mountOverlay(root, []string{r.base(name)}, upper, work)
	}
	if err != nil {
		t.Fatalf("lab: making a tree: %v", err)
	}
	return root
}
