package treefs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// Mkdir makes a directory with exactly the mode perm.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	bits := host.ModeBits(perm)
	return f.atLeaf("mkdir", name, func(dir int, leaf string) error {
		if err := unix.Mkdirat(dir, leaf, bits); err != nil {
			return err
		}
		return chmodAt(dir, leaf, bits)
	})
}

// MkdirAll makes name and the directories above it that are missing, each with
// exactly the mode perm. What is there keeps its mode.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	info, err := f.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fail("mkdir", name, unix.ENOTDIR)
	case !os.IsNotExist(err):
		return fail("mkdir", name, errnoOf(err))
	}
	if above := path.Dir(path.Clean(name)); above != path.Clean(name) {
		if err := f.MkdirAll(above, perm); err != nil {
			return err
		}
	}
	err = f.Mkdir(name, perm)
	if os.IsExist(err) { // somebody else was faster, or a dangling link
		if info, statErr := f.Stat(name); statErr == nil && info.IsDir() {
			return nil
		}
	}
	return err
}

func errnoOf(err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Err
	}
	return err
}

// Remove removes a file, a link or an empty directory.
func (f *FS) Remove(name string) error {
	return f.atLeaf("remove", name, func(dir int, leaf string) error {
		err := unix.Unlinkat(dir, leaf, 0)
		if err == unix.EISDIR {
			err = unix.Unlinkat(dir, leaf, unix.AT_REMOVEDIR)
		}
		return err
	})
}

// Rename renames, replacing a file, a link or an empty directory at newname.
func (f *FS) Rename(oldname, newname string) error {
	return f.atBoth("rename", oldname, newname, unix.Renameat)
}

// Link makes newname another name of what is at oldname.
func (f *FS) Link(oldname, newname string) error {
	return f.atBoth("link", oldname, newname, func(dir int, leaf string, newDir int, newLeaf string) error {
		return unix.Linkat(dir, leaf, newDir, newLeaf, 0)
	})
}

func (f *FS) atBoth(op, oldname, newname string, do func(int, string, int, string) error) error {
	return f.atLeaf(op, oldname, func(dir int, leaf string) error {
		newDir, newLeaf, err := f.parent(newname)
		if err == nil {
			defer shut(newDir)
			err = again(func() error { return do(dir, leaf, newDir, newLeaf) })
		}
		if err != nil {
			return fmt.Errorf("to %s: %w", newname, err)
		}
		return nil
	})
}

// SymlinkIfPossible makes name a link to target, which is kept as it is.
func (f *FS) SymlinkIfPossible(target, name string) error {
	return f.atLeaf("symlink", name, func(dir int, leaf string) error {
		return unix.Symlinkat(target, dir, leaf)
	})
}

// ReadlinkIfPossible returns the target of the link name as it was made.
func (f *FS) ReadlinkIfPossible(name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	err := f.atLeaf("readlink", name, func(dir int, leaf string) error {
		n, err := unix.Readlinkat(dir, leaf, buf[:cap(buf)])
		buf = buf[:max(n, 0)]
		return err
	})
	if err != nil {
		return "", err
	}
	return string(buf), nil
}

// Chmod sets the mode of what name leads to.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	return f.atFile("chmod", name, func(fd int) error { return chmod(fd, host.ModeBits(mode)) })
}

// chmodAt sets the mode of an entry that was just made, which the umask has
// narrowed.
func chmodAt(dir int, leaf string, bits uint32) error {
	fd, err := unix.Openat(dir, leaf, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer shut(fd)
	return chmod(fd, bits)
}

// chmod sets the mode behind a descriptor that may be O_PATH. Kernels before
// 6.6 can do this only through /proc.
func chmod(fd int, bits uint32) error {
	err := unix.Fchmodat(fd, "", bits, unix.AT_EMPTY_PATH)
	if err != unix.EOPNOTSUPP && err != unix.EPERM {
		return err
	}
	return chmodByPath(viaProc(fd), bits)
}

// chmodByPath explains why a descriptor's path leads nowhere.
func chmodByPath(name string, bits uint32) error {
	err := unix.Chmod(name, bits)
	if err == unix.ENOENT {
		return fmt.Errorf("%w (/proc has to be mounted for this)", unix.EOPNOTSUPP)
	}
	return err
}

// Chown sets the owner of what name leads to; -1 leaves an id as it is.
func (f *FS) Chown(name string, uid, gid int) error {
	u, g, err := f.own.given(uid, gid)
	if err != nil {
		return fail("chown", name, err)
	}
	return f.atFile("chown", name, func(fd int) error { return unix.Fchownat(fd, "", u, g, unix.AT_EMPTY_PATH) })
}

// Lchown sets the owner of name itself; -1 leaves an id as it is.
func (f *FS) Lchown(name string, uid, gid int) error {
	u, g, err := f.own.given(uid, gid)
	if err != nil {
		return fail("lchown", name, err)
	}
	return f.atLeaf("lchown", name, func(dir int, leaf string) error {
		return unix.Fchownat(dir, leaf, u, g, unix.AT_SYMLINK_NOFOLLOW)
	})
}

func ids(uid, gid int) string { return fmt.Sprintf("%d:%d", uid, gid) }

func needsRoot(what string) error {
	return fmt.Errorf("%s needs root: %w", what, unix.EPERM)
}

// Chtimes sets the times of what name leads to.
func (f *FS) Chtimes(name string, atime, mtime time.Time) error {
	ts := []unix.Timespec{timespec(atime), timespec(mtime)}
	return f.atFile("chtimes", name, func(fd int) error {
		return unix.UtimesNanoAt(fd, "", ts, unix.AT_EMPTY_PATH)
	})
}

// timespec does not go through UnixNano, which covers 1678 to 2262 only.
func timespec(t time.Time) unix.Timespec {
	return unix.Timespec{Sec: t.Unix(), Nsec: int64(t.Nanosecond())}
}

// SyncTree makes everything on the file system that holds name durable.
func (f *FS) SyncTree(name string) error {
	return f.atFile("syncfs", name, func(fd int) error {
		holder, err := f.syncable(name, fd)
		if err != nil {
			return err
		}
		defer shut(holder)
		return unix.Syncfs(holder)
	})
}

// syncable opens, of name or its directory, what can be opened without an
// effect: devices and FIFOs cannot.
func (f *FS) syncable(name string, fd int) (int, error) {
	info, err := f.statAt(fd, "", "")
	if err != nil {
		return -1, err
	}
	if info.IsDir() || info.Mode().IsRegular() {
		return f.openat2(name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	}
	return f.openat2(path.Dir(name), unix.O_RDONLY|unix.O_DIRECTORY, 0)
}
