package blocktest

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"syscall"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// Keeper holds originals in memory. Restoring one is strict.
type Keeper struct{ kept map[string]*original }

// original is a file, link or directory with everything below it.
type original struct {
	kind   string
	access host.Access
	mtime  time.Time
	bytes  []byte
	target string
	below  map[string]*original
}

// NewKeeper returns an empty one.
func NewKeeper() *Keeper { return &Keeper{kept: map[string]*original{}} }

// Keep reads what is at name.
func (k *Keeper) Keep(ctx context.Context, h host.Host, key thing.Key, name string, found thing.State) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	o, err := read(h.Files, name)
	if err != nil {
		return "", err
	}
	if o.kind != found.Kind {
		return "", fmt.Errorf("%s is a %s and was found as a %s", name, o.kind, found.Kind)
	}
	backup := fmt.Sprintf("%d:%s", len(k.kept), key)
	k.kept[backup] = o
	return backup, nil
}

// Restore replaces what is at name by the original.
func (k *Keeper) Restore(ctx context.Context, h host.Host, backup, name string) error {
	o, ok := k.kept[backup]
	if !ok {
		return fmt.Errorf("there is no backup %q for %s", backup, name)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.kind == thing.Directory {
		if err := thing.RemoveTree(ctx, h, name); err != nil {
			return err
		}
	}
	return o.write(h.Files, name)
}

func read(f host.Files, name string) (*original, error) {
	info, err := host.Lstat(f, name)
	if err != nil {
		return nil, err
	}
	st := host.StatOf(info)
	o := &original{access: host.Access{Mode: host.ModeBits(info.Mode()), UID: st.UID, GID: st.GID}, mtime: info.ModTime()}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		o.kind = thing.File
		o.bytes, err = thing.ReadAll(f, name)
	case mode&fs.ModeSymlink != 0:
		o.kind = thing.Link
		o.target, err = f.ReadlinkIfPossible(name)
	case mode.IsDir():
		o.kind, o.below = thing.Directory, map[string]*original{}
		err = o.readBelow(f, name)
	default:
		err = fmt.Errorf("%s cannot be kept", name)
	}
	return o, err
}

func (o *original) readBelow(f host.Files, dir string) error {
	names, err := host.Names(f, dir)
	for _, n := range names {
		if o.below[n], err = read(f, path.Join(dir, n)); err != nil {
			return err
		}
	}
	return err
}

func (o *original) write(f host.Files, name string) error {
	switch o.kind {
	case thing.File:
		err := host.Replace(f, name, host.Content{Bytes: o.bytes, Mode: o.access.Mode, UID: o.access.UID, GID: o.access.GID})
		if err != nil {
			return err
		}
	case thing.Link:
		if err := host.Symlink(f, o.target, name); err != nil {
			return err
		}
		return f.Lchown(name, o.access.UID, o.access.GID)
	case thing.Directory:
		if err := host.MakeDir(f, name, o.access); err != nil {
			return err
		}
		for n, below := range o.below {
			if err := below.write(f, path.Join(name, n)); err != nil {
				return err
			}
		}
	default:
		return &fs.PathError{Op: "restore", Path: name, Err: syscall.EINVAL}
	}
	return f.Chtimes(name, o.mtime, o.mtime)
}
