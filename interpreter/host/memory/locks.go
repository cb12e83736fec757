package memory

import (
	"context"
	"sync"

	"hostler/interpreter/host"
)

// lockFile is where the installation lock is, as on a real host.
const lockFile = "/run/hostler/lock"

// lockState is who holds a lock.
type lockState struct {
	holder *host.Holder // of an exclusive lock
	shared int
}

// lockDoor gives the installation lock of one root.
type lockDoor struct {
	m       *Memory
	machine string
}

var _ host.Locks = lockDoor{}

// Acquire takes the lock or tells who holds it.
func (d lockDoor) Acquire(ctx context.Context, mode host.LockMode, holder host.Holder) (func() error, error) {
	d.m.count("locks")
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if err := d.touch(); err != nil {
		return nil, err
	}
	l := d.m.locks[d.machine]
	if l == nil {
		l = &lockState{}
		d.m.locks[d.machine] = l
	}
	switch {
	case l.holder != nil:
		by := *l.holder
		return nil, &host.HeldError{Holder: &by, Path: lockFile}
	case mode == host.LockExclusive && l.shared > 0:
		return nil, &host.HeldError{Path: lockFile}
	case mode == host.LockExclusive:
		l.holder = &holder
	default:
		l.shared++
	}
	return d.release(l, mode), nil
}

// touch makes the lock file. The lock of a root at rest is on the root itself.
func (d lockDoor) touch() error {
	if d.m.opts.Offline || d.machine != "" {
		return nil
	}
	return d.m.tryPlant(lockFile, File{Mode: 0o600})
}

func (d lockDoor) release(l *lockState, mode host.LockMode) func() error {
	var once sync.Once
	return func() error {
		once.Do(func() {
			d.m.mu.Lock()
			defer d.m.mu.Unlock()
			if mode == host.LockExclusive {
				l.holder = nil
			} else {
				l.shared--
			}
		})
		return nil
	}
}
