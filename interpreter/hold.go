package interpreter

import (
	"context"
	"errors"
	"slices"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/delivery"
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

// Watched is what of an installation can be watched on the host: what is inside
// machines is not among it.
type Watched struct {
	// Paths are files, links and directories, in order.
	Paths []string
	// Units are those whose state is owned, and those of owned machines.
	Units []string
}

// Watched lists what is owned.
func (in *Interpreter) Watched(ctx context.Context) (Watched, error) {
	var w Watched
	rec, err := record.NewStore(in.Host, in.Rand).Load(ctx)
	if err != nil {
		return w, err
	}
	for _, c := range rec.Claims {
		machine, _ := c.Thing.Machine()
		switch kind, name := c.Thing.Kind(), c.Thing.Name(); {
		case machine != "" || c.Step == nil:
		case kind == "path":
			w.Paths = append(w.Paths, name)
		case kind == "machine":
			w.Units = append(w.Units, thing.MachineUnit(name))
		case kind == "unit-active" && !slices.Contains(delivery.Units(), name):
			w.Units = append(w.Units, name)
		case kind == "unit-enabled":
			links, err := thing.EnablingLinks(in.Host.Files, name)
			if err != nil {
				return w, err
			}
			w.Paths = append(w.Paths, links...)
		}
	}
	w.Paths = append(w.Paths, record.File) // another run may change what is owned
	slices.Sort(w.Paths)
	slices.Sort(w.Units)
	w.Paths, w.Units = slices.Compact(w.Paths), slices.Compact(w.Units)
	return w, nil
}
