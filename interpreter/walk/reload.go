package walk

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// unitDirs are where managers read unit files.
var unitDirs = [...]string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

// touchesUnits says whether a thing is read by the manager.
func touchesUnits(want record.Wanted) bool {
	key := want.Owned.Key()
	if key.Kind() == "unit-enabled" {
		return true
	}
	return key.Kind() == "path" && inUnitDir(key.Name())
}

func inUnitDir(name string) bool {
	for _, dir := range unitDirs {
		if strings.HasPrefix(path.Clean(name), dir+"/") {
			return true
		}
	}
	return false
}

// reload is what one manager is owed: to read its unit files again.
type reload struct {
	// due says that a file has changed since it was last read.
	due bool
	// noted says that the debt stands under /run.
	noted bool
	// watched are the things that are being changed, as they were before.
	watched []watched
}

// watched is a thing that the manager reads.
type watched struct {
	owned  thing.Owned
	view   host.View
	before thing.State
}

// look finds out whether a watched thing has changed by now.
func (r *reload) look(ctx context.Context) error {
	for i := range r.watched {
		w := &r.watched[i]
		st, err := w.owned.Look(ctx, w.view)
		if unknowable(err) {
			continue
		}
		if err != nil {
			return err
		}
		r.due = r.due || !st.SameContent(w.before)
		w.before = st
	}
	return nil
}

// oweReload notes, before it happens, that things which the scope's manager
// reads are going to change.
func (w *walker) oweReload(ctx context.Context, s scope, h host.Host, things []record.Wanted) error {
	things = slices.DeleteFunc(slices.Clone(things), func(want record.Wanted) bool { return !touchesUnits(want) })
	if len(things) == 0 {
		return nil
	}
	if runs, err := w.hasManager(ctx, s, h); err != nil || !runs {
		return err
	}
	r := w.reloads[s.machine]
	if r == nil {
		r = &reload{}
		w.reloads[s.machine] = r
	}
	r.watched = nil
	for _, want := range things {
		r.watched = append(r.watched, watched{owned: want.Owned, view: h.View()})
	}
	due := r.due
	if err := r.look(ctx); err != nil {
		return err
	}
	r.due = due
	if r.noted {
		return nil
	}
	r.noted = true
	return w.Store.OweReload(ctx, s.machine)
}

func (w *walker) hasManager(ctx context.Context, s scope, h host.Host) (bool, error) {
	runs, known := w.managed[s]
	if known {
		return runs, nil
	}
	_, err := h.Units.Manager(ctx)
	if err != nil && !unknowable(err) {
		return false, err
	}
	w.managed[s] = err == nil
	return err == nil, nil
}

// settleReload ends the change that was announced to oweReload: if none of the
// things has changed after all, nothing is owed.
func (w *walker) settleReload(ctx context.Context, machine string) error {
	r := w.reloads[machine]
	if r == nil || len(r.watched) == 0 {
		return nil
	}
	err := r.look(ctx)
	r.watched = nil
	if err != nil || r.due {
		return err
	}
	return w.reloaded(machine)
}

func (w *walker) reloaded(machine string) error {
	delete(w.reloads, machine)
	return w.Store.Reloaded(machine)
}

// batched is a unit door that reads unit files again, where that is due,
// before the next question or job: once for a batch of changed files.
type batched struct {
	host.Units
	walker  *walker
	machine string
}

func plainUnits(h host.Host) host.Units {
	if b, ok := h.Units.(*batched); ok {
		return b.Units
	}
	return h.Units
}

func (b *batched) flush(ctx context.Context) error {
	r := b.walker.reloads[b.machine]
	if r == nil {
		return nil
	}
	if err := r.look(ctx); err != nil || !r.due {
		return err
	}
	return b.Reload(ctx)
}

// Reload reads unit files again; a manager that does not run has nothing to
// read again. The note stays while a step is still changing files.
func (b *batched) Reload(ctx context.Context) error {
	if err := b.Units.Reload(ctx); err != nil && !unknowable(err) {
		return err
	}
	r := b.walker.reloads[b.machine]
	if r == nil {
		return nil
	}
	r.due = false
	if len(r.watched) > 0 {
		return nil
	}
	return b.walker.reloaded(b.machine)
}

// Unit asks after the reload that is due.
func (b *batched) Unit(ctx context.Context, name string) (host.UnitState, error) {
	if err := b.flush(ctx); err != nil {
		return host.UnitState{}, err
	}
	return b.Units.Unit(ctx, name)
}

// Run runs a job after the reload that is due.
func (b *batched) Run(ctx context.Context, verb host.JobVerb, name string) error {
	if err := b.flush(ctx); err != nil {
		return err
	}
	return b.Units.Run(ctx, verb, name)
}

// Queue queues a job after the reload that is due.
func (b *batched) Queue(ctx context.Context, verb host.JobVerb, name string) error {
	if err := b.flush(ctx); err != nil {
		return err
	}
	return b.Units.Queue(ctx, verb, name)
}

// reloadAll pays the reloads that nothing asked for.
func (w *walker) reloadAll(ctx context.Context) error {
	for _, machine := range slices.Sorted(maps.Keys(w.reloads)) {
		h := w.Host
		if machine != "" {
			var err error
			h, err = w.Host.Machines.Host(ctx, machine)
			if unknowable(err) {
				if err := w.reloaded(machine); err != nil {
					return err
				}
				continue
			}
			if err != nil {
				return err
			}
		}
		b := &batched{Units: plainUnits(h), walker: w, machine: machine}
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}
