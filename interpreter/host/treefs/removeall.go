package treefs

import (
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// RemoveAll removes name and everything below it. Links are removed, never
// followed. A file system that is mounted at or below name is an error that
// names the mount point; it is looked for first, so that nothing is removed
// then. What is not there is no error.
func (f *FS) RemoveAll(name string) error {
	dir, leaf, err := f.parent(name)
	if err != nil {
		return unlessAbsent(fail("removeall", name, err))
	}
	defer shut(dir)
	if leaf == "." {
		return fail("removeall", name, fmt.Errorf("the root itself stays: %w", unix.EBUSY))
	}
	here, err := identify(dir, "")
	if err != nil {
		return fail("removeall", name, err)
	}
	r := remover{force: f.own != nil}
	name = path.Clean(name)
	if err := r.scan(dir, leaf, name, here.mount); err != nil {
		return unlessAbsent(err)
	}
	return r.remove(dir, leaf, name)
}

func unlessAbsent(err error) error {
	if host.Absent(err) {
		return nil
	}
	return err
}

// remover removes a tree by descriptors, so that no directory can be exchanged
// for a link on the way.
type remover struct {
	// force gives the caller access to own directories that lack it, as root
	// has it without asking.
	force bool
}

// scan fails when a mount lies at or below the entry.
func (r remover) scan(dir int, leaf, name string, mount mountID) error {
	is, err := identify(dir, leaf)
	if err != nil {
		return fail("removeall", name, err)
	}
	if is.mount != mount {
		return mounted(name, is.mount)
	}
	if !is.directory {
		return nil
	}
	return r.each(dir, leaf, name, func(sub int, leaf, name string) error {
		err := r.scan(sub, leaf, name, mount)
		if os.IsNotExist(err) { // removed meanwhile
			return nil
		}
		return err
	})
}

func (r remover) remove(dir int, leaf, name string) error {
	err := again(func() error { return unix.Unlinkat(dir, leaf, 0) })
	if err == unix.EISDIR {
		if err := r.each(dir, leaf, name, r.remove); err != nil {
			return unlessAbsent(err)
		}
		err = again(func() error { return unix.Unlinkat(dir, leaf, unix.AT_REMOVEDIR) })
	}
	if err == unix.EBUSY {
		return mounted(name, mountID{})
	}
	return unlessAbsent(fail("removeall", name, err))
}

// each opens the directory leaf of dir and calls do for what is in it.
func (r remover) each(dir int, leaf, name string, do func(dir int, leaf, name string) error) error {
	fd, err := r.enter(dir, leaf)
	if err == unix.EXDEV {
		return mounted(name, mountID{})
	}
	if err != nil {
		return fail("removeall", name, err)
	}
	open := os.NewFile(uintptr(fd), name)
	defer open.Close()
	names, err := open.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, entry := range names {
		if err := do(fd, entry, path.Join(name, entry)); err != nil {
			return err
		}
	}
	return nil
}

// enter opens a directory for listing; a mount point is EXDEV and a link
// ELOOP.
func (r remover) enter(dir int, leaf string) (fd int, err error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH,
	}
	if r.force {
		_ = chmodAt(dir, leaf, 0o700) // what it does not give fails below
	}
	err = again(func() error {
		fd, err = unix.Openat2(dir, leaf, &how)
		return err
	})
	return fd, err
}
