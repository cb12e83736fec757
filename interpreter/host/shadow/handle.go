package shadow

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"syscall"

	"github.com/spf13/afero"
)

// file is an open regular file.
type file struct {
	files *files
	node  *node
	name  string
	flag  int
	off   int64
	// source is the file of the base below, nil if none shows.
	source afero.File
	// noted is set when the write was noted as an effect; only the first is.
	noted, closed bool
}

var errAppend = errors.New("WriteAt on a file opened with O_APPEND")

// use runs do on an open file under the lock.
func (h *file) use(op string, do func() error) error {
	h.files.tree.mu.Lock()
	defer h.files.tree.mu.Unlock()
	if h.closed {
		return failed(op, h.name, fs.ErrClosed)
	}
	err := do()
	if err == io.EOF {
		return err
	}
	return failed(op, h.name, err)
}

func (h *file) readable() error {
	if h.flag&syscall.O_ACCMODE == syscall.O_WRONLY {
		return syscall.EBADF
	}
	return nil
}

func (h *file) writable() error {
	if h.flag&syscall.O_ACCMODE == syscall.O_RDONLY {
		return syscall.EBADF
	}
	return nil
}

// changed notes that the content was changed.
func (h *file) changed() {
	h.files.tree.touch(h.node)
	if !h.noted {
		h.noted = true
		h.files.log.note("write", h.name)
	}
}

func (h *file) Name() string { return h.name }
func (h *file) Sync() error  { return h.use("sync", func() error { return nil }) }

func (h *file) Close() error {
	return h.use("close", func() error {
		h.closed = true
		if h.source == nil {
			return nil
		}
		return errno(h.source.Close())
	})
}

func (h *file) Stat() (info fs.FileInfo, err error) {
	err = h.use("stat", func() error {
		info = h.files.tree.info(h.node, path.Base(h.name))
		return nil
	})
	return info, err
}

func (h *file) Read(p []byte) (n int, err error) {
	err = h.use("read", func() error {
		if err := h.readable(); err != nil || len(p) == 0 {
			return err
		}
		n, err = h.node.data.readAt(p, h.off, h.source)
		h.off += int64(n)
		if n > 0 && err == io.EOF {
			return nil
		}
		return errno(err)
	})
	return n, err
}

func (h *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = h.use("read", func() error {
		if err := h.readable(); err != nil {
			return err
		}
		if off < 0 {
			return syscall.EINVAL
		}
		n, err = h.node.data.readAt(p, off, h.source)
		return errno(err)
	})
	return n, err
}

func (h *file) Seek(offset int64, whence int) (at int64, err error) {
	err = h.use("seek", func() error {
		switch whence {
		case io.SeekStart:
			at = offset
		case io.SeekCurrent:
			at = h.off + offset
		case io.SeekEnd:
			at = h.node.length() + offset
		default:
			at = -1
		}
		if at < 0 {
			at = 0
			return syscall.EINVAL
		}
		h.off = at
		return nil
	})
	return at, err
}

func (h *file) Write(p []byte) (n int, err error) {
	err = h.use("write", func() error {
		if h.flag&syscall.O_APPEND != 0 {
			h.off = h.node.length()
		}
		if n, err = h.write(p, h.off); err == nil {
			h.off += int64(n)
		}
		return err
	})
	return n, err
}

func (h *file) WriteAt(p []byte, off int64) (n int, err error) {
	err = h.use("write", func() error {
		switch {
		case h.flag&syscall.O_APPEND != 0:
			return errAppend
		case off < 0:
			return syscall.EINVAL
		}
		n, err = h.write(p, off)
		return err
	})
	return n, err
}

func (h *file) write(p []byte, off int64) (int, error) {
	if err := h.writable(); err != nil || len(p) == 0 {
		return 0, err
	}
	if err := h.node.data.writeAt(p, off, h.source); err != nil {
		return 0, errno(err)
	}
	h.changed()
	return len(p), nil
}

func (h *file) WriteString(s string) (int, error) { return h.Write([]byte(s)) }

func (h *file) Truncate(size int64) error {
	return h.use("truncate", func() error {
		if size < 0 || h.writable() != nil {
			return syscall.EINVAL
		}
		h.node.data.truncate(size)
		h.changed()
		return nil
	})
}

func (h *file) Readdir(int) ([]fs.FileInfo, error) {
	return nil, h.use("readdirent", func() error { return syscall.ENOTDIR })
}

func (h *file) Readdirnames(int) ([]string, error) {
	return nil, h.use("readdirent", func() error { return syscall.ENOTDIR })
}
