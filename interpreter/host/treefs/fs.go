// Package treefs is the file door onto a directory: host.Files as if the
// process had changed its root there.
//
// Every name is resolved by the kernel itself, openat2 with RESOLVE_IN_ROOT,
// from a descriptor of the root that is opened once. Absolute and climbing
// links stay inside, and no exchange of a directory for a link between two
// calls can lead out. Magic links of /proc are refused. What must not follow a
// final link opens the parent this way and works on the last component with
// the *at calls.
//
// The same door serves the root of a running host ("/"), the tree of a
// machine, and the root directory of an image being built.
package treefs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// FS is a host.Files over a directory. It offers host.Special and
// host.RealDir too. It is safe for use by several goroutines.
type FS struct {
	root *os.File // O_PATH
	dir  string
	// own is set when the owner of files is not to be managed.
	own *owner
}

var (
	_ host.Files   = (*FS)(nil)
	_ host.Special = (*FS)(nil)
	_ host.RealDir = (*FS)(nil)
)

// Options say how a tree is opened.
type Options struct {
	// Unprivileged is for a process that is not root: files of the caller
	// are shown as root's, giving files to root or the caller leaves them the
	// caller's, and any other owner and device nodes are errors that say that
	// root is needed.
	Unprivileged bool
}

// Open opens the directory dir of the machine the program runs on as a root.
// It fails where the kernel has no openat2. The caller closes it.
func Open(dir string, o Options) (*FS, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	var fd int
	err = again(func() (err error) {
		fd, err = unix.Open(abs, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open root", Path: abs, Err: err}
	}
	return newFS(fd, abs, owned(o))
}

func newFS(fd int, dir string, own *owner) (*FS, error) {
	f := &FS{root: os.NewFile(uintptr(fd), dir), dir: dir, own: own}
	probe, err := f.path("/", 0)
	if err != nil {
		return nil, errors.Join(noOpenat2(dir, err), f.Close())
	}
	shut(probe)
	return f, nil
}

func noOpenat2(dir string, err error) error {
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		return fmt.Errorf("open root %s: the system call openat2 is not available: Linux 5.6 or newer is needed, and a sandbox must not filter it: %w", dir, err)
	}
	return &fs.PathError{Op: "open root", Path: dir, Err: err}
}

// Sub opens the directory name as a root of its own. The caller closes it.
func (f *FS) Sub(name string) (*FS, error) {
	real, err := f.RealDir(name)
	if err != nil {
		return nil, err
	}
	fd, err := f.path(name, unix.O_DIRECTORY)
	if err != nil {
		return nil, fail("open root", name, err)
	}
	return newFS(fd, real, f.own)
}

// Close closes the root. Open files stay open.
func (f *FS) Close() error { return f.root.Close() }

// Name names the kind of file system, as afero asks for.
func (f *FS) Name() string { return "treefs" }

// RealDir returns the path of name on the machine the program runs on.
func (f *FS) RealDir(name string) (string, error) {
	inside, err := f.resolved(name)
	return filepath.Join(f.dir, inside), err
}

// resolved returns name with all links resolved inside the root.
func (f *FS) resolved(name string) (string, error) {
	const op = "resolve"
	fd, err := f.path(name, 0)
	if err != nil {
		return "", fail(op, name, err)
	}
	defer shut(fd)
	full, err := os.Readlink(viaProc(fd))
	if err != nil {
		return "", err
	}
	top, err := os.Readlink(viaProc(f.fd()))
	if err != nil {
		return "", err
	}
	rest, ok := strings.CutPrefix(full, strings.TrimSuffix(top, "/"))
	if !ok || rest != "" && rest[0] != '/' {
		return "", fail(op, name, fmt.Errorf("the kernel calls it %s, which is not below %s", full, top))
	}
	return path.Join("/", rest), nil
}

func (f *FS) fd() int { return int(f.root.Fd()) }

// resolveTries bounds how often a resolution is repeated that the kernel gave
// up because something was renamed meanwhile.
const resolveTries = 1000

// openat2 resolves name inside the root and opens it. Its errors are plain
// errnos.
func (f *FS) openat2(name string, flags int, mode uint32) (int, error) {
	if !path.IsAbs(name) {
		return -1, unix.EINVAL
	}
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC),
		Mode:    uint64(mode),
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	}
	name = path.Clean(name)
	for tries := 0; ; tries++ {
		fd, err := unix.Openat2(f.fd(), name, &how)
		if err == unix.EINTR || err == unix.EAGAIN && tries < resolveTries {
			continue
		}
		return fd, err
	}
}

// path opens name without access to its content.
func (f *FS) path(name string, flags int) (int, error) {
	return f.openat2(name, unix.O_PATH|flags, 0)
}

// parent opens the directory of name and returns the last component, "." for
// the root itself. The caller shuts fd.
func (f *FS) parent(name string) (fd int, leaf string, err error) {
	clean := path.Clean(name)
	dir, leaf := path.Split(clean)
	if leaf == "" {
		dir, leaf = clean, "."
	}
	fd, err = f.openat2(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	return fd, leaf, err
}

// atLeaf calls do on the last component of name in its directory, repeating it
// when a signal interrupts, and dresses the error.
func (f *FS) atLeaf(op, name string, do func(dir int, leaf string) error) error {
	dir, leaf, err := f.parent(name)
	if err != nil {
		return fail(op, name, err)
	}
	defer shut(dir)
	return fail(op, name, again(func() error { return do(dir, leaf) }))
}

// atFile calls do on what name leads to, links followed.
func (f *FS) atFile(op, name string, do func(fd int) error) error {
	fd, err := f.path(name, 0)
	if err != nil {
		return fail(op, name, err)
	}
	defer shut(fd)
	return fail(op, name, again(func() error { return do(fd) }))
}

func fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// again repeats a call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// shut closes a descriptor that nothing was written through, so that its error
// tells nothing.
func shut(fd int) { _ = unix.Close(fd) }

// viaProc names an open descriptor for calls that take only paths.
func viaProc(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }
