package offline

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

// locks locks the root directory itself, so that no lock file is left in an
// image. There is no place for the holder's description: who holds it, the
// kernel tells.
type locks struct {
	files *treefs.FS
	root  string
}

// Acquire locks the root directory.
func (l locks) Acquire(ctx context.Context, mode host.LockMode, _ host.Holder) (func() error, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir, err := l.files.Open("/")
	if err != nil {
		return nil, fmt.Errorf("locking the offline root %s: %w", l.root, err)
	}
	if err := flock(dir, mode); err != nil {
		return nil, errors.Join(l.explain(dir, err), dir.Close())
	}
	// The lock goes with the last descriptor of the open directory.
	return sync.OnceValue(dir.Close), nil
}

func flock(dir afero.File, mode host.LockMode) error {
	fd, ok := dir.(interface{ Fd() uintptr })
	if !ok {
		return errors.ErrUnsupported
	}
	how := unix.LOCK_SH
	if mode == host.LockExclusive {
		how = unix.LOCK_EX
	}
	for {
		if err := unix.Flock(int(fd.Fd()), how|unix.LOCK_NB); err != unix.EINTR {
			return err
		}
	}
}

func (l locks) explain(dir afero.File, err error) error {
	if errors.Is(err, unix.EWOULDBLOCK) {
		return &host.HeldError{Path: l.root, Holder: holder(dir)}
	}
	return fmt.Errorf("locking the offline root %s: %w", l.root, err)
}
