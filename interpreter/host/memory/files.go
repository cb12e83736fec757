package memory

import (
	"io/fs"
	"path"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
)

// files is the file door of the host or of a machine, whose tree is its root.
type files struct {
	t    *tree
	base string // "/" or a machine's tree
	// effect is told of every call that changes something.
	effect func()
}

var (
	_ host.Files   = (*files)(nil)
	_ host.Special = (*files)(nil)
)

// Name is the name that afero asks for.
func (f *files) Name() string { return "memory" }

// read runs a reading call and gives its error the shape of the contract.
func (f *files) read(call, name string, do func(root place) error) error {
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	root := f.t.root()
	var err error
	if f.base != "/" {
		root, err = f.t.find(root, f.base, true)
	}
	if err == nil {
		err = do(root)
	}
	if err != nil {
		return &fs.PathError{Op: call, Path: name, Err: err}
	}
	return nil
}

// write is read for calls that change something.
func (f *files) write(call, name string, do func(root place) error) error {
	f.effect()
	return f.read(call, name, do)
}

// change runs do on what is at name.
func (f *files) change(call, name string, follow bool, do func(*inode)) error {
	return f.write(call, name, func(root place) error {
		p, err := f.t.find(root, name, follow)
		if err == nil {
			err = p.mnt.writable()
		}
		if err == nil {
			do(p.node)
		}
		return err
	})
}

// Chmod sets the mode exactly.
func (f *files) Chmod(name string, mode fs.FileMode) error {
	return f.change("chmod", name, true, func(n *inode) {
		n.setAttr(func(a *attr) { a.perm = host.ModeBits(mode) })
	})
}

// Chown sets the owner of what name leads to.
func (f *files) Chown(name string, uid, gid int) error {
	return f.change("chown", name, true, func(n *inode) { n.chown(uid, gid) })
}

// Lchown sets the owner of name itself.
func (f *files) Lchown(name string, uid, gid int) error {
	return f.change("lchown", name, false, func(n *inode) { n.chown(uid, gid) })
}

// Chtimes sets the modification time; access times are not kept.
func (f *files) Chtimes(name string, _, mtime time.Time) error {
	return f.change("chtimes", name, true, func(n *inode) {
		n.setAttr(func(a *attr) { a.mtime = mtime })
	})
}

// Lchtimes sets the modification time of name itself.
func (f *files) Lchtimes(name string, mtime int64) error {
	return f.change("lchtimes", name, false, func(n *inode) {
		n.setAttr(func(a *attr) { a.mtime = time.Unix(0, mtime).UTC() })
	})
}

// Stat follows a final link.
func (f *files) Stat(name string) (fs.FileInfo, error) { return f.stat("stat", name, true) }

// LstatIfPossible does not follow a final link.
func (f *files) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	info, err := f.stat("lstat", name, false)
	return info, true, err
}

func (f *files) stat(call, name string, follow bool) (info fs.FileInfo, err error) {
	err = f.read(call, name, func(root place) error {
		p, err := f.t.find(root, name, follow)
		if err == nil {
			info = describe(path.Base(name), p.node)
		}
		return err
	})
	return info, err
}

// ReadlinkIfPossible returns a link's target, verbatim.
func (f *files) ReadlinkIfPossible(name string) (target string, err error) {
	err = f.read("readlink", name, func(root place) error {
		p, err := f.t.find(root, name, false)
		if err == nil && !p.node.isLink() {
			err = syscall.EINVAL
		}
		if err == nil {
			target = p.node.target
		}
		return err
	})
	return target, err
}

// SyncTree makes everything durable on the file system that holds name.
func (f *files) SyncTree(name string) error {
	return f.write("syncfs", name, func(root place) error {
		p, err := f.t.find(root, name, true)
		if err == nil {
			p.node.disk.syncAll()
		}
		return err
	})
}

// Open opens for reading.
func (f *files) Open(name string) (afero.File, error) {
	return f.OpenFile(name, syscall.O_RDONLY, 0)
}

// Create opens for reading and writing and empties the file.
func (f *files) Create(name string) (afero.File, error) {
	return f.OpenFile(name, syscall.O_RDWR|syscall.O_CREAT|syscall.O_TRUNC, 0o666)
}

// OpenFile opens as open(2) does; a new file gets mode exactly.
func (f *files) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	run := f.read
	if flag&(syscall.O_ACCMODE|syscall.O_CREAT|syscall.O_TRUNC) != 0 {
		run = f.write
	}
	var file afero.File
	err := run("open", name, func(root place) error {
		p, err := f.openAt(root, name, flag, host.ModeBits(mode))
		if err == nil {
			file = newHandle(f, name, p, flag)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f *files) openAt(root place, name string, flag int, perm uint32) (place, error) {
	exclusive := flag&(syscall.O_CREAT|syscall.O_EXCL) == syscall.O_CREAT|syscall.O_EXCL
	l, err := f.t.walk(root, name, !exclusive && flag&syscall.O_NOFOLLOW == 0)
	switch {
	case err != nil:
		return place{}, err
	case !l.found() && flag&syscall.O_CREAT == 0:
		return place{}, syscall.ENOENT
	case !l.found():
		return f.t.create(l, syscall.S_IFREG, perm)
	case exclusive:
		return place{}, syscall.EEXIST
	case l.at.node.isLink():
		return place{}, syscall.ELOOP
	}
	return l.at, f.t.openFound(l.at, flag)
}

// openFound checks and empties what is there already.
func (t *tree) openFound(p place, flag int) error {
	writes := flag&(syscall.O_ACCMODE|syscall.O_TRUNC) != 0
	switch {
	case p.node.kind == syscall.S_IFIFO:
		return host.ErrFIFO
	case p.node.isDir() && (writes || flag&syscall.O_CREAT != 0):
		return syscall.EISDIR
	case !p.node.isDir() && flag&syscall.O_DIRECTORY != 0:
		return syscall.ENOTDIR
	case writes && p.mnt.writable() != nil:
		return syscall.EROFS
	case flag&syscall.O_TRUNC != 0 && p.node.isFile():
		return p.node.truncate(0, t.now())
	}
	return nil
}
