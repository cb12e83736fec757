package fault

import (
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
)

// files is the file door without what host.Special adds.
type files struct {
	host.Files
	w wrapper
}

// specialFiles is the file door of a host that has more.
type specialFiles struct {
	files
	special host.Special
}

var (
	_ host.Files   = specialFiles{}
	_ host.Special = specialFiles{}
)

func (w wrapper) files(f host.Files) host.Files {
	plain := files{f, w}
	if special, ok := f.(host.Special); ok {
		return specialFiles{plain, special}
	}
	return plain
}

// run gives errors of the plan the shape of the contract.
func (w wrapper) file(kind, name string, do func() error) error {
	err := w.run(kind, name, do)
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return &fs.PathError{Op: kind, Path: name, Err: err}
}

func (f files) Open(name string) (afero.File, error) {
	file, err := f.Files.Open(name)
	return f.w.wrap(file, name, err)
}

func (f files) Create(name string) (file afero.File, err error) {
	err = f.w.file("create", name, func() error {
		file, err = f.Files.Create(name)
		return err
	})
	return f.w.wrap(file, name, err)
}

// OpenFile is an effect when it opens for writing or may create or empty.
func (f files) OpenFile(name string, flag int, mode fs.FileMode) (file afero.File, err error) {
	open := func() error {
		file, err = f.Files.OpenFile(name, flag, mode)
		return err
	}
	if flag&(syscall.O_ACCMODE|syscall.O_CREAT|syscall.O_TRUNC) != 0 {
		err = f.w.file("open", name, open)
	} else {
		err = open()
	}
	return f.w.wrap(file, name, err)
}

// wrap wraps an open file. One that was opened and still is to fail is closed.
func (w wrapper) wrap(file afero.File, name string, err error) (afero.File, error) {
	if err != nil {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
		return nil, err
	}
	return handle{file, name, w}, nil
}

func (f files) Mkdir(name string, mode fs.FileMode) error {
	return f.w.file("mkdir", name, func() error { return f.Files.Mkdir(name, mode) })
}

func (f files) MkdirAll(name string, mode fs.FileMode) error {
	return f.w.file("mkdirall", name, func() error { return f.Files.MkdirAll(name, mode) })
}

func (f files) Remove(name string) error {
	return f.w.file("remove", name, func() error { return f.Files.Remove(name) })
}

func (f files) RemoveAll(name string) error {
	return f.w.file("removeall", name, func() error { return f.Files.RemoveAll(name) })
}

func (f files) Rename(oldname, newname string) error {
	return f.w.file("rename", oldname, func() error { return f.Files.Rename(oldname, newname) })
}

func (f files) Link(oldname, newname string) error {
	return f.w.file("link", newname, func() error { return f.Files.Link(oldname, newname) })
}

func (f files) SymlinkIfPossible(target, name string) error {
	return f.w.file("symlink", name, func() error { return f.Files.SymlinkIfPossible(target, name) })
}

func (f files) Chmod(name string, mode fs.FileMode) error {
	return f.w.file("chmod", name, func() error { return f.Files.Chmod(name, mode) })
}

func (f files) Chown(name string, uid, gid int) error {
	return f.w.file("chown", name, func() error { return f.Files.Chown(name, uid, gid) })
}

func (f files) Lchown(name string, uid, gid int) error {
	return f.w.file("lchown", name, func() error { return f.Files.Lchown(name, uid, gid) })
}

func (f files) Chtimes(name string, atime, mtime time.Time) error {
	return f.w.file("chtimes", name, func() error { return f.Files.Chtimes(name, atime, mtime) })
}

func (f files) SyncTree(name string) error {
	return f.w.file("synctree", name, func() error { return f.Files.SyncTree(name) })
}

func (f specialFiles) Mknod(name string, mode uint32, dev uint64) error {
	return f.w.file("mknod", name, func() error { return f.special.Mknod(name, mode, dev) })
}

func (f specialFiles) Lsetxattr(name, attr string, value []byte) error {
	return f.w.file("setxattr", name, func() error { return f.special.Lsetxattr(name, attr, value) })
}

func (f specialFiles) Lchtimes(name string, mtime int64) error {
	return f.w.file("lchtimes", name, func() error { return f.special.Lchtimes(name, mtime) })
}

func (f specialFiles) Lgetxattr(name, attr string) ([]byte, error) {
	return f.special.Lgetxattr(name, attr)
}

func (f specialFiles) Llistxattr(name string) ([]string, error) { return f.special.Llistxattr(name) }

// fileView is a reading half; syncing a directory through it is an effect.
type fileView struct {
	host.FileView
	w wrapper
}

func (v fileView) Open(name string) (afero.File, error) {
	file, err := v.FileView.Open(name)
	return v.w.wrap(file, name, err)
}

// handle is an open file.
type handle struct {
	afero.File
	name string
	w    wrapper
}

func (h handle) Write(b []byte) (n int, err error) {
	err = h.w.file("write", h.name, func() error {
		n, err = h.File.Write(b)
		return err
	})
	return n, err
}

func (h handle) WriteAt(b []byte, off int64) (n int, err error) {
	err = h.w.file("write", h.name, func() error {
		n, err = h.File.WriteAt(b, off)
		return err
	})
	return n, err
}

func (h handle) WriteString(s string) (int, error) { return h.Write([]byte(s)) }

func (h handle) Truncate(size int64) error {
	return h.w.file("truncate", h.name, func() error { return h.File.Truncate(size) })
}

func (h handle) Sync() error {
	return h.w.file("sync", h.name, h.File.Sync)
}
