package walk

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// restarted is the unit that a watching step restarts.
type restarted struct{ machine, unit string }

// watchersOf tells, for each address, which desired steps watch it. What a
// step that restarted the same unit watched before still counts, so that a
// pruned thing does, and one whose watcher has another address now.
func watchersOf(desired []block.Placed, before ...[]block.Placed) map[string][]*block.Placed {
	earlier := map[restarted][]string{}
	for _, steps := range before {
		for i := range steps {
			if watcher, ok := steps[i].Step.(block.Watcher); ok {
				addresses, unit := watcher.Watches()
				key := restarted{steps[i].Machine, unit}
				earlier[key] = append(earlier[key], addresses...)
			}
		}
	}
	watchers := map[string][]*block.Placed{}
	for i := range desired {
		p := &desired[i]
		watcher, ok := p.Step.(block.Watcher)
		if !ok {
			continue
		}
		now, unit := watcher.Watches()
		all := slices.Concat(now, earlier[restarted{p.Machine, unit}])
		slices.Sort(all)
		for _, address := range slices.Compact(all) {
			watchers[address] = append(watchers[address], p)
		}
	}
	return watchers
}

func (w *walker) debtsOf(p *block.Placed) (debts []block.Debt) {
	if _, ok := p.Step.(block.Watcher); !ok {
		return nil
	}
	for _, d := range w.debts {
		if d.Step == p.Address {
			debts = append(debts, d)
		}
	}
	return debts
}

// owing is a debt that a change brings, and what stood in its place before.
type owing struct {
	debt  block.Debt
	prior *block.Debt
}

// owe notes, durably and before the change, which restarts it will cause and
// that unit files must be read again. What a change that cannot be foreseen
// will do is in doubt, so it owes restarts too; on a shadow they are unknown.
func (w *walker) owe(ctx context.Context, p *block.Placed, in block.Do, change block.Change) ([]owing, error) {
	if err := w.oweReload(ctx, scopeOf(p), in.Host, w.wants(p)); err != nil {
		return nil, err
	}
	unknown := change.Action == block.ActionUnknown
	switch {
	case unknown && w.Shadow:
		return nil, w.taint(ctx, p.Address)
	case unknown || change.Bytes:
		return w.oweRestarts(ctx, p.Address, change.Reason)
	}
	return nil, nil
}

// taint makes the restarts unknown that depend on what cannot be foreseen.
func (w *walker) taint(ctx context.Context, cause string) error {
	for _, watcher := range w.watchers[cause] {
		d := block.Debt{Unit: unitOf(watcher)}
		running, err := w.invocation(ctx, watcher, &d)
		if err != nil && !unknowable(err) {
			return err
		}
		if running {
			w.tainted[watcher.Address] = "whether " + cause + " changes is not known"
		}
	}
	return nil
}

func unitOf(watcher *block.Placed) string {
	_, unit := watcher.Step.(block.Watcher).Watches()
	return unit
}

func (w *walker) oweRestarts(ctx context.Context, cause, reason string) (owed []owing, err error) {
	for _, watcher := range w.watchers[cause] {
		d := block.Debt{Step: watcher.Address, Cause: cause, Reason: reason, Unit: unitOf(watcher), Machine: watcher.Machine}
		running, err := w.invocation(ctx, watcher, &d)
		if err != nil {
			return owed, err
		}
		if !running {
			continue
		}
		prior := w.debt(d)
		if err := w.note(ctx, d); err != nil {
			return owed, err
		}
		owed = append(owed, owing{d, prior})
	}
	return owed, nil
}

// invocation fills in which run of the unit the change happens under. A unit
// that does not run owes nothing; on a host without a manager the debt is only
// shown, as a restart at the next boot.
func (w *walker) invocation(ctx context.Context, watcher *block.Placed, d *block.Debt) (running bool, err error) {
	h, err := w.hostNow(ctx, watcher.Machine)
	if err == nil {
		var u host.UnitState
		u, err = plainUnits(h).Unit(ctx, d.Unit)
		d.Invocation = u.InvocationID
		running = u.Running()
	}
	switch {
	case err == nil:
		return running, nil
	case errors.Is(err, host.ErrNoManager) && !w.Host.Identity.Live:
		return true, nil
	case unknowable(err):
		return false, nil
	}
	return false, err
}

// debt is what stands in the place of d, nil if nothing does.
func (w *walker) debt(d block.Debt) *block.Debt {
	for _, old := range w.debts {
		if old.Step == d.Step && old.Cause == d.Cause {
			return &old
		}
	}
	return nil
}

// note keeps a debt, durably where there is a unit to restart.
func (w *walker) note(ctx context.Context, d block.Debt) error {
	if w.Host.Identity.Live {
		if err := w.Store.Owe(ctx, d); err != nil {
			return err
		}
	}
	for i, old := range w.debts {
		if old.Step == d.Step && old.Cause == d.Cause {
			w.debts[i] = d
			return nil
		}
	}
	w.debts = append(w.debts, d)
	return nil
}

// inPlace notes when the change was in place: a unit that started after that
// has it and owes no restart.
func (w *walker) inPlace(ctx context.Context, owed []owing) error {
	for _, o := range owed {
		o.debt.InPlace = w.Host.Clock.Monotonic()
		if err := w.note(ctx, o.debt); err != nil {
			return err
		}
	}
	return nil
}

// unowe takes back what a change that failed would have owed, if a second look
// says that nothing of it is in place.
func (w *walker) unowe(ctx context.Context, p *block.Placed, in block.Look, before block.Change, owed []owing) error {
	if len(owed) == 0 || w.Shadow {
		return nil
	}
	after, err := w.check(ctx, p, in)
	if err != nil || !reflect.DeepEqual(before, after) || before.Action == block.ActionUnknown {
		return nil // in doubt, the debt stands
	}
	for _, o := range owed {
		if o.prior != nil {
			err = errors.Join(err, w.note(ctx, *o.prior))
			continue
		}
		w.forget(func(d block.Debt) bool { return d.Step == o.debt.Step && d.Cause == o.debt.Cause })
		err = errors.Join(err, w.Store.Discharge(ctx, []block.Debt{o.debt}))
	}
	return err
}

// discharge forgets the debts of a step that has paid them, or found them void.
func (w *walker) discharge(ctx context.Context, p *block.Placed) error {
	paid := w.debtsOf(p)
	if len(paid) == 0 {
		return nil
	}
	w.forget(func(d block.Debt) bool { return d.Step == p.Address })
	return w.Store.Discharge(ctx, paid)
}

func (w *walker) forget(which func(block.Debt) bool) {
	w.debts = slices.DeleteFunc(w.debts, which)
}
