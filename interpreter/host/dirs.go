package host

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// Explain adds to an error of the kernel (EBUSY, EROFS, EPERM) what an
// operator needs to know; other errors and nil are returned as they are.
// [Replace], [Rename], [Symlink] and [Remove] do so themselves.
func Explain(err error) error { return explain(err) }

// Access is the mode, as chmod(2) counts it, and the owner of a file or
// directory.
type Access struct {
	Mode     uint32
	UID, GID int
}

// MakeParents makes the directories above name that are missing, durably, with
// the mode and owned by root. Those that are there stay as they are.
func MakeParents(f Files, name string, mode uint32) error {
	return makeDirs(f, path.Dir(name), mode)
}

func makeDirs(f Files, dir string, mode uint32) error {
	info, err := f.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is not a directory", dir)
	case !Absent(err) || dir == "/":
		return err
	}
	if err := makeDirs(f, path.Dir(dir), mode); err != nil {
		return err
	}
	err = MakeDir(f, dir, Access{Mode: mode})
	if errors.Is(err, fs.ErrExist) {
		if info, again := f.Stat(dir); again == nil && info.IsDir() {
			return nil // somebody else was quicker
		}
	}
	return err
}

// MakeDir makes one directory, durably, with exactly that mode and owner. Its
// parent must exist.
func MakeDir(f Files, dir string, a Access) error {
	mode := uint32(0o700) // until it belongs to who it is for
	if a.UID == 0 && a.GID == 0 {
		mode = a.Mode
	}
	if err := f.Mkdir(dir, FileMode(mode)); err != nil {
		return Dangling(f, dir, explain(err))
	}
	if err := SetAccess(f, dir, a); err != nil {
		return err
	}
	return SyncDir(f, path.Dir(dir))
}

// Dangling adds to the error of a directory that could not be made that a link to
// nothing is in its place, if one is.
func Dangling(f Files, dir string, err error) error {
	target, readErr := f.ReadlinkIfPossible(dir)
	if !errors.Is(err, fs.ErrExist) || readErr != nil {
		return err
	}
	return fmt.Errorf("%s is a link to %s, and there is no such directory: make it, or remove the link: %w", dir, target, err)
}

// SetAccess gives an existing file or directory that is no link exactly the
// owner and mode, in this order, because a change of owner clears setuid. What
// is right already is not set again.
func SetAccess(f Files, name string, a Access) error {
	info, err := Lstat(f, name)
	if err != nil {
		return err
	}
	if st := StatOf(info); st.UID != a.UID || st.GID != a.GID {
		if err := f.Lchown(name, a.UID, a.GID); err != nil {
			return explain(err)
		}
		if info, err = Lstat(f, name); err != nil {
			return err
		}
	}
	if ModeBits(info.Mode()) == a.Mode {
		return nil
	}
	return explain(f.Chmod(name, FileMode(a.Mode)))
}

// Names lists the entries of a directory, in no order.
func Names(f FileView, dir string) ([]string, error) {
	if g, ok := f.(*Glance); ok && g.covers(dir) {
		names, err := g.list(dir)
		return slices.Clone(names), err
	}
	return listed(f, dir)
}

func listed(f FileView, dir string) ([]string, error) {
	d, err := f.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	if closing := d.Close(); err == nil {
		err = closing
	}
	return names, err
}
