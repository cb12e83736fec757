package memory

import (
	"bytes"
	"maps"
	"slices"
	"syscall"
	"time"
)

// inode is a file of any kind, as it is now and as a power loss would find it.
type inode struct {
	disk    *disk
	ino     uint64
	kind    uint32 // S_IFMT
	target  string // of links
	rdev    uint64 // of devices
	attr    attr
	data    []byte            // of regular files
	entries map[string]*inode // of directories
	nlink   int
	opens   int
	// dirty says that data holds what no Sync has made durable.
	dirty  bool
	stable stable
}

// attr are the attributes that can change. The map is never changed in place.
type attr struct {
	perm     uint32 // twelve bits, as chmod counts them
	uid, gid int
	xattrs   map[string]string
	mtime    time.Time
}

// stable is what is on the disk: data after Sync, entries after Sync of the
// directory.
type stable struct {
	attr    attr
	data    []byte
	entries map[string]*inode
}

func (n *inode) isDir() bool  { return n.kind == syscall.S_IFDIR }
func (n *inode) isLink() bool { return n.kind == syscall.S_IFLNK }
func (n *inode) isFile() bool { return n.kind == syscall.S_IFREG }

// size is what stat shows.
func (n *inode) size() int64 {
	switch n.kind {
	case syscall.S_IFLNK:
		return int64(len(n.target))
	case syscall.S_IFDIR:
		return pageSize
	}
	return int64(len(n.data))
}

// links is the link count that stat shows: a directory has its name, "." and
// ".." in each directory below.
func (n *inode) links() int {
	if !n.isDir() {
		return n.nlink
	}
	count := n.nlink * 2
	for _, child := range n.entries {
		if child.isDir() {
			count++
		}
	}
	return count
}

// names are the sorted names in a directory.
func (n *inode) names() []string { return slices.Sorted(maps.Keys(n.entries)) }

// setAttr changes attributes, as one step of the journal.
func (n *inode) setAttr(change func(*attr)) {
	change(&n.attr)
	n.disk.record(op{node: n, attr: n.attr, size: keepSize})
}

// setXattr returns the attributes with one changed; a nil value removes it.
func (a *attr) setXattr(name string, value []byte) {
	next := maps.Clone(a.xattrs)
	if value == nil {
		delete(next, name)
	} else {
		if next == nil {
			next = map[string]string{}
		}
		next[name] = string(value)
	}
	a.xattrs = next
}

// write puts b at off as far as there is room, and fills a gap with zeros.
func (n *inode) write(b []byte, off int64, now time.Time) (int, error) {
	room := n.disk.fit(int64(len(n.data)), off+int64(len(b)))
	var err error
	if end := off + int64(len(b)); room < end {
		b, err = b[:max(0, room-off)], syscall.ENOSPC
	}
	if len(b) > 0 {
		n.soil()
		n.resize(max(int64(len(n.data)), off+int64(len(b))))
		copy(n.data[off:], b)
		n.attr.mtime = now
		n.dropCapability()
	}
	return len(b), err
}

// dropCapability does what the kernel does to file capabilities when a file's
// content or owner changes.
func (n *inode) dropCapability() {
	if _, ok := n.attr.xattrs[capability]; ok {
		n.setAttr(func(a *attr) { a.setXattr(capability, nil) })
	}
}

const capability = "security.capability"

// truncate sets the size. It is a step of the journal, unlike the data.
func (n *inode) truncate(size int64, now time.Time) error {
	if size == int64(len(n.data)) {
		return nil
	}
	if n.disk.fit(int64(len(n.data)), size) < size {
		return syscall.ENOSPC
	}
	n.data = bytes.Clone(n.data)
	n.resize(size)
	n.attr.mtime = now
	n.disk.record(op{node: n, attr: n.attr, size: size})
	return nil
}

func (n *inode) resize(size int64) {
	n.disk.used += pages(size) - pages(int64(len(n.data)))
	n.data = sized(n.data, size)
}

// sized returns b cut or filled with zeros.
func sized(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

// soil marks data as not durable and gives it a buffer of its own.
func (n *inode) soil() {
	if n.dirty || n.disk.volatile {
		return
	}
	n.dirty = true
	n.data = bytes.Clone(n.data)
	n.disk.dirty = append(n.disk.dirty, n)
}

// release gives the room back when nothing refers to the inode any more.
func (n *inode) release() {
	if n.nlink == 0 && n.opens == 0 && n.isFile() {
		n.disk.used -= pages(int64(len(n.data)))
		n.data = nil
	}
}

// chown sets owners (-1 keeps one) and clears what the kernel clears with it:
// setuid, setgid of executables, and file capabilities.
func (n *inode) chown(uid, gid int) {
	n.setAttr(func(a *attr) {
		if uid >= 0 {
			a.uid = uid
		}
		if gid >= 0 {
			a.gid = gid
		}
		if n.isFile() {
			a.perm &^= syscall.S_ISUID
			if a.perm&0o010 != 0 {
				a.perm &^= syscall.S_ISGID
			}
		}
	})
	n.dropCapability()
}
