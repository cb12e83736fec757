package thing

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"hostler/interpreter/host"
)

// Tree is a path with everything below it, for steps that remove it whole.
type Tree string

// Key is that of the path.
func (t Tree) Key() Key { return Path(t).Key() }

// Look describes what is at the path itself.
func (t Tree) Look(ctx context.Context, v host.View) (State, error) { return Path(t).Look(ctx, v) }

// Keeps is true for whatever is there: the tree is going to be removed.
func (t Tree) Keeps(found State) bool { return found.Kind != Absent }

// PutBack puts the original back. Where there was nothing it leaves alone what
// came since: it is not ours.
func (t Tree) PutBack(ctx context.Context, h host.Host, o Origin, k Keeper) error {
	if o.Kind != OriginSaved {
		return nil
	}
	return k.Restore(ctx, h, o.Backup, string(t))
}

// Dir is a directory whose own mode and owner are managed; what is in it is
// not.
type Dir string

// Key is that of the path.
func (d Dir) Key() Key { return Path(d).Key() }

// Look describes the directory itself.
func (d Dir) Look(ctx context.Context, v host.View) (State, error) { return Path(d).Look(ctx, v) }

// Keeps is false for a directory: its mode and owner stand in the State.
func (d Dir) Keeps(found State) bool { return found.Kind != Absent && found.Kind != Directory }

// PutBack removes the directory we made, which must be empty, or puts mode and
// owner back.
func (d Dir) PutBack(ctx context.Context, h host.Host, o Origin, k Keeper) error {
	switch {
	case o.Kind == OriginAbsent:
		return d.remove(h.Files)
	case o.Kind != OriginSaved:
		return nil
	case o.State == nil || o.State.Kind != Directory:
		return k.Restore(ctx, h, o.Backup, string(d))
	}
	a, err := accessOf(*o.State)
	if err != nil {
		return fmt.Errorf("%s: %w", d, err)
	}
	if _, err := host.Lstat(h.Files, string(d)); host.Absent(err) {
		return host.MakeDir(h.Files, string(d), a)
	}
	return host.SetAccess(h.Files, string(d), a)
}

func (d Dir) remove(f host.Files) error {
	info, err := host.Lstat(f, string(d))
	switch {
	case host.Absent(err):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return host.Remove(f, string(d))
	}
	names, err := host.Names(f, string(d))
	if err != nil {
		return err
	}
	if len(names) > 0 {
		sort.Strings(names)
		return fmt.Errorf("%s is not empty: it holds %s; remove it by hand, or with a reset_step after the directory in the recipe",
			d, strings.Join(names[:min(len(names), 3)], ", "))
	}
	return host.Remove(f, string(d))
}

func accessOf(s State) (host.Access, error) {
	bits, err := strconv.ParseUint(s.Mode, 8, 16)
	if err != nil {
		return host.Access{}, fmt.Errorf("the recorded mode %q is no mode", s.Mode)
	}
	return host.Access{Mode: uint32(bits), UID: s.UID, GID: s.GID}, nil
}

// MountWithin returns the first mount point at or below name, "" if there is
// none. Where mounts cannot be listed, devices of directories are compared.
func MountWithin(ctx context.Context, v host.View, name string) (string, error) {
	return host.MountWithin(ctx, v, name)
}

// RemoveTree is [host.RemoveTree].
func RemoveTree(ctx context.Context, h host.Host, name string) error {
	return host.RemoveTree(ctx, h, name)
}
