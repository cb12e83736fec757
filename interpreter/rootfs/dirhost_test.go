package rootfs

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// dirFS is a file door onto a directory, without any resolution of links:
// enough for tests that hold none on the way.
type dirFS struct {
	afero.Fs
	dir string
}

func (d dirFS) at(name string) string { return filepath.Join(d.dir, name) }

func (d dirFS) Open(name string) (afero.File, error) { return os.Open(d.at(name)) }
func (d dirFS) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	return os.OpenFile(d.at(name), flag, perm)
}
func (d dirFS) Mkdir(name string, perm fs.FileMode) error   { return os.Mkdir(d.at(name), perm) }
func (d dirFS) Remove(name string) error                    { return os.Remove(d.at(name)) }
func (d dirFS) RemoveAll(name string) error                 { return os.RemoveAll(d.at(name)) }
func (d dirFS) Rename(oldname, newname string) error        { return os.Rename(d.at(oldname), d.at(newname)) }
func (d dirFS) Stat(name string) (fs.FileInfo, error)       { return os.Stat(d.at(name)) }
func (d dirFS) Chmod(name string, mode fs.FileMode) error   { return os.Chmod(d.at(name), mode) }
func (d dirFS) Chtimes(name string, a, m time.Time) error   { return os.Chtimes(d.at(name), a, m) }
func (d dirFS) SymlinkIfPossible(target, link string) error { return os.Symlink(target, d.at(link)) }
func (d dirFS) Link(oldname, newname string) error {
	return unix.Linkat(unix.AT_FDCWD, d.at(oldname), unix.AT_FDCWD, d.at(newname), 0)
}
func (d dirFS) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	info, err := os.Lstat(d.at(name))
	return info, true, err
}
func (d dirFS) ReadlinkIfPossible(name string) (string, error) { return os.Readlink(d.at(name)) }
func (d dirFS) Lchown(name string, uid, gid int) error {
	if os.Geteuid() != 0 && uid == 0 && gid == 0 {
		return nil
	}
	return os.Lchown(d.at(name), uid, gid)
}
func (d dirFS) SyncTree(string) error { return nil }
func (d dirFS) Mknod(name string, mode uint32, dev uint64) error {
	return unix.Mknod(d.at(name), mode, int(dev))
}
func (d dirFS) Lsetxattr(name, attr string, value []byte) error {
	return unix.Lsetxattr(d.at(name), attr, value, 0)
}
func (d dirFS) Lgetxattr(string, string) ([]byte, error) { return nil, syscall.ENODATA }
func (d dirFS) Llistxattr(string) ([]string, error)      { return nil, nil }
func (d dirFS) Lchtimes(name string, mtime int64) error {
	ts := []unix.Timespec{unix.NsecToTimespec(mtime), unix.NsecToTimespec(mtime)}
	return unix.UtimesNanoAt(unix.AT_FDCWD, d.at(name), ts, unix.AT_SYMLINK_NOFOLLOW)
}

// realFS also says where it stands.
type realFS struct{ dirFS }

func (d realFS) RealDir(name string) (string, error) { return d.at(name), nil }

// room is a storage door with a given amount of free space and mounts.
type room struct {
	free   uint64
	mounts []host.MountState
	err    error
}

func (r room) Mount(context.Context, string) (host.MountState, error) {
	return host.MountState{Point: "/", FreeBytes: r.free}, r.err
}
func (r room) Mounts(context.Context) ([]host.MountState, error) { return r.mounts, r.err }

// realHost is a host on an empty directory.
func realHost(t testing.TB) (host.Host, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, host.MachinesDir), 0o755); err != nil {
		t.Fatal(err)
	}
	return host.Host{
		Files: realFS{dirFS{dir: dir}}, Storage: room{free: 1 << 40},
		Identity: host.Identity{Root: dir, Privileged: os.Geteuid() == 0},
	}, dir
}
