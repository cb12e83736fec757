package memory

import (
	"io/fs"
	"path"
	"syscall"

	"hostler/interpreter/host"
)

// create puts a new inode at a location where nothing is.
func (t *tree) create(l location, kind, perm uint32) (place, error) {
	if err := t.vacant(l); err != nil {
		return place{}, err
	}
	parent := l.dir.node
	a := attr{perm: perm, mtime: t.now()}
	if parent.attr.perm&syscall.S_ISGID != 0 {
		a.gid = parent.attr.gid
	}
	n := parent.disk.alloc(kind, a)
	n.nlink = 1
	parent.disk.edit(t.now(), edit{parent, l.name, n})
	return place{l.dir.mnt, n}, nil
}

// vacant says whether a new name can be made at l. The kernel tells of an
// existing name before it tells of a read-only file system.
func (t *tree) vacant(l location) error {
	if l.found() {
		return syscall.EEXIST
	}
	return l.dir.mnt.writable()
}

// add walks to a name and makes an inode there.
func (f *files) add(call, name string, kind, perm uint32, fill func(*inode)) error {
	return f.write(call, name, func(root place) error {
		l, err := f.t.walk(root, name, false)
		if err != nil {
			return err
		}
		p, err := f.t.create(l, kind, perm)
		if err == nil && fill != nil {
			fill(p.node)
		}
		return err
	})
}

// Mkdir makes one directory with exactly that mode.
func (f *files) Mkdir(name string, mode fs.FileMode) error {
	return f.add("mkdir", name, syscall.S_IFDIR, host.ModeBits(mode), nil)
}

// MkdirAll makes a directory and what is missing above it.
func (f *files) MkdirAll(name string, mode fs.FileMode) error {
	return f.write("mkdir", name, func(root place) error { return f.mkdirAll(root, path.Clean(name), host.ModeBits(mode)) })
}

func (f *files) mkdirAll(root place, name string, perm uint32) error {
	p, err := f.t.find(root, name, true)
	switch {
	case err == nil && p.node.isDir():
		return nil
	case err == nil:
		return syscall.ENOTDIR
	}
	if parent := path.Dir(name); parent != name {
		if err := f.mkdirAll(root, parent, perm); err != nil {
			return err
		}
	}
	l, err := f.t.walk(root, name, false)
	if err == nil {
		_, err = f.t.create(l, syscall.S_IFDIR, perm)
	}
	return err
}

// SymlinkIfPossible makes a link with the target as it is given.
func (f *files) SymlinkIfPossible(target, name string) error {
	if target == "" {
		f.effect()
		return &fs.PathError{Op: "symlink", Path: name, Err: syscall.ENOENT}
	}
	if len(target) > maxPath {
		f.effect()
		return &fs.PathError{Op: "symlink", Path: name, Err: syscall.ENAMETOOLONG}
	}
	return f.add("symlink", name, syscall.S_IFLNK, 0o777, func(n *inode) { n.target = target })
}

// Mknod makes a device node, FIFO or socket.
func (f *files) Mknod(name string, mode uint32, dev uint64) error {
	kind := mode & syscall.S_IFMT
	switch kind {
	case syscall.S_IFCHR, syscall.S_IFBLK, syscall.S_IFIFO, syscall.S_IFSOCK, syscall.S_IFREG:
		return f.add("mknod", name, kind, mode&0o7777, func(n *inode) { n.rdev = dev })
	}
	f.effect()
	return &fs.PathError{Op: "mknod", Path: name, Err: syscall.EINVAL}
}

// Link makes newname another name of oldname, which is not followed.
func (f *files) Link(oldname, newname string) error {
	return f.write("link", newname, func(root place) error {
		from, err := f.t.find(root, oldname, false)
		if err != nil {
			return err
		}
		to, err := f.t.walk(root, newname, false)
		if err == nil {
			err = f.t.vacant(to)
		}
		switch {
		case err != nil:
			return err
		case from.mnt != to.dir.mnt:
			return syscall.EXDEV
		case from.node.isDir():
			return syscall.EPERM
		}
		from.node.nlink++
		from.node.disk.edit(f.t.now(), edit{to.dir.node, to.name, from.node})
		return nil
	})
}

// Remove removes a file, a link or an empty directory.
func (f *files) Remove(name string) error {
	return f.write("remove", name, func(root place) error {
		l, err := f.t.walk(root, name, false)
		if err != nil {
			return err
		}
		return f.t.remove(l)
	})
}

func (t *tree) remove(l location) error {
	if l.name == "" {
		return syscall.EBUSY
	}
	if err := l.dir.mnt.writable(); err != nil {
		return err
	}
	n := l.at.node
	switch {
	case n == nil:
		return syscall.ENOENT
	case t.covered(l.dir.node.entries[l.name]):
		return syscall.EBUSY
	case len(n.entries) > 0:
		return syscall.ENOTEMPTY
	}
	n.disk.edit(t.now(), edit{l.dir.node, l.name, nil})
	n.nlink--
	n.release()
	return nil
}

// RemoveAll removes name and, without following links, everything below; what
// is mounted below is emptied and then in the way.
func (f *files) RemoveAll(name string) error {
	return f.write("removeall", name, func(root place) error {
		l, err := f.t.walk(root, name, false)
		if err == syscall.ENOENT || err == syscall.ENOTDIR || err == nil && !l.found() {
			return nil
		}
		if err == nil && l.name == "" {
			err = syscall.EBUSY
		}
		if err == nil {
			err = f.t.removeAll(l)
		}
		return err
	})
}

func (t *tree) removeAll(l location) error {
	var first error
	if l.at.node.isDir() {
		for _, name := range l.at.node.names() {
			child := t.cross(place{l.at.mnt, l.at.node.entries[name]})
			if err := t.removeAll(location{l.at, name, child}); err != nil && first == nil {
				first = err
			}
		}
	}
	if first != nil {
		return first
	}
	return t.remove(l)
}
