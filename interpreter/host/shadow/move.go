package shadow

import (
	"io/fs"
	"syscall"

	"hostler/interpreter/host"
)

// SymlinkIfPossible makes a link.
func (f *files) SymlinkIfPossible(target, name string) error {
	return f.change("symlink", name, func() error {
		switch {
		case target == "":
			return syscall.ENOENT
		case len(target) > 4095:
			return syscall.ENAMETOOLONG
		}
		p, err := f.free(name)
		if err != nil {
			return err
		}
		n := f.tree.fresh(p.dir(), fs.ModeSymlink|0o777)
		n.target, n.size = target, int64(len(target))
		f.add(p, n)
		return nil
	})
}

// Link makes newname another name of oldname.
func (f *files) Link(oldname, newname string) error {
	return f.change("link", newname, func() error {
		old, err := f.walk(oldname, false)
		if err != nil {
			return err
		}
		if _, err := f.walk(newname, false); err != nil {
			return err
		}
		if old.node() == nil {
			return syscall.ENOENT
		}
		p, err := f.free(newname)
		switch {
		case err != nil:
			return err
		case old.node().mode.IsDir():
			return syscall.EPERM
		case !joined(old.dir(), p.dir()):
			return syscall.EXDEV
		}
		old.node().nlink++
		f.add(p, old.node())
		return nil
	})
}

// Mknod makes a device node, pipe, socket or empty file.
func (f *files) Mknod(name string, mode uint32, dev uint64) error {
	return f.change("mknod", name, func() error {
		kind, ok := typeOf(mode)
		switch {
		case !ok || kind == fs.ModeSymlink:
			return syscall.EINVAL
		case kind == fs.ModeDir:
			return syscall.EPERM
		}
		p, err := f.free(name)
		if err != nil {
			return err
		}
		n := f.tree.fresh(p.dir(), kind|fileMode(mode))
		if kind&fs.ModeDevice != 0 {
			n.rdev = dev
		}
		f.add(p, n)
		return nil
	})
}

// Remove removes a file, link or empty directory.
func (f *files) Remove(name string) error {
	return f.change("remove", name, func() error {
		p, err := f.walk(name, false)
		if err != nil {
			return err
		}
		if err := f.removable(p); err != nil {
			return err
		}
		if n := p.node(); n.isDir() {
			empty, err := f.tree.empty(n)
			if err != nil {
				return err
			}
			if !empty {
				return syscall.ENOTEMPTY
			}
		}
		f.take(p)
		f.tree.forget(p.node())
		return nil
	})
}

func (f *files) removable(p place) error {
	switch {
	case p.isRoot():
		return syscall.EBUSY
	case f.tree.isReadOnly(p.dir()):
		return syscall.EROFS
	case p.node() == nil:
		return syscall.ENOENT
	case f.tree.isPoint(p.node()):
		return syscall.EBUSY
	}
	return nil
}

// RemoveAll removes a tree. What is not there is no error.
func (f *files) RemoveAll(name string) error {
	err := f.change("remove", name, func() error {
		p, err := f.walk(name, false)
		if err != nil {
			return err
		}
		if !p.isRoot() && p.node() == nil {
			return syscall.ENOENT
		}
		if err := f.removable(p); err != nil {
			return err
		}
		if f.tree.mountedBelow(p.node()) {
			return syscall.EBUSY
		}
		f.take(p)
		f.tree.forget(p.node())
		return nil
	})
	if host.Absent(err) {
		return nil
	}
	return err
}

// Rename moves atomically and replaces what is at newname.
func (f *files) Rename(oldname, newname string) error {
	return f.change("rename", newname, func() error {
		from, err := f.walk(oldname, false)
		if err != nil {
			return err
		}
		to, err := f.walk(newname, false)
		if err != nil {
			return err
		}
		if err := f.movable(from, to); err != nil {
			return err
		}
		if from.node() != to.node() {
			f.move(from, to)
		}
		return nil
	})
}

// movable checks as the kernel does, in its order.
func (f *files) movable(from, to place) error {
	switch {
	case from.isRoot() || to.isRoot():
		return syscall.EBUSY
	case !joined(from.dir(), to.dir()):
		return syscall.EXDEV
	case f.tree.isReadOnly(from.dir()) || f.tree.isReadOnly(to.dir()):
		return syscall.EROFS
	case from.node() == nil:
		return syscall.ENOENT
	case to.passes(from.node()):
		return syscall.EINVAL
	case to.node() != nil && from.passes(to.node()):
		return syscall.ENOTEMPTY
	case f.tree.isPoint(from.node()) || to.node() != nil && f.tree.isPoint(to.node()):
		return syscall.EBUSY
	}
	return f.replaceable(from.node(), to.node())
}

// joined says whether names can be moved between two directories.
func joined(a, b *node) bool { return a.dev == b.dev && a.from == b.from }

func (f *files) replaceable(n, old *node) error {
	if old == nil || old == n || old.ghost || n.ghost {
		return nil
	}
	switch {
	case n.isDir() && !old.isDir():
		return syscall.ENOTDIR
	case !n.isDir() && old.isDir():
		return syscall.EISDIR
	case !old.isDir():
		return nil
	}
	empty, err := f.tree.empty(old)
	if err == nil && !empty {
		return syscall.ENOTEMPTY
	}
	return err
}

func (f *files) move(from, to place) {
	n := from.node()
	if to.node() != nil {
		f.take(to)
		f.tree.forget(to.node())
	}
	f.take(from)
	to[len(to)-1].node = n
	f.add(to, n)
}
