// Package host is the only door to the machine a recipe is applied to.
//
// A [View] is everything that may be looked at and a [Host] adds everything
// that may be changed. Both are bundles of small doors, one per subject
// (files, units, machines, …), so that a piece of code says in its signature
// how much of the machine it needs. A plan holds a View only: it cannot change
// the host because it has nothing to change it with.
//
// A machine is a host: [Machines.Host] gives the same doors onto the inside of
// a systemd-nspawn machine, its root as "/", its own service manager, its
// commands run inside. Nothing that works through these doors can tell where
// it stands.
//
// The doors are implemented by linux (the running machine), offline (a root
// directory without a running manager), memory (a whole host in memory) and
// shadow (an overlay over any View that takes every effect and changes
// nothing); fault wraps any Host. The contract of every method stands here and
// package hosttest holds all implementations to it.
package host

import (
	"context"
	"time"
)

// View is everything that may be looked at. All doors are present on every
// implementation; a door that has nothing behind it (the service manager of an
// offline root) answers with the sentinel its methods document.
type View struct {
	Files    FileView
	Units    UnitView
	Machines MachineView
	Kernel   KernelView
	Storage  StorageView
	Network  NetworkView
	Clock    Clock
	// Identity says what kind of host this is; it never changes during a run.
	Identity Identity
}

// Host is a View and everything that may be changed.
type Host struct {
	Files    Files
	Units    Units
	Machines Machines
	Kernel   Kernel
	Storage  StorageView
	Network  Network
	Commands Commands
	Locks    Locks
	Clock    Clock
	Identity Identity
}

// View returns the reading half of h. It shares h's doors, so what is done
// through h is seen through the view.
func (h Host) View() View {
	return View{
		Files: h.Files, Units: h.Units, Machines: h.Machines, Kernel: h.Kernel,
		Storage: h.Storage, Network: h.Network, Clock: h.Clock, Identity: h.Identity,
	}
}

// Identity is what an implementation knows about itself without asking the
// machine.
type Identity struct {
	// Live is true when the host is running now: kernel, manager and network
	// are its own. It is false for an offline root, whose live facts are
	// unknown and never those of the machine the program runs on.
	Live bool
	// Root is the directory of an offline root on the machine the program
	// runs on, "/" otherwise. For display only: paths given to doors are
	// always inside.
	Root string
	// Machine is the name of the machine this host is the inside of, "" for
	// the host itself.
	Machine string
	// Arch is the architecture in Go's names, "" for that of the program.
	Arch string
	// Privileged is true when owners, device nodes and units can be managed
	// as root would.
	Privileged bool
}

// Clock tells the time. It is a door so that nothing else reads the wall
// clock and tests are repeatable.
type Clock interface {
	// Now is the wall-clock time, for people.
	Now() time.Time
	// Monotonic is the time since boot that does not run during suspend
	// (CLOCK_MONOTONIC), on the same axis as the timestamps of units.
	Monotonic() time.Duration
	// Sleep waits for d or until ctx is done, whose error it returns.
	Sleep(ctx context.Context, d time.Duration) error
}

// Locks gives the one installation lock.
type Locks interface {
	// Acquire takes the installation lock, exclusively or shared. It does not
	// wait: a lock that is held returns a *HeldError that describes the
	// holder. holder is the description left for others while an exclusive
	// lock is held. The lock file is never deleted. release is safe to call
	// more than once; the kernel releases the lock when the process dies.
	Acquire(ctx context.Context, mode LockMode, holder Holder) (release func() error, err error)
}

// LockMode says how a lock is taken.
type LockMode int

// The two ways of taking the installation lock.
const (
	LockShared LockMode = iota
	LockExclusive
)

// Holder describes who holds the installation lock.
type Holder struct {
	PID     int       `json:"pid"`
	Command string    `json:"command"`
	Since   time.Time `json:"since"`
}
