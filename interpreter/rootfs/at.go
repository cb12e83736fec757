package rootfs

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// atTree is a tree on directory descriptors. Its top is opened once; every
// other name is one component below an open directory, so that no link, put
// there by whomever, leads anywhere else.
type atTree struct {
	top  int
	dirs dirCache
	// mask are the permission bits that survive the making of a file, and
	// ownRoot says that new entries belong to 0:0: what is right from the
	// start need not be set again.
	mask    uint32
	ownRoot bool
	buf     []byte
	twin    twin
	writers writers
}

// newAtTree opens the empty directory at a path of the program's own
// namespace. For an unprivileged user the tree takes owner 0 for the user.
func newAtTree(dir string, privileged bool) (*atTree, error) {
	top, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	t := &atTree{top: top, buf: make([]byte, 1<<18), twin: twin{top: -1}}
	if err := t.probe(privileged); err != nil {
		return nil, errors.Join(err, unix.Close(top))
	}
	t.startWriters()
	return t, nil
}

// probe finds out what a new file looks like here.
func (t *atTree) probe(privileged bool) error {
	const name = ".probe"
	fd, err := unix.Openat(t.top, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o777)
	if err != nil {
		return fmt.Errorf("make a file in the new tree: %w", err)
	}
	var st unix.Stat_t
	err = errors.Join(unix.Fstat(fd, &st), unix.Close(fd), unix.Unlinkat(t.top, name, 0))
	t.mask = st.Mode & 0o777
	t.ownRoot = !privileged || st.Uid == 0 && st.Gid == 0
	return err
}

// Close waits for what is being written and gives the descriptors back.
func (t *atTree) Close() error {
	return errors.Join(t.writers.close(), t.dirs.close(), t.twin.close(), unix.Close(t.top))
}

// parent is an open descriptor of the directory that path stands in; it
// belongs to the cache.
func (t *atTree) parent(name string) (int, string, error) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return t.top, name, nil
	}
	dir, base := name[:i], name[i+1:]
	if fd, ok := t.dirs.get(dir); ok {
		return fd, base, nil
	}
	fd, err := t.openDir(dir)
	if err != nil {
		return 0, "", err
	}
	return fd, base, t.dirs.put(dir, fd)
}

// openDir opens a directory from its nearest ancestor in the cache.
func (t *atTree) openDir(dir string) (int, error) {
	from, rest := t.top, dir
	for up := path.Dir(dir); up != "."; up = path.Dir(up) {
		if fd, ok := t.dirs.get(up); ok {
			from, rest = fd, dir[len(up)+1:]
			break
		}
	}
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	fd, err := unix.Openat2(from, rest, &how)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		// An old kernel, or a filter that does not know openat2.
		return stepDown(from, rest)
	}
	return fd, pathError("open", dir, err)
}

// stepDown is openDir by one component after the other.
func stepDown(from int, rest string) (int, error) {
	fd := from
	for part := range strings.SplitSeq(rest, "/") {
		next, err := unix.Openat(fd, part, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if fd != from {
			err = errors.Join(err, unix.Close(fd))
		}
		if err != nil {
			return 0, pathError("open", rest, err)
		}
		fd = next
	}
	return fd, nil
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: name, Err: err}
}

// Mkdir makes a directory that only its owner can enter.
func (t *atTree) Mkdir(name string) error {
	dir, base, err := t.parent(name)
	if err != nil {
		return err
	}
	return pathError("mkdir", name, unix.Mkdirat(dir, base, 0o700))
}

// Link makes name another name of the entry old.
func (t *atTree) Link(name, old string) error {
	from, oldBase, err := t.parent(old)
	if err != nil {
		return err
	}
	// The cache closes the descriptor that was not used for the longest time:
	// never the one just asked for.
	to, base, err := t.parent(name)
	if err != nil {
		return err
	}
	return pathError("link", name, unix.Linkat(from, oldBase, to, base, 0))
}

// Put makes o.
func (t *atTree) Put(name string, o object) (string, error) {
	dir, base, err := t.parent(name)
	if err != nil {
		return "", err
	}
	e := atEntry{tree: t, dir: dir, base: base, fd: -1}
	switch {
	case o.content != nil:
		err = t.putFile(&e, name, o)
	case o.target != "":
		err = t.putLink(&e, o)
	default:
		err = t.putNode(&e, o)
	}
	return e.warning, pathError("make", name, err)
}

func (t *atTree) putFile(e *atEntry, name string, o object) error {
	mode := uint32(0o600)
	if o.mode&^t.mask == 0 {
		mode = o.mode
	}
	fd, err := unix.Openat(e.dir, e.base, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err != nil {
		return err
	}
	e.fd, e.mode = fd, mode
	shared, err := t.twin.share(fd, name, o.size)
	if err == nil && !shared && len(o.xattrs) == 0 {
		return t.handOver(e, name, o)
	}
	if err == nil {
		err = t.fill(fd, o, shared)
	}
	if err == nil {
		err = e.dress(o.attrs)
	}
	return errors.Join(err, unix.Close(fd))
}

func (t *atTree) putLink(e *atEntry, o object) error {
	if err := unix.Symlinkat(o.target, e.dir, e.base); err != nil {
		return err
	}
	e.link = true
	return e.dress(o.attrs)
}

func (t *atTree) putNode(e *atEntry, o object) error {
	e.mode = 0o600
	if err := unix.Mknodat(e.dir, e.base, o.format|e.mode, int(o.dev)); err != nil {
		return err
	}
	return e.dress(o.attrs)
}

// Dress sets the attributes of a directory. It comes last: all files are
// written then.
func (t *atTree) Dress(name string, a attrs) (string, error) {
	if err := t.writers.flush(); err != nil {
		return "", err
	}
	fd := t.top
	if name != "." {
		dir, base, err := t.parent(name)
		if err != nil {
			return "", err
		}
		fd, err = unix.Openat(dir, base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return "", pathError("open", name, err)
		}
	}
	e := atEntry{tree: t, fd: fd}
	err := e.dress(a)
	if fd != t.top {
		err = errors.Join(err, unix.Close(fd))
	}
	return e.warning, pathError("dress", name, err)
}
