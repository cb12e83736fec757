package treefs

import (
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// Open opens name for reading.
func (f *FS) Open(name string) (afero.File, error) {
	return f.OpenFile(name, unix.O_RDONLY, 0)
}

// Create makes or empties the file name and opens it for reading and writing.
func (f *FS) Create(name string) (afero.File, error) {
	return f.OpenFile(name, unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC, 0o666)
}

// OpenFile opens name. A file that it makes gets exactly the mode perm.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	fd, err := f.openOrMake(name, flag, host.ModeBits(perm))
	if err != nil {
		return nil, fail("open", name, err)
	}
	return &file{os.NewFile(uintptr(fd), name), f}, nil
}

// openOrMake finds out whether the file is made here, because only then the
// mode is ours to set.
func (f *FS) openOrMake(name string, flag int, bits uint32) (int, error) {
	if flag&unix.O_CREAT == 0 {
		return f.openThere(name, flag)
	}
	fd, err := f.make(name, flag|unix.O_EXCL, bits)
	if err != unix.EEXIST || flag&unix.O_EXCL != 0 {
		return fd, err
	}
	fd, err = f.openThere(name, flag&^unix.O_CREAT)
	if err == unix.ENOENT { // a dangling link, whose target is made
		return f.make(name, flag, bits)
	}
	if err != nil {
		return -1, err
	}
	return notDirectory(fd)
}

// openThere opens what is there. It never waits: a FIFO, which would keep its
// opener until somebody comes to the other end, is refused.
func (f *FS) openThere(name string, flag int) (int, error) {
	if flag&(unix.O_PATH|unix.O_NONBLOCK|unix.O_DIRECTORY) != 0 {
		return f.openat2(name, flag, 0)
	}
	fd, err := f.openat2(name, flag|unix.O_NONBLOCK, 0)
	if err == unix.ENXIO { // a FIFO that nobody reads, if no socket
		flag |= unix.O_PATH
		fd, err = f.path(name, flag&unix.O_NOFOLLOW)
	}
	if err != nil {
		return -1, err
	}
	err = notFIFO(fd)
	if err == nil && flag&unix.O_PATH != 0 {
		err = unix.ENXIO
	}
	if err == nil { // files are read as ever
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flag)
	}
	if err != nil {
		shut(fd)
		return -1, err
	}
	return fd, nil
}

func notFIFO(fd int) error {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstat(fd, &st) })
	if err == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO {
		err = host.ErrFIFO
	}
	return err
}

// notDirectory refuses a directory, as the kernel does when a file is to be
// made where one is.
func notDirectory(fd int) (int, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstat(fd, &st) })
	if err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = unix.EISDIR
	}
	if err != nil {
		shut(fd)
		return -1, err
	}
	return fd, nil
}

func (f *FS) make(name string, flag int, bits uint32) (int, error) {
	fd, err := f.openat2(name, flag, bits)
	if err != nil {
		return -1, err
	}
	if err := again(func() error { return unix.Fchmod(fd, bits) }); err != nil {
		shut(fd)
		return -1, err
	}
	return fd, nil
}

// file is an open file. What it inherits works on its descriptor; what would
// go by path is replaced.
type file struct {
	*os.File
	fs *FS
}

// Stat describes the open file, whatever is at its name now.
func (o *file) Stat() (fs.FileInfo, error) {
	info, err := o.File.Stat()
	if err != nil {
		return nil, err
	}
	return o.fs.newInfo(path.Base(o.Name()), *info.Sys().(*syscall.Stat_t)), nil
}

// Readdir lists the directory as os.File does; links are not followed and
// what vanishes meanwhile is left out.
func (o *file) Readdir(count int) ([]fs.FileInfo, error) {
	for {
		names, err := o.Readdirnames(count)
		infos, statErr := o.describe(names)
		if err == nil {
			err = statErr
		}
		if err != nil || len(infos) > 0 || len(names) == 0 {
			return infos, err
		}
		if count <= 0 {
			return infos, nil
		}
	}
}

func (o *file) describe(names []string) ([]fs.FileInfo, error) {
	infos := make([]fs.FileInfo, 0, len(names))
	dir := int(o.Fd())
	for _, name := range names {
		info, err := o.fs.statAt(dir, name, name)
		if err == unix.ENOENT {
			continue
		}
		if err != nil {
			return infos, fail("lstat", path.Join(o.Name(), name), err)
		}
		infos = append(infos, info)
	}
	return infos, nil
}
