package treefs

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// Mknod makes a device node, FIFO or socket with exactly the given mode.
func (f *FS) Mknod(name string, mode uint32, dev uint64) error {
	if kind := mode & unix.S_IFMT; f.own != nil && (kind == unix.S_IFCHR || kind == unix.S_IFBLK) {
		return fail("mknod", name, needsRoot("making a device node"))
	}
	return f.atLeaf("mknod", name, func(dir int, leaf string) error {
		if err := unix.Mknodat(dir, leaf, mode, int(dev)); err != nil {
			return err
		}
		return chmodAt(dir, leaf, mode&0o7777)
	})
}

// Lsetxattr sets an extended attribute of name itself.
func (f *FS) Lsetxattr(name, attr string, value []byte) error {
	return f.atLeaf("setxattr", name, func(dir int, leaf string) error {
		return unix.Lsetxattr(entry(dir, leaf), attr, value, 0)
	})
}

// Lgetxattr returns an extended attribute of name itself.
func (f *FS) Lgetxattr(name, attr string) ([]byte, error) {
	var value []byte
	err := f.atLeaf("getxattr", name, func(dir int, leaf string) (err error) {
		value, err = fill(func(b []byte) (int, error) { return unix.Lgetxattr(entry(dir, leaf), attr, b) })
		return err
	})
	return value, err
}

// Llistxattr returns the names of the extended attributes of name itself.
func (f *FS) Llistxattr(name string) ([]string, error) {
	var list []byte
	err := f.atLeaf("listxattr", name, func(dir int, leaf string) (err error) {
		list, err = fill(func(b []byte) (int, error) { return unix.Llistxattr(entry(dir, leaf), b) })
		return err
	})
	return strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 }), err
}

// Lchtimes sets the modification time of name itself, in nanoseconds since the
// epoch. The access time becomes the same.
func (f *FS) Lchtimes(name string, mtime int64) error {
	t := unix.NsecToTimespec(mtime)
	return f.atLeaf("lchtimes", name, func(dir int, leaf string) error {
		return unix.UtimesNanoAt(dir, leaf, []unix.Timespec{t, t}, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// entry names a directory entry for the xattr calls, which know no *at form
// before Linux 6.13. The directory is held open, so that only leaf is looked
// up, and it is not followed.
func entry(dir int, leaf string) string { return fmt.Sprintf("%s/%s", viaProc(dir), leaf) }

// attrMax is the kernel's limit for the value of an attribute and for the list
// of names (XATTR_SIZE_MAX, XATTR_LIST_MAX).
const attrMax = 1 << 16

// fill calls read with room enough.
func fill(read func([]byte) (int, error)) ([]byte, error) {
	buf := make([]byte, 256)
	n, err := read(buf)
	if err == unix.ERANGE {
		buf = make([]byte, attrMax)
		n, err = read(buf)
	}
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}
