package host

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"syscall"
)

// ReplaceWith is [Replace] for bytes that are not in memory: write puts them
// into the temporary file. An error of write leaves the old file.
func ReplaceWith(f Files, name string, a Access, write func(io.Writer) error) error {
	dir, tmp := temporary(name)
	if err := f.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain(err)
	}
	if err := stream(f, tmp, a, write); err != nil {
		return errors.Join(explain(err), dropTemporary(f, tmp))
	}
	if err := f.Rename(tmp, path.Clean(name)); err != nil {
		return errors.Join(explain(err), dropTemporary(f, tmp))
	}
	return SyncDir(f, dir)
}

func stream(f Files, tmp string, a Access, write func(io.Writer) error) error {
	file, err := f.OpenFile(tmp, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		// The owner first: chown clears setuid and setgid.
		err = f.Lchown(tmp, a.UID, a.GID)
	}
	if err == nil {
		err = f.Chmod(tmp, FileMode(a.Mode))
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
