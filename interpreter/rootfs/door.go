package rootfs

import (
	"errors"
	"fmt"
	"io"
	"path"
	"syscall"
	"time"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// doorTree is a tree over the file door, for hosts that are not a real
// directory.
type doorTree struct {
	files host.Files
	top   string
}

func (t doorTree) full(name string) string { return path.Join(t.top, name) }

// Mkdir makes a directory that only its owner can enter.
func (t doorTree) Mkdir(name string) error { return t.files.Mkdir(t.full(name), 0o700) }

// Link makes name another name of the entry old.
func (t doorTree) Link(name, old string) error { return t.files.Link(t.full(old), t.full(name)) }

// Remove removes what is at name and all that is below it.
func (t doorTree) Remove(name string) error { return t.files.RemoveAll(t.full(name)) }

// Put makes o.
func (t doorTree) Put(name string, o object) (string, error) {
	full := t.full(name)
	var err error
	switch {
	case o.content != nil:
		err = t.fill(full, o)
	case o.target != "":
		err = t.files.SymlinkIfPossible(o.target, full)
	default:
		special, ok := t.files.(host.Special)
		if !ok {
			return "", errors.New("this host does not take special files")
		}
		err = special.Mknod(full, o.format|0o600, o.dev)
	}
	if err != nil {
		return "", err
	}
	return t.dress(full, o.attrs, shape{link: o.target != "", special: o.content == nil})
}

func (t doorTree) fill(full string, o object) error {
	file, err := t.files.OpenFile(full, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := copyAll(file, o.content)
	if err == nil && n != o.size {
		err = fmt.Errorf("the archive ends after %d of %d bytes", n, o.size)
	}
	return errors.Join(err, file.Close())
}

func copyAll(file afero.File, content io.Reader) (int64, error) {
	// Without the wrapper a file's ReadFrom would choose the piece size.
	return io.CopyBuffer(struct{ io.Writer }{file}, content, make([]byte, 1<<16))
}

// Dress sets the attributes of a directory.
func (t doorTree) Dress(name string, a attrs) (string, error) {
	return t.dress(t.full(name), a, shape{})
}

// shape is what an entry is as far as attributes are concerned: special ones
// are links, devices and FIFOs.
type shape struct{ link, special bool }

func (t doorTree) dress(full string, a attrs, s shape) (string, error) {
	if err := t.files.Lchown(full, a.uid, a.gid); err != nil {
		return "", fmt.Errorf("owner %d:%d: %w", a.uid, a.gid, err)
	}
	warning, err := t.setxattrs(full, a.xattrs, s.special)
	if err != nil {
		return "", err
	}
	if s.link {
		return warning, t.setLinkTime(full, a.mtime)
	}
	if err := t.files.Chmod(full, host.FileMode(a.mode)); err != nil {
		return "", fmt.Errorf("mode %04o: %w", a.mode, err)
	}
	at := time.Unix(0, a.mtime)
	return warning, t.files.Chtimes(full, at, at)
}

func (t doorTree) setLinkTime(full string, mtime int64) error {
	if special, ok := t.files.(host.Special); ok {
		return special.Lchtimes(full, mtime)
	}
	return nil
}

func (t doorTree) setxattrs(full string, all []xattr, special bool) (warning string, err error) {
	if len(all) == 0 {
		return "", nil
	}
	door, ok := t.files.(host.Special)
	if !ok {
		return "", fmt.Errorf("attribute %s: this host does not take extended attributes", all[0].name)
	}
	for _, x := range all {
		err := door.Lsetxattr(full, x.name, []byte(x.value))
		if left := leftOut(x.name, err, special); left != "" {
			warning = left
			continue
		}
		if err != nil {
			return "", fmt.Errorf("attribute %s: %w", x.name, err)
		}
	}
	return warning, nil
}

// isFull says whether the file system has no room left.
func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
