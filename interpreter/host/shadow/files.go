package shadow

import (
	"io/fs"
	"path"
	"syscall"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
)

// files is the file door: the overlay, or the part of it that is a machine's
// root.
type files struct {
	tree *tree
	log  *journal
	// up is the door of the host the machine runs on and at the path of its
	// root there; nil and "" for the host itself.
	up *files
	at string
	// over is what is mounted in the machine.
	over mounted
}

var (
	_ host.Files      = (*files)(nil)
	_ host.Special    = (*files)(nil)
	_ host.Unknowable = (*files)(nil)
)

// Name names the implementation.
func (f *files) Name() string { return "shadow" }

// root is the directory that the door shows as "/".
func (f *files) root() (*node, error) {
	if f.up == nil {
		return f.tree.top()
	}
	p, err := f.up.walk(f.at, true)
	if err != nil {
		return nil, err
	}
	return p.node(), passable(p.node())
}

func (f *files) walk(name string, follow bool) (place, error) {
	root, err := f.root()
	if err != nil {
		return nil, err
	}
	return f.tree.walk(root, name, resolving{follow, f.over})
}

// known finds something that is there and known.
func (f *files) known(name string, follow bool) (*node, error) {
	p, err := f.walk(name, follow)
	if err != nil {
		return nil, err
	}
	switch n := p.node(); {
	case n == nil:
		return nil, syscall.ENOENT
	case n.ghost:
		return nil, &host.UnknownError{Cause: n.cause}
	default:
		return n, nil
	}
}

// Open opens a file or directory for reading.
func (f *files) Open(name string) (afero.File, error) {
	return f.OpenFile(name, syscall.O_RDONLY, 0)
}

// Stat follows a final link.
func (f *files) Stat(name string) (fs.FileInfo, error) { return f.stat("stat", name, true) }

// LstatIfPossible does not follow a final link.
func (f *files) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	info, err := f.stat("lstat", name, false)
	return info, true, err
}

func (f *files) stat(op, name string, follow bool) (fs.FileInfo, error) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	n, err := f.known(name, follow)
	if err != nil {
		return nil, failed(op, name, err)
	}
	return f.tree.info(n, path.Base(name)), nil
}

// ReadlinkIfPossible returns a link's target.
func (f *files) ReadlinkIfPossible(name string) (string, error) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	n, err := f.known(name, false)
	if err == nil && !n.isLink() {
		err = syscall.EINVAL
	}
	if err != nil {
		return "", failed("readlink", name, err)
	}
	target, err := f.tree.target(n)
	return target, failed("readlink", name, err)
}

// SyncTree has nothing to make durable.
func (f *files) SyncTree(name string) error {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	p, err := f.walk(name, true)
	if err == nil && p.node() == nil {
		err = syscall.ENOENT
	}
	return failed("syncfs", name, err)
}

// change runs one effect under the lock and notes it when it succeeded.
func (f *files) change(op, name string, do func() error) error {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	if err := do(); err != nil {
		return failed(op, name, err)
	}
	f.log.note(op, name)
	return nil
}
