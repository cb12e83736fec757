package treefs

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// mountID tells one mount from another. Devices do not: a bind mount has its
// source's, and the files of an overlay have others than its directories. They
// are compared only where the kernel gives no mount ids (before 5.8, id 0).
type mountID struct {
	id     uint64
	device uint64
}

// identity is what deciding about a removal takes.
type identity struct {
	mount     mountID
	directory bool
}

// identify looks at the entry leaf of dir, or at dir itself when leaf is "".
// It does not follow a link.
func identify(dir int, leaf string) (identity, error) {
	var st unix.Statx_t
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_EMPTY_PATH | unix.AT_NO_AUTOMOUNT | unix.AT_STATX_DONT_SYNC
	err := again(func() error { return unix.Statx(dir, leaf, flags, unix.STATX_TYPE|unix.STATX_MNT_ID, &st) })
	if err != nil {
		return identity{}, err
	}
	is := identity{directory: st.Mode&unix.S_IFMT == unix.S_IFDIR}
	if st.Mask&unix.STATX_MNT_ID != 0 {
		is.mount.id = st.Mnt_id
	} else {
		is.mount.device = unix.Mkdev(st.Dev_major, st.Dev_minor)
	}
	return is, nil
}

// mounted is the error for a mount point where none may be.
func mounted(name string, m mountID) error {
	what := "a file system"
	if l, ok := mountLine(m.id); ok {
		what = l.source + " (" + l.kind + ")"
	}
	return fail("removeall", name, fmt.Errorf("%s is mounted here; unmount it first: %w", what, unix.EBUSY))
}

// Mount describes the mount that holds name, which must exist. Its point is a
// path inside the root: the root itself when the mount begins there or above.
func (f *FS) Mount(_ context.Context, name string) (host.MountState, error) {
	var st unix.Statfs_t
	var is identity
	err := f.atFile("statfs", name, func(fd int) (err error) {
		if is, err = identify(fd, ""); err != nil {
			return err
		}
		// fstatfs takes an O_PATH descriptor.
		return unix.Fstatfs(fd, &st)
	})
	if err != nil {
		return host.MountState{}, err
	}
	point, err := f.mountPoint(name, is.mount)
	line, _ := mountLine(is.mount.id)
	return host.MountState{
		Point: point, Source: line.source, Type: line.kind,
		ReadOnly:  st.Flags&unix.ST_RDONLY != 0,
		NoExec:    st.Flags&unix.ST_NOEXEC != 0,
		FreeBytes: st.Bavail * uint64(st.Bsize),
	}, err
}

// mountPoint walks up from name as long as the mount is the same.
func (f *FS) mountPoint(name string, m mountID) (string, error) {
	point, err := f.resolved(name)
	if err != nil {
		return "", err
	}
	for point != "/" {
		var above identity
		err := f.atFile("statx", path.Dir(point), func(fd int) (err error) {
			above, err = identify(fd, "")
			return err
		})
		if err != nil {
			return "", err
		}
		if above.mount != m {
			break
		}
		point = path.Dir(point)
	}
	return point, nil
}

type mountInfo struct{ kind, source string }

// mountLine finds a mount in the kernel's table, for its type and source. It
// is not there when it belongs to another mount namespace. The namespace is
// the calling thread's, as for every other call.
func mountLine(id uint64) (mountInfo, bool) {
	table, err := os.Open("/proc/thread-self/mountinfo")
	if err != nil || id == 0 {
		return mountInfo{}, false
	}
	defer table.Close()
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		// proc_pid_mountinfo(5): "36 35 98:0 /root /point opts shared:1 - ext4 /dev/root rw"
		front, back, _ := strings.Cut(lines.Text(), " - ")
		number, _, _ := strings.Cut(front, " ")
		fields := strings.Fields(back)
		if n, err := strconv.ParseUint(number, 10, 64); err == nil && n == id && len(fields) >= 2 {
			return mountInfo{kind: fields[0], source: fields[1]}, true
		}
	}
	return mountInfo{}, false
}
