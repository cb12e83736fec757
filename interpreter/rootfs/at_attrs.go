package rootfs

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// atEntry is an entry just made: open as fd, or where that is -1 base in the
// directory dir.
type atEntry struct {
	tree    *atTree
	dir     int
	base    string
	fd      int
	link    bool
	mode    uint32 // what it has now; 0 means that it is not known
	warning string
}

// dress sets owner, extended attributes, mode and time, in this order: a new
// owner takes setuid bits and capabilities away, and a mode may forbid to set
// attributes.
func (e *atEntry) dress(a attrs) error {
	if !e.tree.ownRoot || a.uid != 0 || a.gid != 0 {
		if err := e.chown(a.uid, a.gid); err != nil {
			return fmt.Errorf("owner %d:%d: %w", a.uid, a.gid, err)
		}
	}
	for _, x := range a.xattrs {
		if err := e.setxattr(x); err != nil {
			return fmt.Errorf("attribute %s: %w", x.name, err)
		}
	}
	if !e.link && (e.mode == 0 || e.mode != a.mode) {
		if err := e.chmod(a.mode); err != nil {
			return fmt.Errorf("mode %04o: %w", a.mode, err)
		}
	}
	return e.setTime(a.mtime)
}

// setTime sets the time of the last change, in nanoseconds since the epoch.
func (e *atEntry) setTime(mtime int64) error {
	times := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(mtime)}
	if e.fd < 0 {
		return unix.UtimesNanoAt(e.dir, e.base, times[:], unix.AT_SYMLINK_NOFOLLOW)
	}
	// futimens(3): the call without a name, which package unix does not offer.
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(e.fd), 0, uintptr(unsafe.Pointer(&times[0])), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func (e *atEntry) chown(uid, gid int) error {
	if e.fd >= 0 {
		return unix.Fchown(e.fd, uid, gid)
	}
	return unix.Fchownat(e.dir, e.base, uid, gid, unix.AT_SYMLINK_NOFOLLOW)
}

func (e *atEntry) chmod(mode uint32) error {
	if e.fd >= 0 {
		return unix.Fchmod(e.fd, mode)
	}
	return unix.Fchmodat(e.dir, e.base, mode, 0)
}

// setxattr sets one attribute. What the kernel never stores on links and
// special files is left out and said.
func (e *atEntry) setxattr(x xattr) error {
	var err error
	if e.fd >= 0 {
		err = unix.Fsetxattr(e.fd, x.name, []byte(x.value), 0)
	} else {
		// There is no call that takes a directory and a name on all kernels;
		// the magic link of /proc leads to the open directory itself.
		err = unix.Lsetxattr(fmt.Sprintf("/proc/self/fd/%d/%s", e.dir, e.base), x.name, []byte(x.value), 0)
	}
	if left := leftOut(x.name, err, e.fd < 0); left != "" {
		e.warning = left
		return nil
	}
	return err
}

// leftOut says in words why an attribute of the user namespace that was
// refused is no fault, "" if it is one: the kernel keeps them on files and
// directories only, and some file systems not at all.
func leftOut(attr string, err error, special bool) string {
	switch {
	case err == nil || !strings.HasPrefix(attr, "user."):
		return ""
	case special && errors.Is(err, unix.EPERM):
		return attr + " is left out: links and special files cannot have it"
	case errors.Is(err, unix.ENOTSUP):
		return attr + " is left out: the file system does not store it"
	}
	return ""
}
