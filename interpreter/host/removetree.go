package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// RemoveTree removes what is at name with everything below it, links
// themselves, and makes that durable. What is already gone is not an error. It
// never reaches into another file system: with something mounted at or below
// name it removes nothing and names the mount point. Directories that keep
// their own owner out are opened first.
func RemoveTree(ctx context.Context, h Host, name string) error {
	top, err := Lstat(h.Files, name)
	if Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	point, source, known, err := mountWithin(ctx, h.View(), name)
	if err != nil {
		return fmt.Errorf("remove %s: list mounts: %w", name, err)
	}
	if point != "" {
		return mountedError(name, point, source)
	}
	r := remover{ctx: ctx, files: h.Files, name: name, device: StatOf(top).Dev, known: known}
	if err := r.remove(name); err != nil {
		return fmt.Errorf("remove %s: %w", name, explain(err))
	}
	return SyncDir(h.Files, path.Dir(name))
}

func mountedError(name, point, source string) error {
	what := point + " is a mount point"
	if source != "" {
		what += ": " + point + " from " + source + " is mounted there"
	}
	return fmt.Errorf("remove %s: %s; unmount it first, a tree is never removed across mounts", name, what)
}

// MountWithin returns the first mount point at or below name, "" if there is
// none. Where mounts cannot be listed, devices of directories are compared.
func MountWithin(ctx context.Context, v View, name string) (point string, err error) {
	point, _, _, err = mountWithin(ctx, v, name)
	return point, err
}

// mountWithin is MountWithin, with what is mounted; known is false where
// mounts cannot be listed.
func mountWithin(ctx context.Context, v View, name string) (point, source string, known bool, err error) {
	mounts, err := v.Storage.Mounts(ctx)
	if errors.Is(err, ErrUnknown) {
		point, err = otherDevice(v.Files, name)
		return point, "", false, err
	}
	for _, m := range mounts {
		if m.Point == name || strings.HasPrefix(m.Point, name+"/") {
			return m.Point, m.Source, true, err
		}
	}
	return "", "", true, err
}

func otherDevice(f FileView, name string) (string, error) {
	parent, err := f.Stat(path.Dir(name))
	if Absent(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return deviceBelow(f, name, StatOf(parent).Dev)
}

// deviceBelow passes over directories that cannot be listed.
func deviceBelow(f FileView, name string, device uint64) (string, error) {
	info, err := Lstat(f, name)
	if Absent(err) {
		return "", nil
	}
	if err != nil || !info.IsDir() {
		return "", err
	}
	if StatOf(info).Dev != device {
		return name, nil
	}
	names, err := Names(f, name)
	if errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	for _, base := range names {
		if found, err := deviceBelow(f, path.Join(name, base), device); err != nil || found != "" {
			return found, err
		}
	}
	return "", err
}

// remover removes the tree at name.
type remover struct {
	ctx    context.Context
	files  Files
	name   string
	device uint64
	// known says that mounts were listed and there are none: then another
	// device is a subvolume, which goes with the rest.
	known bool
}

func (r remover) remove(name string) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	info, err := Lstat(r.files, name)
	if Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := r.empty(name, info); err != nil {
			return err
		}
	}
	if err := r.files.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (r remover) empty(name string, info fs.FileInfo) error {
	if !r.known && StatOf(info).Dev != r.device {
		return fmt.Errorf("%s is on another file system than %s: it is not removed", name, r.name)
	}
	names, err := Names(r.files, name)
	if mode := ModeBits(info.Mode()); mode&0o700 != 0o700 && (len(names) > 0 || errors.Is(err, fs.ErrPermission)) {
		// A directory may keep its own owner out, unless that is root.
		if err := r.files.Chmod(name, FileMode(mode|0o700)); err != nil {
			return err
		}
		names, err = Names(r.files, name)
	}
	if err != nil {
		return err
	}
	for _, base := range names {
		if err := r.remove(path.Join(name, base)); err != nil {
			return err
		}
	}
	return nil
}
