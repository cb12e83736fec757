package shadow

import (
	"context"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/host"
)

// storage is the storage door.
type storage struct{ w *world }

// Mount describes the mount that holds path, as the shadow's links lead there.
func (s *storage) Mount(ctx context.Context, name string) (host.MountState, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return s.w.mountOf(ctx, name)
}

func (w *world) mountOf(ctx context.Context, name string) (host.MountState, error) {
	if w.up == nil {
		at, err := w.files.heldBy(name)
		if err != nil {
			return host.MountState{}, failed("statfs", name, err)
		}
		return w.view.Storage.Mount(ctx, at)
	}
	if v, err := w.live(ctx); err == nil {
		return v.Storage.Mount(ctx, name)
	}
	// At rest the tree lies on mounts of the host it is on.
	m, err := w.up.mountOf(ctx, path.Join(w.files.at, name))
	if below, ok := strings.CutPrefix(m.Point, w.files.at+"/"); ok {
		m.Point = "/" + below
	} else if err == nil {
		m.Point = "/"
	}
	return m, err
}

// heldBy is a path in the base on the mount that holds name, or what is
// nearest above it.
func (f *files) heldBy(name string) (string, error) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	for {
		p, err := f.walk(name, true)
		if err == nil && p.node() != nil {
			return p.node().mount, nil
		}
		if err != nil && !host.Absent(failed("stat", name, err)) || name == "/" {
			return "", err
		}
		name = path.Dir(name)
	}
}

// Mounts lists the mount points that are left.
func (s *storage) Mounts(ctx context.Context) ([]host.MountState, error) {
	return ask(ctx, s.w, func(v host.View) ([]host.MountState, error) { return s.w.mounted(ctx, v) })
}

// mounted takes from the base's mounts those that were unmounted; of several
// at one place the last one goes first.
func (w *world) mounted(ctx context.Context, v host.View) ([]host.MountState, error) {
	all, err := v.Storage.Mounts(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.Clone(all)
	for _, point := range w.kernel.unmounted {
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].Point == point {
				all = slices.Delete(all, i, i+1)
				break
			}
		}
	}
	return all, nil
}
