package host

import (
	"io/fs"
	"syscall"

	"github.com/spf13/afero"
)

// FileView is the reading half of the file door. Every name is an absolute,
// clean path inside the host; links in it are resolved as if the host's root
// were "/" (as after chroot), so no name reaches outside. Errors are
// *fs.PathError with the kernel's errno, so fs.ErrNotExist and friends work.
//
// A [Files] satisfies it by itself.
type FileView interface {
	// Open opens a file or directory for reading. It never waits: opening a
	// FIFO, which would, is [ErrFIFO].
	Open(name string) (afero.File, error)
	// Stat follows a final link.
	Stat(name string) (fs.FileInfo, error)
	// LstatIfPossible does not follow a final link; the bool is always true.
	LstatIfPossible(name string) (fs.FileInfo, bool, error)
	// ReadlinkIfPossible returns a link's target, verbatim.
	ReadlinkIfPossible(name string) (string, error)
}

// Files is the file door: an afero.Fs that behaves as Linux does. Unlike
// afero's own in-memory and base-path file systems it has links, owners,
// strict parents (ENOENT, ENOTDIR), non-empty directories (ENOTEMPTY) and
// modes that are set exactly (no umask). Rename replaces atomically and never
// follows a final link; Remove removes a link, never its target. Chmod and
// Chtimes follow a final link, as the kernel does. RemoveAll removes links,
// never what they lead to, and removes nothing when a file system is mounted
// at or below the name: that is an EBUSY that names the mount point.
// What is not there, or cannot be because a file is where a directory would
// have to be, is no error to RemoveAll.
//
// FileInfo values are snapshots whose Sys is a *syscall.Stat_t; see [StatOf].
// Opening a directory and calling Sync on it makes its entries durable.
type Files interface {
	afero.Fs
	afero.Symlinker // LstatIfPossible, SymlinkIfPossible(target, link), ReadlinkIfPossible
	// Lchown sets the owner of name itself. Unprivileged offline hosts show
	// the caller's own ids as 0 and refuse any other.
	Lchown(name string, uid, gid int) error
	// Link makes newname another name of the file oldname (not followed).
	Link(oldname, newname string) error
	// SyncTree makes everything on the file system that holds name durable
	// (syncfs).
	SyncTree(name string) error
}

// Special is what a Files may offer beyond, by type assertion: what only root
// file systems need.
type Special interface {
	// Mknod makes a device node, FIFO or socket: mode holds S_IFMT and
	// permission bits, dev is as in unix.Mkdev.
	Mknod(name string, mode uint32, dev uint64) error
	// Lsetxattr, Lgetxattr and Llistxattr work on name itself, links too.
	Lsetxattr(name, attr string, value []byte) error
	Lgetxattr(name, attr string) ([]byte, error)
	Llistxattr(name string) ([]string, error)
	// Lchtimes sets the modification time of name itself, in nanoseconds
	// since the epoch.
	Lchtimes(name string, mtime int64) error
}

// RealDir is offered by Files that stand on a real directory: it gives the
// path by which the kernel reaches name (resolved inside the root) from the
// namespace the program runs in, for code that works on directory descriptors.
// Wrappers that count or withhold effects do not offer it.
type RealDir interface {
	RealDir(name string) (string, error)
}

// Stat is the part of a file's inode that a recipe can speak about.
type Stat struct {
	UID, GID int
	Nlink    uint64
	Dev, Ino uint64
}

// StatOf returns the inode part of info, which must come from a file door.
func StatOf(info fs.FileInfo) Stat {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Stat{}
	}
	return Stat{UID: int(st.Uid), GID: int(st.Gid), Nlink: uint64(st.Nlink), Dev: uint64(st.Dev), Ino: st.Ino}
}

// Lstat is LstatIfPossible without the bool.
func Lstat(f FileView, name string) (fs.FileInfo, error) {
	info, _, err := f.LstatIfPossible(name)
	return info, err
}

// ModeBits returns the twelve permission bits of m as chmod(2) counts them.
func ModeBits(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		bits |= 0o4000
	}
	if m&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}

// FileMode is the inverse of [ModeBits], without a type.
func FileMode(bits uint32) fs.FileMode {
	m := fs.FileMode(bits & 0o777)
	if bits&0o4000 != 0 {
		m |= fs.ModeSetuid
	}
	if bits&0o2000 != 0 {
		m |= fs.ModeSetgid
	}
	if bits&0o1000 != 0 {
		m |= fs.ModeSticky
	}
	return m
}
