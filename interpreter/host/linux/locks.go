package linux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// lockDir is where the installation lock lies. It is on a file system that a
// reboot empties, so that nothing is left of a lock that no process holds.
const lockDir = "/run/hostler"

// locks is the installation lock: flock(2) on dir and on the file "lock" in it,
// both, so that whoever deletes the file while it is held lets nobody in. The
// file is never deleted by us, and what holds the lock is the open file, not
// that the file is there: the kernel releases it when the process dies. Every
// Acquire opens both anew, so that one process contends with itself.
type locks struct{ dir string }

var _ host.Locks = locks{}

// lockTries bounds how often locking begins anew because the file was
// exchanged under it.
const lockTries = 100

// Acquire takes the lock.
func (l locks) Acquire(ctx context.Context, mode host.LockMode, holder host.Holder) (func() error, error) {
	if err := l.prepare(); err != nil {
		return nil, err
	}
	for range lockTries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := l.try(mode)
		if err != nil {
			return nil, err
		}
		if h != nil {
			return l.taken(h, mode, holder)
		}
	}
	return nil, fmt.Errorf("the lock file %s is exchanged all the time: something deletes it; nothing may", l.file())
}

func (l locks) file() string { return filepath.Join(l.dir, "lock") }

// prepare makes the directory.
func (l locks) prepare() error {
	err := os.Mkdir(l.dir, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return l.explain(err)
	}
	info, err := os.Lstat(l.dir)
	if err != nil {
		return l.explain(err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory; the installation lock lies in it, so remove what is there", l.dir)
	}
	return nil
}

// held are the open files that hold the lock, in the order they were taken.
type held []*flock.Flock

// free releases the lock, what was taken last first.
func (h held) free() error {
	var errs []error
	for _, lock := range slices.Backward(h) {
		errs = append(errs, lock.Close())
	}
	return errors.Join(errs...)
}

// try takes the lock once. Without an error and without a lock something was
// exchanged meanwhile: a lock on a file that is not at its name excludes
// nobody.
func (l locks) try(mode host.LockMode) (held, error) {
	var taken held
	for _, lock := range []*flock.Flock{
		flock.New(l.dir, flock.SetFlag(os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)),
		flock.New(l.file(), flock.SetFlag(os.O_CREATE|os.O_RDONLY|unix.O_NOFOLLOW), flock.SetPermissions(0o600)),
	} {
		taken = append(taken, lock)
		ok, err := take(lock, mode)
		switch {
		case errors.Is(err, unix.ESTALE):
			return nil, taken.free()
		case err != nil:
			return nil, errors.Join(l.explain(err), taken.free())
		case !ok:
			return nil, errors.Join(&host.HeldError{Holder: l.holder(), Path: l.file()}, taken.free())
		case !same(lock):
			return nil, taken.free()
		}
	}
	return taken, nil
}

func take(lock *flock.Flock, mode host.LockMode) (bool, error) {
	if mode == host.LockExclusive {
		return lock.TryLock()
	}
	return lock.TryRLock()
}

// same says whether the file that is locked is the one at its name.
func same(lock *flock.Flock) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(lock.Path())
	return err == nil && os.SameFile(locked, named)
}

// taken puts the holder's description in place. A description that lies there
// is of a holder that died: nobody holds the lock exclusively but us, if
// anybody.
func (l locks) taken(h held, mode host.LockMode, holder host.Holder) (func() error, error) {
	if mode != host.LockExclusive {
		_ = l.forget() // it may belong to another user; a reader only tidies up
		return sync.OnceValue(h.free), nil
	}
	if err := l.describe(holder); err != nil {
		return nil, errors.Join(l.explain(err), h.free())
	}
	return sync.OnceValue(func() error { return errors.Join(l.forget(), h.free()) }), nil
}

// explain says what to do about a lock that cannot be taken at all.
func (l locks) explain(err error) error {
	what := fmt.Errorf("the installation lock %s cannot be taken: %w", l.file(), err)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w (run as root)", what)
	case errors.Is(err, unix.EROFS), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w (a writable file system has to be mounted at /run)", what)
	case errors.Is(err, unix.ELOOP):
		return fmt.Errorf("%w (it is a symbolic link, which is not followed: remove it)", what)
	}
	return what
}
