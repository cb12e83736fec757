package shadow

import (
	"io/fs"
	"path"
	"syscall"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
)

// Create opens a file for reading and writing, new or emptied.
func (f *files) Create(name string) (afero.File, error) {
	return f.OpenFile(name, syscall.O_RDWR|syscall.O_CREAT|syscall.O_TRUNC, 0o666)
}

// OpenFile opens as open(2) does; a new file has exactly the mode perm.
func (f *files) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	file, err := f.open(name, flag, perm)
	if err != nil {
		return nil, failed("open", name, err)
	}
	return file, nil
}

const tmpfile = 0o20000000 // O_TMPFILE without O_DIRECTORY

func writes(flag int) bool {
	return flag&syscall.O_ACCMODE != syscall.O_RDONLY || flag&syscall.O_TRUNC != 0
}

func (f *files) open(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if flag&tmpfile != 0 {
		return nil, syscall.EOPNOTSUPP
	}
	create := flag&syscall.O_CREAT != 0
	exclusive := create && flag&syscall.O_EXCL != 0
	p, err := f.walk(name, !exclusive && flag&syscall.O_NOFOLLOW == 0)
	if err != nil {
		return nil, err
	}
	n := p.node()
	switch {
	case n == nil && !create:
		return nil, syscall.ENOENT
	case n == nil:
		return f.openNew(p, name, flag, perm)
	case n.ghost:
		return f.openGhost(p, name, flag, perm)
	case exclusive:
		return nil, syscall.EEXIST
	case n.isDir():
		if create || writes(flag) {
			return nil, syscall.EISDIR
		}
		return &directory{files: f, node: n, name: name}, nil
	}
	return f.openOld(n, name, flag)
}

// openNew makes a regular file.
func (f *files) openNew(p place, name string, flag int, perm fs.FileMode) (afero.File, error) {
	if f.tree.isReadOnly(p.dir()) {
		return nil, syscall.EROFS
	}
	n := f.tree.fresh(p.dir(), host.FileMode(modeBits(perm)))
	f.add(p, n)
	f.log.note("write", name)
	return &file{files: f, node: n, name: name, flag: flag, noted: true}, nil
}

// openGhost opens what is not known: it can be replaced as a whole, and be
// opened as the directory that it must be because something was done below it.
func (f *files) openGhost(p place, name string, flag int, perm fs.FileMode) (afero.File, error) {
	n := p.node()
	whole := flag&syscall.O_TRUNC != 0 || flag&syscall.O_EXCL != 0
	switch {
	case flag&syscall.O_CREAT != 0 && whole && !n.parent:
		return f.openNew(p, name, flag, perm)
	case n.parent && writes(flag):
		return nil, syscall.EISDIR
	case n.parent:
		return &directory{files: f, node: n, name: name}, nil
	}
	return nil, &host.UnknownError{Cause: n.cause}
}

// openOld opens what is there and not a directory.
func (f *files) openOld(n *node, name string, flag int) (afero.File, error) {
	if err := openable(n, name, flag); err != nil {
		return nil, err
	}
	if writes(flag) && f.tree.isReadOnly(n) {
		return nil, syscall.EROFS
	}
	h := &file{files: f, node: n, name: name, flag: flag}
	if flag&syscall.O_TRUNC != 0 {
		n.data.truncate(0)
		h.changed()
	}
	if n.data.needsSource() {
		src, err := n.from.files.Open(n.data.source)
		if err != nil {
			return nil, errno(err)
		}
		h.source = src
	}
	return h, nil
}

// openable says whether something that is no directory can be opened. Devices
// cannot: to open one can be an effect by itself.
func openable(n *node, name string, flag int) error {
	switch {
	case n.isLink():
		return syscall.ELOOP
	case flag&syscall.O_DIRECTORY != 0:
		return syscall.ENOTDIR
	case n.mode&fs.ModeNamedPipe != 0:
		return host.ErrFIFO
	case n.mode&fs.ModeSocket != 0:
		return syscall.ENXIO
	case !n.isRegular():
		return host.Unknownf("%s is a device, which a plan does not open", name)
	}
	return nil
}

// add puts n at a place that is free or unknown.
func (f *files) add(p place, n *node) {
	p.keep()
	p.dir().put(p.name(), n)
	if n.mode.IsDir() {
		p.dir().count(1)
	}
	f.tree.touch(p.dir())
}

// take removes what is at a place.
func (f *files) take(p place) {
	p.keep()
	p.dir().drop(p.name())
	if p.node().mode.IsDir() {
		p.dir().count(-1)
	}
	f.tree.touch(p.dir())
}

// free finds the place of something new: its directory is there, it is not.
// What is unknown may be replaced.
func (f *files) free(name string) (place, error) {
	p, err := f.walk(name, false)
	switch {
	case err != nil:
		return nil, err
	case p.node() != nil && (!p.node().ghost || p.isRoot()):
		return nil, syscall.EEXIST
	case f.tree.isReadOnly(p.dir()):
		return nil, syscall.EROFS
	}
	return p, nil
}

// Mkdir makes a directory with exactly the mode perm.
func (f *files) Mkdir(name string, perm fs.FileMode) error {
	return f.change("mkdir", name, func() error { return f.mkdir(name, perm) })
}

func (f *files) mkdir(name string, perm fs.FileMode) error {
	p, err := f.free(name)
	if err != nil {
		return err
	}
	n := f.tree.fresh(p.dir(), fs.ModeDir|host.FileMode(modeBits(perm)))
	if ghost := p.node(); ghost != nil {
		f.reveal(p, n)
		return nil
	}
	f.add(p, n)
	return nil
}

// reveal makes a directory of what was unknown: itself it is known now, what
// else lies in it is not.
func (f *files) reveal(p place, as *node) {
	ghost := p.node()
	counted := ghost.mode.IsDir()
	as.entries, as.cause = ghost.entries, ghost.cause
	*ghost = *as
	p.keep()
	if !counted {
		p.dir().count(1)
	}
	f.tree.touch(p.dir())
}

// MkdirAll makes a directory and the parents that are missing.
func (f *files) MkdirAll(name string, perm fs.FileMode) error {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	return failed("mkdir", name, f.mkdirAll(name, perm))
}

func (f *files) mkdirAll(name string, perm fs.FileMode) error {
	p, err := f.walk(name, true)
	name = path.Clean(name)
	missing := err == syscall.ENOENT && path.Dir(name) != name
	switch {
	case missing:
		if err := f.mkdirAll(path.Dir(name), perm); err != nil {
			return err
		}
	case err != nil:
		return err
	case p.node() != nil && !p.node().holds():
		return syscall.ENOTDIR
	case p.node() != nil && (!p.node().ghost || p.isRoot()):
		return nil
	}
	if err := f.mkdir(name, perm); err != nil {
		return err
	}
	f.log.note("mkdir", name)
	return nil
}
