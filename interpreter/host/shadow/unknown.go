package shadow

import (
	"path"
	"syscall"
)

// MarkUnknown puts something unknown at name, with the parents it needs; see
// host.Unknowable. Where that is impossible (a parent is a file) nothing is
// done: whoever reads there gets the error that says so.
func (f *files) MarkUnknown(name, cause string) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	if f.mark(name, cause) == nil {
		f.log.note("unknown", name)
	}
}

func (f *files) mark(name, cause string) error {
	name = path.Clean(name)
	p, err := f.walk(name, false)
	if err == syscall.ENOENT && path.Dir(name) != name {
		if err := f.mkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		p, err = f.walk(name, false)
	}
	if err != nil {
		return err
	}
	if n := p.node(); n != nil && (n.holds() || p.isRoot()) {
		haunt(n, cause)
		return nil
	}
	if p.node() != nil {
		f.take(p)
		f.tree.forget(p.node())
	}
	n := f.tree.fresh(p.dir(), 0)
	haunt(n, cause)
	f.add(p, n)
	return nil
}

// haunt makes a node unknown, in place: a directory may be the root of a door.
func haunt(n *node, cause string) {
	n.ghost, n.parent, n.cause = true, false, cause
	n.base, n.data, n.entries, n.xattrs = "", nil, nil, nil
}

// unmount shows what lies below a mount point of the base: an empty directory,
// as mount points are made; below one that is a file, something unknown.
func (f *files) unmount(name string) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	p, err := f.walk(name, true)
	if err != nil || p.isRoot() || p.node() == nil || !f.tree.isPoint(p.node()) {
		return
	}
	if f.over.take(p.path()) {
		return
	}
	n := p.node()
	delete(n.from.points(), n.base)
	if !n.isDir() {
		below := f.tree.fresh(p.dir(), 0)
		haunt(below, "what lies under the mount at "+name+" is not known")
		p.dir().put(p.name(), below)
		return
	}
	n.mount, n.dev = p.dir().mount, p.dir().dev
	n.base, n.entries, n.cause, n.nlink = "", nil, "", 2
}
