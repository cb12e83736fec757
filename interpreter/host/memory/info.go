package memory

import (
	"io/fs"
	"syscall"
	"time"

	"hostler/interpreter/host"
)

// info is a snapshot of an inode.
type info struct {
	name string
	mode fs.FileMode
	stat syscall.Stat_t
}

func describe(name string, n *inode) *info {
	i := &info{name: name, mode: modeOf(n)}
	st := &i.stat
	set(&st.Dev, n.disk.dev)
	set(&st.Ino, n.ino)
	set(&st.Nlink, uint64(n.links()))
	set(&st.Mode, uint64(n.kind|n.attr.perm))
	set(&st.Uid, uint64(n.attr.uid))
	set(&st.Gid, uint64(n.attr.gid))
	set(&st.Rdev, n.rdev)
	set(&st.Size, uint64(n.size()))
	set(&st.Blksize, pageSize)
	set(&st.Blocks, uint64(pages(int64(len(n.data))))/512)
	set(&st.Mtim.Sec, uint64(n.attr.mtime.Unix()))
	set(&st.Mtim.Nsec, uint64(n.attr.mtime.Nanosecond()))
	st.Atim, st.Ctim = st.Mtim, st.Mtim
	return i
}

// set stores v in a field whose width differs between architectures.
func set[T ~int32 | ~uint32 | ~int64 | ~uint64](field *T, v uint64) { *field = T(v) }

func modeOf(n *inode) fs.FileMode {
	m := host.FileMode(n.attr.perm)
	switch n.kind {
	case syscall.S_IFDIR:
		m |= fs.ModeDir
	case syscall.S_IFLNK:
		m |= fs.ModeSymlink
	case syscall.S_IFBLK:
		m |= fs.ModeDevice
	case syscall.S_IFCHR:
		m |= fs.ModeDevice | fs.ModeCharDevice
	case syscall.S_IFIFO:
		m |= fs.ModeNamedPipe
	case syscall.S_IFSOCK:
		m |= fs.ModeSocket
	}
	return m
}

func (i *info) Name() string      { return i.name }
func (i *info) Size() int64       { return i.stat.Size }
func (i *info) Mode() fs.FileMode { return i.mode }
func (i *info) IsDir() bool       { return i.mode.IsDir() }
func (i *info) Sys() any          { return &i.stat }
func (i *info) ModTime() time.Time {
	return time.Unix(int64(i.stat.Mtim.Sec), int64(i.stat.Mtim.Nsec)).UTC()
}
