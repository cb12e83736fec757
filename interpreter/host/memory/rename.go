package memory

import "syscall"

// Rename moves a file or directory, replacing what is at newname, as
// rename(2): atomically, and never through a final link.
func (f *files) Rename(oldname, newname string) error {
	return f.write("rename", oldname, func(root place) error {
		from, err := f.t.walk(root, oldname, false)
		if err != nil {
			return err
		}
		to, err := f.t.walk(root, newname, false)
		if err != nil {
			return err
		}
		return f.t.rename(from, to)
	})
}

func (t *tree) rename(from, to location) error {
	if from.name == "" || to.name == "" {
		return syscall.EBUSY
	}
	if from.dir.mnt != to.dir.mnt {
		return syscall.EXDEV
	}
	if err := from.dir.mnt.writable(); err != nil {
		return err
	}
	if !from.found() {
		return syscall.ENOENT
	}
	// What is mounted somewhere hides what the names stand for.
	moved, replaced := from.dir.node.entries[from.name], to.dir.node.entries[to.name]
	if err := t.renameable(from, to, moved, replaced); err != nil {
		return err
	}
	if moved == replaced {
		return nil
	}
	moved.disk.edit(t.now(), edit{from.dir.node, from.name, nil}, edit{to.dir.node, to.name, moved})
	if replaced != nil {
		replaced.nlink--
		replaced.release()
	}
	return nil
}

func (t *tree) renameable(from, to location, moved, replaced *inode) error {
	switch {
	case moved.isDir() && (moved == to.dir.node || contains(moved, to.dir.node)):
		return syscall.EINVAL
	case replaced == nil:
		return t.busy(moved)
	case replaced.isDir() && contains(replaced, from.dir.node):
		return syscall.ENOTEMPTY
	case moved == replaced:
		return nil
	case moved.isDir() && !replaced.isDir():
		return syscall.ENOTDIR
	case !moved.isDir() && replaced.isDir():
		return syscall.EISDIR
	}
	if err := t.busy(moved, replaced); err != nil {
		return err
	}
	if len(replaced.entries) > 0 {
		return syscall.ENOTEMPTY
	}
	return nil
}

func (t *tree) busy(nodes ...*inode) error {
	for _, n := range nodes {
		if t.covered(n) {
			return syscall.EBUSY
		}
	}
	return nil
}

// contains says whether dir is below top or top itself.
func contains(top, dir *inode) bool {
	if top == dir {
		return true
	}
	for _, child := range top.entries {
		if child.isDir() && contains(child, dir) {
			return true
		}
	}
	return false
}
