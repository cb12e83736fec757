package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
)

// Entry is what stands at a name, in comparable form.
type Entry struct {
	Kind     string // "file", "dir", "link", "char", "block", "fifo", "socket"
	Mode     uint32 // twelve bits
	UID, GID int
	Target   string // of links
	Digest   string // of files: sha256 of the content, in hex
	Xattrs   string // "name=value" pairs, sorted, quoted
	Device   uint64
}

// Snapshot describes every name on the host, mounted file systems included,
// save those at or below the names in except.
func (m *Memory) Snapshot(except ...string) map[string]Entry {
	t := m.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	all := map[string]Entry{}
	t.snapshot(t.root(), "/", except, all)
	return all
}

func (t *tree) snapshot(at place, name string, except []string, all map[string]Entry) {
	if slices.Contains(except, name) {
		return
	}
	all[name] = entryOf(at.node)
	for _, child := range at.node.names() {
		t.snapshot(t.cross(place{at.mnt, at.node.entries[child]}), path.Join(name, child), except, all)
	}
}

func entryOf(n *inode) Entry {
	e := Entry{Kind: kindName(n.kind), Mode: n.attr.perm, UID: n.attr.uid, GID: n.attr.gid, Target: n.target, Device: n.rdev}
	if n.isFile() {
		sum := sha256.Sum256(n.data)
		e.Digest = hex.EncodeToString(sum[:])
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(n.attr.xattrs)) {
		pairs = append(pairs, fmt.Sprintf("%s=%q", name, n.attr.xattrs[name]))
	}
	e.Xattrs = strings.Join(pairs, " ")
	return e
}

func kindName(kind uint32) string {
	switch kind {
	case syscall.S_IFDIR:
		return "dir"
	case syscall.S_IFLNK:
		return "link"
	case syscall.S_IFCHR:
		return "char"
	case syscall.S_IFBLK:
		return "block"
	case syscall.S_IFIFO:
		return "fifo"
	case syscall.S_IFSOCK:
		return "socket"
	}
	return "file"
}

// Difference lists, sorted, the names whose entries differ between two
// snapshots: "+name" is new, "-name" is gone, "~name" has changed.
func Difference(before, after map[string]Entry) []string {
	var list []string
	for name, e := range after {
		if old, ok := before[name]; !ok {
			list = append(list, "+"+name)
		} else if old != e {
			list = append(list, "~"+name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			list = append(list, "-"+name)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(a[1:]+a[:1], b[1:]+b[:1]) })
	return list
}
