package rootfs

import (
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// dirCache holds open directories, the last used first.
type dirCache struct{ open []openDir }

type openDir struct {
	path string
	fd   int
}

// maxOpen bounds the descriptors of a dirCache.
const maxOpen = 48

func (c *dirCache) get(path string) (int, bool) {
	for i, d := range c.open {
		if d.path == path {
			copy(c.open[1:i+1], c.open[:i])
			c.open[0] = d
			return d.fd, true
		}
	}
	return 0, false
}

func (c *dirCache) put(path string, fd int) error {
	var err error
	if len(c.open) == maxOpen {
		err = unix.Close(c.open[maxOpen-1].fd)
		c.open = c.open[:maxOpen-1]
	}
	c.open = slices.Insert(c.open, 0, openDir{path, fd})
	return err
}

// drop closes the directory at path and all below it.
func (c *dirCache) drop(path string) error {
	var err error
	c.open = slices.DeleteFunc(c.open, func(d openDir) bool {
		if d.path != path && !strings.HasPrefix(d.path, path+"/") {
			return false
		}
		err = errors.Join(err, unix.Close(d.fd))
		return true
	})
	return err
}

func (c *dirCache) close() error {
	var err error
	for _, d := range c.open {
		err = errors.Join(err, unix.Close(d.fd))
	}
	c.open = nil
	return err
}

// Remove removes what is at name and all that is below it.
func (t *atTree) Remove(name string) error {
	dir, base, err := t.parent(name)
	if err != nil {
		return err
	}
	err = unix.Unlinkat(dir, base, 0)
	if errors.Is(err, unix.EISDIR) {
		if err := t.dirs.drop(name); err != nil {
			return err
		}
		// The parent is not below name, so it is still open.
		err = removeDir(dir, base)
	}
	return pathError("remove", name, err)
}

func removeDir(dir int, base string) error {
	fd, err := unix.Openat(dir, base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), base)
	names, err := file.Readdirnames(-1)
	for _, name := range names {
		if err == nil {
			err = removeAt(fd, name)
		}
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return unix.Unlinkat(dir, base, unix.AT_REMOVEDIR)
}

func removeAt(dir int, base string) error {
	err := unix.Unlinkat(dir, base, 0)
	if errors.Is(err, unix.EISDIR) {
		return removeDir(dir, base)
	}
	return err
}
