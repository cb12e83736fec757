package memory

import (
	"context"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"hostler/interpreter/host"
)

// storageDoor tells of mounts, by the names the host or the machine sees.
type storageDoor struct {
	m       *Memory
	machine string
	base    string
}

var _ host.StorageView = storageDoor{}

// Mount describes the mount that holds a path or its nearest ancestor.
func (d storageDoor) Mount(ctx context.Context, name string) (host.MountState, error) {
	if err := ctx.Err(); err != nil {
		return host.MountState{}, err
	}
	t := d.m.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	at, err := d.nearest(t, path.Clean("/"+name))
	if err != nil {
		return host.MountState{}, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	state := at.mnt.state()
	state.Point = d.seen(state.Point)
	state.FreeBytes = at.node.disk.free()
	return state, nil
}

func (d storageDoor) nearest(t *tree, name string) (place, error) {
	root, err := t.find(t.root(), d.base, true)
	if err != nil {
		return place{}, err
	}
	for {
		at, err := t.find(root, name, true)
		if err != syscall.ENOENT || name == "/" {
			return at, err
		}
		name = path.Dir(name)
	}
}

// seen is a mount point as a name inside; one outside holds the whole root.
func (d storageDoor) seen(point string) string {
	if d.base == "/" {
		return point
	}
	if rest, ok := strings.CutPrefix(point, d.base+"/"); ok {
		return "/" + rest
	}
	return "/"
}

// Mounts lists the mount points inside, sorted.
func (d storageDoor) Mounts(ctx context.Context) ([]host.MountState, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.m.mu.Lock()
	err := d.m.liveness(d.machine, "the list of mounts")
	d.m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var list []host.MountState
	for _, mnt := range d.m.tree.mounted() {
		inside := d.base == "/" || strings.HasPrefix(mnt.spec.Point+"/", d.base+"/")
		if inside || mnt.spec.Point == "/" {
			state := mnt.state()
			state.Point = d.seen(state.Point)
			list = append(list, state)
		}
	}
	return list, nil
}
