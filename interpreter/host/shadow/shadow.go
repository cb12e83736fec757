// Package shadow is a host that takes every effect and changes nothing: an
// overlay over any host.View. A plan is the walk of a recipe on a shadow, so a
// step sees what the steps before it would have done.
//
// It holds a View only, so there is nothing by which it could touch the host.
//
// Files behave as on Linux, over the base: see [Over] for what else is
// foreseen. What cannot be foreseen is a host.UnknownError that says why; it
// taints nothing but what is asked. Steps mark files that they cannot produce
// through host.Unknowable, which the file door offers.
package shadow

import (
	"sync"

	"hostler/interpreter/host"
)

// Shadow is an overlay over a View. It is safe for use by several goroutines.
type Shadow struct {
	world   *world
	effects *effects
}

// Over returns a shadow over v in which nothing was done yet. What it assumes:
//
//   - A job of the service manager succeeds, unless the unit is not found or
//     masked; a unit with RemainAfterExit or of another type than oneshot then
//     runs. Units that others pull in or stop are not followed. After a reload,
//     what the files of a unit say of it follows from the shadow's files where
//     they differ from the base's.
//   - Starting systemd-nspawn@NAME.service registers the machine NAME, stopping
//     it takes the registration away. Of the inside of a machine that runs only
//     in the shadow, files are known and everything that runs is unknown, but
//     for the jobs that were given to it.
//   - An unmounted directory is empty below. Kernel parameters take the value
//     they are given; those that do not exist are unknown once a module was
//     loaded.
//   - A change on a read-only mount fails as on the host, and so does removing
//     a mount point. What an unprivileged run may not do is not foreseen.
//   - A command is not run: its effect is unknown. Devices and pipes are not
//     opened. HTTP passes requests that read. A wait is over at once and moves
//     the clock; the installation lock is always to be had.
func Over(v host.View) *Shadow {
	all := &effects{}
	log := &journal{list: all}
	c := &clock{base: v.Clock}
	w := &world{mu: &sync.Mutex{}, view: &v, identity: v.Identity, clock: c, log: log}
	w.files = &files{tree: newTree(v, c), log: log}
	return &Shadow{world: w, effects: all}
}

// Host gives the doors of the shadow. All results share its state.
func (s *Shadow) Host() host.Host { return s.world.host() }

// Effects lists what was done so far, oldest first.
func (s *Shadow) Effects() []Effect { return s.effects.snapshot() }
