package rootfs

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// cloneMin is the size, in bytes, from which it pays to share a file's blocks.
const cloneMin = 64 << 10

// twin is a tree from which files' blocks may be shared, on file systems that
// can do so. What is shared is a guess: each byte is held against the image
// afterwards, and written where it differs.
type twin struct {
	top    int // -1 for none
	clone  func(to, from int) error
	buf    []byte
	shared int64 // bytes that are shared now
}

// openTwin opens the twin at a path of the program's own namespace.
func (t *atTree) openTwin(dir string) error {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	t.twin = twin{top: fd, clone: unix.IoctlFileClone, buf: make([]byte, len(t.buf))}
	return nil
}

func (w *twin) close() error {
	if w.top < 0 {
		return nil
	}
	fd := w.top
	w.top = -1
	return unix.Close(fd)
}

// share gives the empty file fd the blocks of the twin's file of that name, if
// it can be had and is of that size. A file system that cannot share ends the
// attempts.
func (w *twin) share(fd int, name string, size int64) (bool, error) {
	if w.top < 0 || size < cloneMin {
		return false, nil
	}
	from, err := w.open(name)
	if err != nil {
		return false, nil // another kind of entry, or none
	}
	err = w.clone(fd, from)
	if err := unix.Close(from); err != nil {
		return false, err
	}
	if err != nil {
		return false, w.close()
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, err
	}
	if st.Size != size {
		return false, unix.Ftruncate(fd, 0)
	}
	return true, nil
}

// open opens a regular file of the twin.
func (w *twin) open(name string) (int, error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	}
	fd, err := unix.Openat2(w.top, name, &how)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = unix.EINVAL
	}
	if err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// correct makes the shared file fd hold b at the offset.
func (w *twin) correct(fd int, offset int64, b []byte) error {
	for have := 0; have < len(b); {
		n, err := unix.Pread(fd, w.buf[:len(b)-have], offset+int64(have))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if n == 0 || !bytes.Equal(w.buf[:max(n, 0)], b[have:have+max(n, 0)]) {
			return writeAll(fd, offset+int64(have), b[have:])
		}
		w.shared += int64(n)
		have += n
	}
	return nil
}
