package shadow

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"

	"hostler/interpreter/host"
)

// condition is whether a machine runs, as far as the shadow changed it.
type condition int

const (
	asBase  condition = iota // as the base has it
	started                  // only in the shadow
	stopped
)

// world is a host of the shadow: the outermost one or a machine.
type world struct {
	// mu guards all state but that of files, in all worlds.
	mu       *sync.Mutex
	identity host.Identity
	clock    *clock
	log      *journal
	files    *files
	// view is the base; nil for a machine whose view was not asked for yet.
	view *host.View

	// name and up are a machine's name and the host it runs on.
	name string
	up   *world
	cond condition

	guests  map[string]*world
	units   map[string]*unit
	jobs    int
	reloads int
	kernel  kernelState
	network networkState
	routing routingState
}

func (w *world) host() host.Host {
	k := &kernel{w}
	return host.Host{
		Files: w.files, Units: &units{w}, Machines: &machines{w}, Kernel: k, Storage: &storage{w},
		Network: &network{w}, Commands: &commands{w.log}, Locks: &locks{w.log}, Clock: w.clock,
		Identity: w.identity,
	}
}

// live is the base of what runs here. It is ErrNoManager when nothing runs and
// an *UnknownError when it runs in the shadow only. The caller holds mu.
func (w *world) live(ctx context.Context) (host.View, error) {
	if w.up == nil {
		return *w.view, nil
	}
	switch w.cond {
	case started:
		return host.View{}, host.Unknownf("machine %s is not running yet", w.name)
	case stopped:
		return host.View{}, fmt.Errorf("machine %s: %w", w.name, host.ErrNoManager)
	}
	if w.view != nil {
		return *w.view, nil
	}
	outer, err := w.up.live(ctx)
	if err != nil {
		return host.View{}, err
	}
	v, err := outer.Machines.View(ctx, w.name)
	if errors.Is(err, host.ErrNoMachine) {
		err = fmt.Errorf("machine %s: %w", w.name, host.ErrNoManager)
	}
	if err != nil {
		return host.View{}, err
	}
	w.view = &v
	return v, nil
}

// running is live for doors that call everything unknown that does not run.
func (w *world) running(ctx context.Context) (host.View, error) {
	v, err := w.live(ctx)
	if errors.Is(err, host.ErrNoManager) {
		err = host.Unknownf("machine %s is not running", w.name)
	}
	return v, err
}

// guest is the machine name, whether it is there or not. The caller holds mu.
func (w *world) guest(name string) *world {
	if g := w.guests[name]; g != nil {
		return g
	}
	g := &world{
		mu: w.mu, clock: w.clock, log: w.log.inside(name), name: name, up: w,
		identity: host.Identity{
			Root:    path.Join(w.identity.Root, host.MachineRoot(name)),
			Machine: name, Privileged: w.identity.Privileged,
		},
	}
	g.files = &files{tree: w.files.tree, log: g.log, up: w.files, at: host.MachineRoot(name)}
	if w.guests == nil {
		w.guests = map[string]*world{}
	}
	w.guests[name] = g
	return g
}

// become gives a machine a new life, or none: what was known of what runs in
// it is void.
func (w *world) become(c condition) {
	w.cond = c
	w.guests, w.units, w.reloads = nil, nil, 0
	w.kernel, w.network, w.routing = kernelState{}, networkState{}, routingState{}
	w.identity.Live = c == started
	w.files.live(c == started, w.name)
}
