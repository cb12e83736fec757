package offline

import (
	"context"
	"path"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

// storage describes the file system that the tree lies on now, which is all
// that is known of it: what the host mounts when it runs is not mounted.
type storage struct{ files *treefs.FS }

// Mount describes what holds name or its nearest existing ancestor.
func (s storage) Mount(ctx context.Context, name string) (host.MountState, error) {
	for {
		state, err := s.files.Mount(ctx, name)
		if !host.Absent(err) || name == "/" {
			return state, err
		}
		name = path.Dir(path.Clean(name))
	}
}

// Mounts is unknown.
func (storage) Mounts(context.Context) ([]host.MountState, error) {
	return nil, notRunning("the mounts")
}
