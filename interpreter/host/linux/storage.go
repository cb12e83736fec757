package linux

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

// storage knows the mounts that a tree is made of.
type storage struct {
	files  *treefs.FS
	mounts func() ([]mount, error)
}

var _ host.StorageView = storage{}

// Mounts lists all mount points.
func (s storage) Mounts(ctx context.Context) ([]host.MountState, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all, err := s.mounts()
	if err != nil {
		return nil, fmt.Errorf("listing the mounts: %w", err)
	}
	states := make([]host.MountState, len(all))
	for i, m := range all {
		states[i] = m.state()
	}
	return states, nil
}

// Mount describes the mount that holds name or its nearest existing ancestor.
func (s storage) Mount(ctx context.Context, name string) (host.MountState, error) {
	if err := ctx.Err(); err != nil {
		return host.MountState{}, err
	}
	real, err := s.existing(path.Clean(name))
	if err != nil {
		return host.MountState{}, err
	}
	id, st, err := examine(real)
	if err != nil {
		return host.MountState{}, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	all, err := s.mounts()
	if err != nil {
		return host.MountState{}, fmt.Errorf("listing the mounts: %w", err)
	}
	m, ok := holding(all, id, s.inside(real))
	if !ok {
		return host.MountState{}, fmt.Errorf("%s: the mount that holds it is not in the kernel's table", name)
	}
	state := m.state()
	state.ReadOnly = st.Flags&unix.ST_RDONLY != 0
	state.NoExec = st.Flags&unix.ST_NOEXEC != 0
	state.FreeBytes = st.Bavail * uint64(st.Bsize)
	return state, nil
}

// existing is the path, on the machine the program runs on, of name or its
// nearest ancestor that is there.
func (s storage) existing(name string) (string, error) {
	for {
		real, err := s.files.RealDir(name)
		if !host.Absent(err) || name == "/" {
			return real, err
		}
		name = path.Dir(name)
	}
}

// inside is the path in the tree of a path that RealDir gave.
func (s storage) inside(real string) string {
	top, err := s.files.RealDir("/")
	if err != nil {
		return real
	}
	return path.Join("/", strings.TrimPrefix(real, top))
}

// examine asks about a path without opening it: what is there may be a device.
// id is 0 where the kernel gives none.
func examine(name string) (id uint64, st unix.Statfs_t, err error) {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, st, err
	}
	defer unix.Close(fd)
	var sx unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &sx); err != nil {
		return 0, st, err
	}
	if sx.Mask&unix.STATX_MNT_ID != 0 {
		id = sx.Mnt_id
	}
	return id, st, unix.Fstatfs(fd, &st)
}
