package interpreter

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// Installation is what the record says of a host.
type Installation struct {
	Identity
	// Phase is "absent", "installing", "complete", "resetting" or
	// "unreadable", which Err then explains.
	Phase string
	Err   error
}

// Standing reads what is installed, without the lock: whoever acts on it takes
// it as a hint. The error is that of reading the host.
func (in *Interpreter) Standing(ctx context.Context) (Installation, error) {
	r := &run{Interpreter: in, host: in.Host, store: record.NewStore(in.Host, in.Rand)}
	r.rec, r.loadErr = r.store.Head(ctx)
	r.known()
	i := Installation{Phase: "absent", Identity: r.seen}
	_, unreadable := errors.AsType[*record.UnreadableError](r.loadErr)
	switch {
	case r.rec != nil:
		i.Phase = string(r.rec.Phase)
	case errors.Is(r.loadErr, record.ErrAbsent):
	case unreadable || isNewer(r.loadErr):
		i.Phase, i.Err = "unreadable", r.loadErr
	default:
		return i, r.loadErr
	}
	return i, nil
}

// Hold takes the installation lock, waiting for it that long, and tells fn what
// is installed.
func (in *Interpreter) Hold(ctx context.Context, wait time.Duration, fn func(Installation) error) error {
	release, err := in.lock(ctx, wait)
	if err != nil {
		return err
	}
	i, err := in.Standing(ctx)
	if err == nil {
		err = fn(i)
	}
	return errors.Join(err, release())
}

func isNewer(err error) bool {
	_, newer := errors.AsType[*block.NewerError](err)
	return newer
}

// UnfinishedError says that an installation is not complete.
type UnfinishedError struct{ Phase string }

func (e *UnfinishedError) Error() string { return "the installation is " + e.Phase + ", not complete" }

func (r *run) unfinished() error {
	i, err := r.Standing(context.Background())
	switch {
	case err != nil:
		return err
	case i.Phase == "unreadable":
		return &record.RefusedError{Reason: "who owns this host cannot be told: " + i.Err.Error(), Advice: "nothing was changed"}
	}
	return &UnfinishedError{i.Phase}
}

func isUnfinished(err error) bool {
	_, unfinished := errors.AsType[*UnfinishedError](err)
	return unfinished
}

// Watched is what of an installation can be watched.
type Watched struct {
	Places
	// Machines are those that run, by name.
	Machines []WatchedMachine
}

// WatchedMachine is what can be watched inside a running machine.
type WatchedMachine struct {
	Name string
	// Leader is its first process.
	Leader int
	Places
}

// Places are what is watched on one host, or in one machine.
type Places struct {
	// Paths are files, links and directories, in order.
	Paths []string
	// Units are those whose state is owned, and those of owned machines.
	Units []string
}

// Watched lists what is owned.
func (in *Interpreter) Watched(ctx context.Context) (w Watched, err error) {
	rec, err := record.NewStore(in.Host, in.Rand).Load(ctx)
	if err != nil {
		return w, err
	}
	owned := map[string][]thing.Key{}
	for _, c := range rec.Claims {
		if machine, inner := c.Thing.Machine(); c.Step != nil {
			owned[machine] = append(owned[machine], inner)
		}
	}
	if w.Places, err = placesOf(in.Host.Files, owned[""]); err != nil {
		return w, err
	}
	w.Paths = append(w.Paths, record.File) // another run may change what is owned
	slices.Sort(w.Paths)
	delete(owned, "")
	for _, name := range slices.Sorted(maps.Keys(owned)) {
		m, err := in.watchedMachine(ctx, name, owned[name])
		if err != nil {
			return w, err
		}
		if m.Leader != 0 {
			w.Machines = append(w.Machines, m)
		}
	}
	return w, nil
}

// watchedMachine has no leader when the machine does not run.
func (in *Interpreter) watchedMachine(ctx context.Context, name string, owned []thing.Key) (m WatchedMachine, err error) {
	found, registered, err := thing.FindMachine(ctx, in.Host.Machines, name)
	if err != nil || !registered || !found.Alive {
		return m, err
	}
	inside, err := in.Host.Machines.View(ctx, name)
	if errors.Is(err, host.ErrNoMachine) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	m.Name, m.Leader = name, found.Leader
	m.Places, err = placesOf(inside.Files, owned)
	return m, err
}

func placesOf(f host.FileView, owned []thing.Key) (p Places, err error) {
	for _, key := range owned {
		switch kind, name := key.Kind(), key.Name(); {
		case kind == "path":
			p.Paths = append(p.Paths, name)
		case kind == "machine":
			p.Units = append(p.Units, thing.MachineUnit(name))
		case kind == "unit-active" && !slices.Contains(delivery.Units(), name):
			p.Units = append(p.Units, name)
		case kind == "unit-enabled":
			links, err := thing.EnablingLinks(f, name)
			if err != nil {
				return p, err
			}
			p.Paths = append(p.Paths, links...)
		}
	}
	slices.Sort(p.Paths)
	slices.Sort(p.Units)
	p.Paths, p.Units = slices.Compact(p.Paths), slices.Compact(p.Units)
	return p, nil
}
