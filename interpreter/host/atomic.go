package host

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/spf13/afero"
)

// Content is what [Replace] puts in place.
type Content struct {
	Bytes []byte
	// Mode holds permission bits as chmod counts them, for example 0o644.
	Mode     uint32
	UID, GID int
	// Check, if set, is called with the name of the complete temporary file
	// before it is renamed; an error leaves the old file.
	Check func(tmp string) error
}

// tmpMark stands in the name of every temporary file, so that what a killed
// run left can be recognised. The names start with a dot and have no suffix
// that systemd or a drop-in reader would load.
const tmpMark = ".hostler-tmp"

// Replace puts a regular file at name, atomically and durably: a reader or a
// crash at any point sees the old or the new file, whole and with its final
// mode and owner. A link at name is replaced, not followed. Parents must
// exist. Temporary files that an earlier, killed run left for the same name
// are removed. An error from the last step (making the rename durable) leaves
// the new file in place.
func Replace(f Files, name string, c Content) error {
	dir, tmp := temporary(name)
	if err := f.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain(err)
	}
	if err := fill(f, tmp, c); err != nil {
		return errors.Join(explain(err), dropTemporary(f, tmp))
	}
	if err := f.Rename(tmp, name); err != nil {
		return errors.Join(explain(err), dropTemporary(f, tmp))
	}
	return SyncDir(f, dir)
}

// temporary returns the directory of name and the name of its temporary file
// there, cut so that it fits where name does.
func temporary(name string) (dir, tmp string) {
	dir, base := path.Split(path.Clean(name))
	base = "." + base
	if len(base)+len(tmpMark) > 255 {
		base = base[:255-len(tmpMark)]
	}
	return path.Clean(dir), path.Join(dir, base+tmpMark)
}

func fill(f Files, tmp string, c Content) error {
	file, err := f.OpenFile(tmp, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := writeSync(file, c.Bytes, func() error {
		// The owner first: chown clears setuid and setgid.
		if err := f.Lchown(tmp, c.UID, c.GID); err != nil {
			return err
		}
		return f.Chmod(tmp, FileMode(c.Mode))
	}); err != nil {
		return err
	}
	if c.Check != nil {
		return c.Check(tmp)
	}
	return nil
}

func writeSync(file afero.File, b []byte, own func() error) error {
	_, err := file.Write(b)
	if err == nil {
		err = own()
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func dropTemporary(f Files, tmp string) error {
	if err := f.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// TemporaryName is the name of the temporary file that [Replace] and [Symlink]
// make beside name.
func TemporaryName(name string) string {
	dir, base := path.Split(path.Clean(name))
	if len(base)+len(tmpMark)+1 > 255 {
		base = base[:200]
	}
	return path.Join(dir, "."+base+tmpMark)
}

// IsTemporary says whether name is that of a temporary file of [Replace].
func IsTemporary(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, ".") && strings.HasSuffix(base, tmpMark)
}

// SyncDir makes the entries of the directory durable.
func SyncDir(f FileView, dir string) error {
	d, err := f.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Rename renames and makes both directories durable.
func Rename(f Files, oldname, newname string) error {
	if err := f.Rename(oldname, newname); err != nil {
		return explain(err)
	}
	if err := SyncDir(f, path.Dir(newname)); err != nil {
		return err
	}
	if path.Dir(oldname) == path.Dir(newname) {
		return nil
	}
	return SyncDir(f, path.Dir(oldname))
}

// Symlink puts a link at name, replacing what file or link is there,
// atomically and durably.
func Symlink(f Files, target, name string) error {
	dir, tmp := temporary(name)
	if err := dropTemporary(f, tmp); err != nil {
		return explain(err)
	}
	if err := f.SymlinkIfPossible(target, tmp); err != nil {
		return explain(err)
	}
	if err := f.Rename(tmp, name); err != nil {
		return errors.Join(explain(err), dropTemporary(f, tmp))
	}
	return SyncDir(f, dir)
}

// Remove removes a file, link or empty directory and makes it durable. What is
// already gone is not an error: it is looked for first, because removing an
// absent name on a read-only file system fails with EROFS.
func Remove(f Files, name string) error {
	if _, err := Lstat(f, name); err != nil {
		if Absent(err) {
			return nil
		}
		return err
	}
	if err := f.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain(err)
	}
	return SyncDir(f, path.Dir(name))
}

// Absent says whether err means that nothing is at a name: it, or a directory
// above it, is not there.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// explain adds to errors of the kernel what an operator needs to know.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EBUSY):
		return fmt.Errorf("%w (a mount point is there: a file that is bind-mounted by itself cannot be replaced)", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w (the directory is on a read-only mount; choose a path on a writable one)", err)
	case errors.Is(err, syscall.EPERM):
		return fmt.Errorf("%w (the file may have the immutable attribute; see lsattr and chattr)", err)
	}
	return err
}
