package shadow

import (
	"io/fs"
	"syscall"
	"time"
)

// node is one inode of the overlay: something of the base, as it was when it
// was first looked at, with what has been changed since; or something new.
type node struct {
	// mode has the type and the permission bits.
	mode           fs.FileMode
	uid, gid       int
	nlink          uint64
	dev, ino, rdev uint64
	mtime          time.Time
	// size is that of anything but a regular file.
	size int64
	// from is the base that base and mount are paths in.
	from *source
	// base is the path in the base where the rest of it is found: a
	// directory's entries, a link's target, attributes. "" if nowhere.
	base string
	// mount is a path in the base that lies on the same mount.
	mount string
	// target is that of a new link.
	target string
	// data is that of a regular file.
	data *content
	// entries are the known ones of a directory; nil marks one that is gone.
	entries map[string]*node
	// xattrs are those set here; nil marks one that is gone.
	xattrs map[string][]byte
	// cause, if not "", says why what is not in entries is unknown.
	cause string
	// ghost is set while even what this is is unknown; parent, when it must
	// be a directory because something was done below it.
	ghost, parent bool
}

func (n *node) isDir() bool     { return n.mode.IsDir() && !n.ghost }
func (n *node) isLink() bool    { return n.mode&fs.ModeSymlink != 0 && !n.ghost }
func (n *node) isRegular() bool { return n.mode.IsRegular() && !n.ghost }

// holds says whether something can lie below it.
func (n *node) holds() bool { return n.isDir() || n.ghost }

// put makes child the entry name.
func (n *node) put(name string, child *node) {
	if n.entries == nil {
		n.entries = map[string]*node{}
	}
	n.entries[name] = child
}

// drop forgets the entry name and hides what the base has there.
func (n *node) drop(name string) {
	if n.base == "" && n.cause == "" {
		delete(n.entries, name)
		return
	}
	n.put(name, nil)
}

// count adds to the links of a directory one for each child directory, where
// the file system counts them (some always say 1).
func (n *node) count(by int) {
	if n.nlink >= 2 {
		n.nlink = uint64(int(n.nlink) + by)
	}
}

func (n *node) length() int64 {
	if n.data != nil {
		return n.data.size
	}
	return n.size
}

// info is a snapshot.
func (n *node) info(name string) fs.FileInfo {
	st := &syscall.Stat_t{
		Dev: n.dev, Ino: n.ino, Rdev: n.rdev, Uid: uint32(n.uid), Gid: uint32(n.gid),
		Mode: kernelMode(n.mode), Size: n.length(), Blocks: (n.length() + 511) / 512,
		Mtim: syscall.Timespec{Sec: n.mtime.Unix(), Nsec: int64(n.mtime.Nanosecond())},
	}
	st.Atim, st.Ctim = st.Mtim, st.Mtim
	assign(&st.Nlink, n.nlink)
	assign(&st.Blksize, 4096)
	return &info{name: name, mode: n.mode, mtime: n.mtime, stat: st}
}

// assign bridges the widths that differ between architectures.
func assign[T int32 | int64 | uint32 | uint64](to *T, v uint64) { *to = T(v) }

// info is what Stat and Lstat answer.
type info struct {
	name  string
	mode  fs.FileMode
	mtime time.Time
	stat  *syscall.Stat_t
}

func (i *info) Name() string       { return i.name }
func (i *info) Size() int64        { return i.stat.Size }
func (i *info) Mode() fs.FileMode  { return i.mode }
func (i *info) ModTime() time.Time { return i.mtime }
func (i *info) IsDir() bool        { return i.mode.IsDir() }
func (i *info) Sys() any           { return i.stat }

// kernelTypes pairs the types as Go and as the kernel names them.
var kernelTypes = [...]struct {
	mode fs.FileMode
	bits uint32
}{
	{fs.ModeDir, syscall.S_IFDIR},
	{fs.ModeSymlink, syscall.S_IFLNK},
	{fs.ModeNamedPipe, syscall.S_IFIFO},
	{fs.ModeSocket, syscall.S_IFSOCK},
	{fs.ModeDevice | fs.ModeCharDevice, syscall.S_IFCHR},
	{fs.ModeDevice, syscall.S_IFBLK},
	{0, syscall.S_IFREG},
}

func kernelMode(m fs.FileMode) uint32 {
	for _, t := range kernelTypes {
		if m.Type() == t.mode {
			return t.bits | modeBits(m)
		}
	}
	return modeBits(m)
}

// typeOf is the type that bits of the kernel name.
func typeOf(bits uint32) (mode fs.FileMode, ok bool) {
	for _, t := range kernelTypes {
		if bits&syscall.S_IFMT == t.bits {
			return t.mode, true
		}
	}
	return 0, bits&syscall.S_IFMT == 0
}
