package treefs

import (
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// Stat describes what name leads to.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	return f.statPath("stat", name, 0)
}

// LstatIfPossible describes name itself; the bool is always true.
func (f *FS) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	info, err := f.statPath("lstat", name, unix.O_NOFOLLOW)
	return info, true, err
}

func (f *FS) statPath(op, name string, flags int) (fs.FileInfo, error) {
	fd, err := f.path(name, flags)
	if err != nil {
		return nil, fail(op, name, err)
	}
	defer shut(fd)
	info, err := f.statAt(fd, "", path.Base(name))
	if err != nil {
		return nil, fail(op, name, err)
	}
	return info, nil
}

// statAt describes the entry leaf of the directory dir, or dir itself when
// leaf is "". Its errors are plain errnos.
func (f *FS) statAt(dir int, leaf, name string) (fs.FileInfo, error) {
	var u unix.Stat_t
	err := again(func() error { return unix.Fstatat(dir, leaf, &u, unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) })
	if err != nil {
		return nil, err
	}
	return f.newInfo(name, syscall.Stat_t{
		Dev: u.Dev, Ino: u.Ino, Nlink: u.Nlink, Mode: u.Mode, Uid: u.Uid, Gid: u.Gid, Rdev: u.Rdev,
		Size: u.Size, Blksize: u.Blksize, Blocks: u.Blocks,
		Atim: syscall.Timespec(u.Atim), Mtim: syscall.Timespec(u.Mtim), Ctim: syscall.Timespec(u.Ctim),
	}), nil
}

// info is a snapshot of an inode under one of its names.
type info struct {
	name string
	st   syscall.Stat_t
}

func (f *FS) newInfo(name string, st syscall.Stat_t) fs.FileInfo {
	st.Uid, st.Gid = f.own.shown(st.Uid, st.Gid)
	return &info{name, st}
}

func (i *info) Name() string       { return i.name }
func (i *info) Size() int64        { return i.st.Size }
func (i *info) IsDir() bool        { return i.Mode().IsDir() }
func (i *info) ModTime() time.Time { return time.Unix(i.st.Mtim.Unix()) }
func (i *info) Mode() fs.FileMode  { return host.FileMode(i.st.Mode&0o7777) | fileType(i.st.Mode) }

// Sys returns a *syscall.Stat_t of the snapshot's own.
func (i *info) Sys() any {
	st := i.st
	return &st
}

func fileType(mode uint32) fs.FileMode {
	switch mode & syscall.S_IFMT {
	case syscall.S_IFDIR:
		return fs.ModeDir
	case syscall.S_IFLNK:
		return fs.ModeSymlink
	case syscall.S_IFBLK:
		return fs.ModeDevice
	case syscall.S_IFCHR:
		return fs.ModeDevice | fs.ModeCharDevice
	case syscall.S_IFIFO:
		return fs.ModeNamedPipe
	case syscall.S_IFSOCK:
		return fs.ModeSocket
	}
	return 0
}

// owner is the caller of an unprivileged tree, who stands for root in it. Its
// methods work on nil, for a tree whose owners are what they are.
type owner struct{ uid, gid int }

func owned(o Options) *owner {
	if !o.Unprivileged {
		return nil
	}
	return &owner{os.Geteuid(), os.Getegid()}
}

// shown maps what the inode says to what the tree shows.
func (o *owner) shown(uid, gid uint32) (uint32, uint32) {
	if o == nil {
		return uid, gid
	}
	if int(uid) == o.uid {
		uid = 0
	}
	if int(gid) == o.gid {
		gid = 0
	}
	return uid, gid
}

// given maps what the caller asks for to what the inode gets; -1 leaves it.
func (o *owner) given(uid, gid int) (int, int, error) {
	if o == nil {
		return uid, gid, nil
	}
	u, okUser := stand(uid, o.uid)
	g, okGroup := stand(gid, o.gid)
	if !okUser || !okGroup {
		return 0, 0, needsRoot("giving it to " + ids(uid, gid))
	}
	return u, g, nil
}

func stand(id, own int) (int, bool) {
	switch id {
	case 0, own:
		return own, true
	case -1:
		return -1, true
	}
	return 0, false
}
