package hosttest

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
)

// witness looks at the temporary file at the moment of the rename.
type witness struct {
	host.Files
	synced bool
	seen   []string
}

func (w *witness) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f, err := w.Files.OpenFile(name, flag, perm)
	if err != nil || !host.IsTemporary(name) {
		return f, err
	}
	info, err := host.Lstat(w.Files, name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w.seen = append(w.seen, fmt.Sprintf("opened %04o", host.ModeBits(info.Mode())))
	return witnessFile{f, w}, nil
}

func (w *witness) Rename(oldname, newname string) error {
	info, err := host.Lstat(w.Files, oldname)
	if err != nil {
		return err
	}
	w.seen = append(w.seen, fmt.Sprintf("renamed %04o %d synced=%v", host.ModeBits(info.Mode()), info.Size(), w.synced))
	return w.Files.Rename(oldname, newname)
}

func (w *witness) Open(name string) (afero.File, error) {
	w.seen = append(w.seen, "opened "+name)
	return w.Files.Open(name)
}

type witnessFile struct {
	afero.File
	w *witness
}

func (f witnessFile) Sync() error {
	f.w.synced = true
	return f.File.Sync()
}

// full is a file door whose disk is full: files can be made, not filled.
type full struct {
	host.Files
	atRename error
}

func (d full) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f, err := d.Files.OpenFile(name, flag, perm)
	if err != nil || d.atRename != nil {
		return f, err
	}
	return fullFile{f}, nil
}

func (d full) Rename(oldname, newname string) error {
	if d.atRename == nil {
		return d.Files.Rename(oldname, newname)
	}
	return &fs.PathError{Op: "rename", Path: newname, Err: d.atRename}
}

type fullFile struct{ afero.File }

func (f fullFile) Write(b []byte) (int, error) {
	n, _ := f.File.Write(b[:len(b)/2])
	return n, &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
}
