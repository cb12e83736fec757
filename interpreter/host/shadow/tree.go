package shadow

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"
	"syscall"

	"hostler/interpreter/host"
)

// tree is the overlay over the files of a base: one graph of nodes that loads
// itself from the base where it is looked at. A directory that was moved still
// loads its entries from where the base has it.
type tree struct {
	mu sync.Mutex
	// base is where the root is from.
	base  *source
	clock host.Clock
	root  *node
	// inodes finds files of the base that have several names.
	inodes map[inode]*node
	// removed are directories below which names are yet to be forgotten.
	removed []*node
	// nextIno numbers new files.
	nextIno uint64
}

type inode struct{ dev, ino uint64 }

// firstIno is above what file systems give out, so that new files differ from
// those of the base.
const firstIno = 1 << 62

func newTree(v host.View, clock host.Clock) *tree {
	return &tree{base: newSource(v), clock: clock, inodes: map[inode]*node{}, nextIno: firstIno}
}

// top is the root directory.
func (t *tree) top() (*node, error) {
	if t.root != nil {
		return t.root, nil
	}
	var err error
	t.root, err = t.rootOf(t.base, "/")
	return t.root, err
}

// rootOf is the node of a mount point of a base.
func (t *tree) rootOf(s *source, point string) (*node, error) {
	info, err := host.Lstat(s.files, point)
	if err != nil {
		return nil, errno(err)
	}
	return t.fromBase(s, point, info), nil
}

// lookup finds the entry name of the directory d; nil if there is none.
func (t *tree) lookup(d *node, name string) (*node, error) {
	if len(name) > 255 {
		return nil, syscall.ENAMETOOLONG
	}
	if n, ok := d.entries[name]; ok {
		return n, nil
	}
	if d.cause != "" {
		n := &node{ghost: true, cause: d.cause, from: d.from, mount: d.mount, dev: d.dev, nlink: 1}
		d.put(name, n)
		return n, nil
	}
	if d.base == "" {
		return nil, nil
	}
	p := path.Join(d.base, name)
	info, err := host.Lstat(d.from.files, p)
	if host.Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, errno(err)
	}
	n := t.fromBase(d.from, p, info)
	d.put(name, n)
	return n, nil
}

// fromBase makes the node of what a base has at p.
func (t *tree) fromBase(s *source, p string, info fs.FileInfo) *node {
	st := host.StatOf(info)
	id := inode{st.Dev, st.Ino}
	shared := !info.IsDir() && st.Nlink > 1 && st.Ino != 0
	if n := t.inodes[id]; shared && n != nil {
		return n
	}
	n := &node{
		mode: info.Mode(), uid: st.UID, gid: st.GID, nlink: st.Nlink, dev: st.Dev, ino: st.Ino,
		mtime: info.ModTime(), size: info.Size(), from: s, base: p, mount: path.Dir(p),
	}
	if raw, ok := info.Sys().(*syscall.Stat_t); ok {
		n.rdev = uint64(raw.Rdev)
	}
	if n.isDir() || s.points()[p] {
		n.mount = p
	}
	if n.isRegular() {
		n.data = &content{size: n.size, source: p, kept: n.size, pristine: true}
	}
	if shared {
		t.inodes[id] = n
	}
	return n
}

// fresh is a new node in the directory d, which gives its group where it has
// the setgid bit.
func (t *tree) fresh(d *node, mode fs.FileMode) *node {
	t.nextIno++
	n := &node{mode: mode, nlink: 1, dev: d.dev, ino: t.nextIno, from: d.from, mount: d.mount, mtime: t.clock.Now()}
	if d.mode&fs.ModeSetgid != 0 {
		n.gid = d.gid
	}
	switch {
	case mode.IsDir():
		n.nlink, n.size = 2, 4096
	case mode.IsRegular():
		n.data = &content{}
	}
	return n
}

// target is where a link leads.
func (t *tree) target(n *node) (string, error) {
	if n.base == "" {
		return n.target, nil
	}
	target, err := n.from.files.ReadlinkIfPossible(n.base)
	return target, errno(err)
}

// names lists a directory, sorted.
func (t *tree) names(d *node) ([]string, error) {
	if d.cause != "" {
		return nil, &host.UnknownError{Cause: d.cause}
	}
	all := map[string]bool{}
	if d.base != "" {
		names, err := baseNames(d.from.files, d.base)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			all[name] = true
		}
	}
	for name, n := range d.entries {
		all[name] = n != nil
	}
	maps.DeleteFunc(all, func(_ string, there bool) bool { return !there })
	return slices.Sorted(maps.Keys(all)), nil
}

func baseNames(base host.FileView, dir string) ([]string, error) {
	f, err := base.Open(dir)
	if err != nil {
		return nil, errno(err)
	}
	names, err := f.Readdirnames(-1)
	return names, errno(errors.Join(err, f.Close()))
}

// empty says whether a directory can be removed; of one that is not known,
// only what was put there counts.
func (t *tree) empty(d *node) (bool, error) {
	if d.cause == "" {
		names, err := t.names(d)
		return len(names) == 0, err
	}
	for _, n := range d.entries {
		if n != nil && (!n.ghost || n.parent) {
			return false, nil
		}
	}
	return true, nil
}

// forget takes a name from what was removed. The names in a removed tree are
// counted when somebody asks for the links of a file, and not before: nobody
// should wait for a walk of a tree that goes.
func (t *tree) forget(n *node) {
	switch {
	case n.mode.IsDir():
		t.removed = append(t.removed, n)
	case n.nlink > 0:
		n.nlink--
	}
}

// info is a snapshot of n with all its links counted.
func (t *tree) info(n *node, name string) fs.FileInfo {
	for !n.mode.IsDir() && n.nlink > 1 && len(t.removed) > 0 {
		d := t.removed[0]
		t.removed = t.removed[1:]
		for _, child := range t.children(d) {
			t.forget(child)
		}
	}
	return n.info(name)
}

// children are what is found in a directory, without what cannot be.
func (t *tree) children(d *node) []*node {
	names, err := t.names(d)
	if err != nil {
		names = slices.Collect(maps.Keys(d.entries))
	}
	var all []*node
	for _, name := range names {
		if n, err := t.lookup(d, name); err == nil && n != nil {
			all = append(all, n)
		}
	}
	return all
}

func (t *tree) touch(n *node) {
	if !n.ghost {
		n.mtime = t.clock.Now()
	}
}
