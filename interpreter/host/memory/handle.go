package memory

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"syscall"

	"github.com/spf13/afero"
)

// handle is an open file or directory. It holds the inode: what is removed
// meanwhile can still be read.
type handle struct {
	f      *files
	name   string
	at     place
	flag   int
	life   int
	off    int64
	names  []string // of a directory, what is not listed yet
	listed bool
	closed bool
}

var _ afero.File = (*handle)(nil)

func newHandle(f *files, name string, at place, flag int) *handle {
	at.node.opens++
	at.mnt.opens++
	return &handle{f: f, name: name, at: at, flag: flag, life: f.t.lives}
}

// Name is the name it was opened by.
func (h *handle) Name() string { return h.name }

// do runs a call on the open file under the lock.
func (h *handle) do(call string, run func(*inode) error) error {
	h.f.t.mu.Lock()
	defer h.f.t.mu.Unlock()
	err := fs.ErrClosed
	if !h.dead() {
		err = run(h.at.node)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = &fs.PathError{Op: call, Path: h.name, Err: err}
	}
	return err
}

func (h *handle) dead() bool { return h.closed || h.life != h.f.t.lives }

// Close releases the file.
func (h *handle) Close() error {
	return h.do("close", func(n *inode) error {
		h.closed = true
		n.opens--
		h.at.mnt.opens--
		n.release()
		return nil
	})
}

func (h *handle) readable(n *inode) error {
	switch {
	case n.isDir():
		return syscall.EISDIR
	case h.flag&syscall.O_ACCMODE == syscall.O_WRONLY:
		return syscall.EBADF
	}
	return nil
}

func (h *handle) writes() bool { return h.flag&syscall.O_ACCMODE != syscall.O_RDONLY }

// Read reads from the offset on.
func (h *handle) Read(b []byte) (n int, err error) {
	err = h.do("read", func(node *inode) error {
		if err := h.readable(node); err != nil {
			return err
		}
		n, err = readAt(node, b, h.off)
		h.off += int64(n)
		if n > 0 {
			err = nil
		}
		return err
	})
	return n, err
}

// ReadAt reads at an offset and leaves the file's own.
func (h *handle) ReadAt(b []byte, off int64) (n int, err error) {
	err = h.do("read", func(node *inode) error {
		if err := h.readable(node); err != nil {
			return err
		}
		if off < 0 {
			return syscall.EINVAL
		}
		n, err = readAt(node, b, off)
		return err
	})
	return n, err
}

func readAt(node *inode, b []byte, off int64) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if off >= int64(len(node.data)) {
		return 0, io.EOF
	}
	n := copy(b, node.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// Seek sets the offset.
func (h *handle) Seek(offset int64, whence int) (pos int64, err error) {
	err = h.do("seek", func(n *inode) error {
		pos = offset
		switch whence {
		case io.SeekStart:
		case io.SeekCurrent:
			pos += h.off
		case io.SeekEnd:
			pos += n.size()
		default:
			pos = -1
		}
		if pos < 0 {
			return syscall.EINVAL
		}
		h.off = pos
		if n.isDir() {
			h.listed, h.names = false, nil
		}
		return nil
	})
	return pos, err
}

// Write writes at the offset, or at the end with O_APPEND.
func (h *handle) Write(b []byte) (int, error) {
	return h.writeAt(b, func(n *inode) *int64 {
		if h.flag&syscall.O_APPEND != 0 {
			h.off = int64(len(n.data))
		}
		return &h.off
	})
}

// WriteAt writes at an offset and leaves the file's own.
func (h *handle) WriteAt(b []byte, off int64) (int, error) {
	return h.writeAt(b, func(*inode) *int64 { return &off })
}

func (h *handle) writeAt(b []byte, offset func(*inode) *int64) (n int, err error) {
	h.f.effect()
	err = h.do("write", func(node *inode) error {
		if !h.writes() {
			return syscall.EBADF
		}
		off := offset(node)
		if *off < 0 {
			return syscall.EINVAL
		}
		if !node.isFile() {
			n = len(b)
			return nil
		}
		n, err = node.write(b, *off, h.f.t.now())
		*off += int64(n)
		return err
	})
	return n, err
}

// WriteString is Write of a string.
func (h *handle) WriteString(s string) (int, error) { return h.Write([]byte(s)) }

// Truncate sets the size.
func (h *handle) Truncate(size int64) error {
	h.f.effect()
	return h.do("truncate", func(n *inode) error {
		if size < 0 || !h.writes() || !n.isFile() {
			return syscall.EINVAL
		}
		return n.truncate(size, h.f.t.now())
	})
}

// Sync makes the data of a file, or the entries of a directory, durable.
func (h *handle) Sync() error {
	h.f.effect()
	return h.do("sync", func(n *inode) error {
		n.disk.sync(n)
		return nil
	})
}

// Stat describes the open file.
func (h *handle) Stat() (i fs.FileInfo, err error) {
	err = h.do("stat", func(n *inode) error {
		i = describe(path.Base(h.name), n)
		return nil
	})
	return i, err
}

// Readdir lists a directory, sorted; links are not followed.
func (h *handle) Readdir(count int) (infos []fs.FileInfo, err error) {
	err = h.list(count, func(name string, n *inode) { infos = append(infos, describe(name, n)) })
	return infos, err
}

// Readdirnames lists the names in a directory, sorted.
func (h *handle) Readdirnames(count int) (names []string, err error) {
	err = h.list(count, func(name string, _ *inode) { names = append(names, name) })
	return names, err
}

// list visits the next count entries, or all that are left when count is not
// positive. Entries that are gone meanwhile are left out.
func (h *handle) list(count int, visit func(string, *inode)) error {
	return h.do("readdir", func(n *inode) error {
		if !n.isDir() {
			return syscall.ENOTDIR
		}
		if !h.listed {
			h.names, h.listed = n.names(), true
		}
		if count > 0 && len(h.names) == 0 {
			return io.EOF
		}
		for done := 0; len(h.names) > 0 && (count <= 0 || done < count); {
			name := h.names[0]
			h.names = h.names[1:]
			if child := n.entries[name]; child != nil {
				visit(name, h.f.t.cross(place{h.at.mnt, child}).node)
				done++
			}
		}
		return nil
	})
}
