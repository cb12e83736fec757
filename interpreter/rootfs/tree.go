package rootfs

import "io"

// attrs are what every entry has beside its content.
type attrs struct {
	mode     uint32 // the twelve permission bits
	uid, gid int
	mtime    int64 // nanoseconds since the epoch
	xattrs   []xattr
}

// xattr is one extended attribute.
type xattr struct{ name, value string }

// object is an entry that is neither a directory nor a hard link. Exactly one
// of the three kinds is set.
type object struct {
	attrs
	// content and size are a regular file's.
	content io.Reader
	size    int64
	// target is a symbolic link's.
	target string
	// format is S_IFCHR, S_IFBLK or S_IFIFO, and dev as in unix.Mkdev.
	format uint32
	dev    uint64
}

// tree carries out what the applier decides. Paths are clean and relative to
// its top, "." is the top. The caller promises that all parents are real
// directories and that nothing has the name of what is made.
type tree interface {
	// Mkdir makes a directory that only its owner can enter.
	Mkdir(path string) error
	// Put makes o and then, in this order, sets owner, extended attributes,
	// mode and time. What it leaves out is said by the warning, "" for
	// nothing.
	Put(path string, o object) (warning string, err error)
	// Link makes path another name of the entry old, which is not followed.
	Link(path, old string) error
	// Remove removes what is at path and all that is below it.
	Remove(path string) error
	// Dress sets owner, extended attributes, mode and time of a directory.
	Dress(path string, a attrs) (warning string, err error)
}
