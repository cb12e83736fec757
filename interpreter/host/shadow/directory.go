package shadow

import (
	"io"
	"io/fs"
	"path"
	"syscall"

	"hostler/interpreter/host"
)

// directory is an open directory.
type directory struct {
	files *files
	node  *node
	name  string
	// names are those not yet given, once listed is set.
	names          []string
	listed, closed bool
}

func (h *directory) use(op string, do func() error) error {
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

func (h *directory) Name() string { return h.name }
func (h *directory) Sync() error  { return h.use("sync", func() error { return nil }) }

func (h *directory) Close() error {
	return h.use("close", func() error { h.closed = true; return nil })
}

func (h *directory) Stat() (info fs.FileInfo, err error) {
	err = h.use("stat", func() error {
		if h.node.ghost {
			return &host.UnknownError{Cause: h.node.cause}
		}
		info = h.files.tree.info(h.node, path.Base(h.name))
		return nil
	})
	return info, err
}

// next gives the next n names, all that are left if n is not positive.
func (h *directory) next(n int) ([]string, error) {
	if !h.listed {
		names, err := h.files.tree.names(h.node)
		if err != nil {
			return nil, err
		}
		h.names, h.listed = names, true
	}
	if n <= 0 || n > len(h.names) {
		if n > 0 && len(h.names) == 0 {
			return nil, io.EOF
		}
		n = len(h.names)
	}
	names := h.names[:n]
	h.names = h.names[n:]
	return names, nil
}

func (h *directory) Readdirnames(n int) (names []string, err error) {
	err = h.use("readdirent", func() error {
		names, err = h.next(n)
		return err
	})
	return names, err
}

func (h *directory) Readdir(n int) (infos []fs.FileInfo, err error) {
	err = h.use("readdirent", func() error {
		names, err := h.next(n)
		if err != nil {
			return err
		}
		for _, name := range names {
			child, err := h.files.tree.lookup(h.node, name)
			switch {
			case err != nil:
				return err
			case child == nil: // gone since it was listed
			case child.ghost:
				return &host.UnknownError{Cause: child.cause}
			default:
				infos = append(infos, h.files.tree.info(child, name))
			}
		}
		return nil
	})
	return infos, err
}

func (h *directory) Seek(offset int64, whence int) (int64, error) {
	return 0, h.use("seek", func() error {
		if offset != 0 || whence != io.SeekStart {
			return syscall.EINVAL
		}
		h.names, h.listed = nil, false
		return nil
	})
}

func (h *directory) refuse(op string, err error) error {
	return h.use(op, func() error { return err })
}

func (h *directory) Read([]byte) (int, error)           { return 0, h.refuse("read", syscall.EISDIR) }
func (h *directory) ReadAt([]byte, int64) (int, error)  { return 0, h.refuse("read", syscall.EISDIR) }
func (h *directory) Write([]byte) (int, error)          { return 0, h.refuse("write", syscall.EBADF) }
func (h *directory) WriteAt([]byte, int64) (int, error) { return 0, h.refuse("write", syscall.EBADF) }
func (h *directory) WriteString(string) (int, error)    { return 0, h.refuse("write", syscall.EBADF) }
func (h *directory) Truncate(int64) error               { return h.refuse("truncate", syscall.EINVAL) }
