package blocktest

import (
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// Tree is what a host's files looked like at one moment, by path.
type Tree map[string]Entry

// Entry is one file, link or directory.
type Entry struct {
	State thing.State
	// ModTime is that of files and links; directories have none, because any
	// temporary file in them moves it.
	ModTime time.Time
	// Ino tells a file from another with the same content.
	Ino uint64
}

// Snapshot looks at everything below the roots, which need not exist.
func Snapshot(t testing.TB, f host.FileView, roots ...string) Tree {
	t.Helper()
	tree := Tree{}
	for _, root := range roots {
		if err := tree.add(f, root); err != nil {
			t.Fatalf("snapshot of %s: %v", root, err)
		}
	}
	return tree
}

func (tree Tree) add(f host.FileView, name string) error {
	info, err := host.Lstat(f, name)
	if host.Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	state, err := thing.LookPath(f, name)
	if err != nil {
		return err
	}
	e := Entry{State: state, Ino: host.StatOf(info).Ino}
	if info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0 {
		e.ModTime = info.ModTime()
	}
	tree[name] = e
	if !info.IsDir() {
		return nil
	}
	names, err := host.Names(f, name)
	for _, n := range names {
		if err := tree.add(f, path.Join(name, n)); err != nil {
			return err
		}
	}
	return err
}

// Untouched lists what differs from an earlier snapshot in anything at all,
// inodes included; "" means nothing.
func (tree Tree) Untouched(before Tree) string {
	return tree.compare(before, func(a, b Entry) bool {
		return a.Ino == b.Ino && a.ModTime.Equal(b.ModTime) && a.State.Same(b.State)
	})
}

// Restored lists what differs from an earlier snapshot in content, mode,
// owner, link target or, for files, modification time; "" means nothing.
func (tree Tree) Restored(before Tree) string {
	return tree.compare(before, func(a, b Entry) bool {
		return a.State.Same(b.State) && (a.State.Kind != thing.File || a.ModTime.Equal(b.ModTime))
	})
}

func (tree Tree) compare(before Tree, same func(a, b Entry) bool) string {
	var lines []string
	for name, was := range before {
		now, ok := tree[name]
		switch {
		case !ok:
			lines = append(lines, "gone: "+name)
		case !same(now, was):
			lines = append(lines, fmt.Sprintf("changed: %s: %+v -> %+v", name, was, now))
		}
	}
	for name := range tree {
		if _, ok := before[name]; !ok {
			lines = append(lines, "new: "+name)
		}
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}
