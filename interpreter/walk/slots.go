package walk

import (
	"context"

	"hostler/interpreter/block"
	"hostler/interpreter/thing"
)

// clear takes machines away that are to be built anew, with what is done after
// they have stopped.
func (w *walker) clear(ctx context.Context) error {
	if err := w.retire(ctx, w.Cleared); err != nil {
		return err
	}
	for _, key := range w.Cleared {
		if err := w.afterStop(ctx, key.Name()); err != nil {
			return err
		}
	}
	if len(w.Cleared) == 0 || w.OnCleared == nil {
		return nil
	}
	return w.OnCleared(ctx)
}

// retire takes machines away that we made. They stay claimed.
func (w *walker) retire(ctx context.Context, machines []thing.Key) error {
	if len(machines) == 0 {
		return nil
	}
	if err := w.readClaims(); err != nil {
		return err
	}
	for _, key := range machines {
		c := w.claimOf(key)
		if c == nil || c.Step == nil || c.Origin.Kind != thing.OriginAbsent {
			continue
		}
		st, skip, err := w.lookClaim(ctx, c)
		if err != nil {
			return err
		}
		if skip || st.Kind == thing.Absent {
			continue
		}
		if err := w.begin(ctx); err != nil {
			return err
		}
		if err := w.undo(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// afterStop does what is to be done on the host after a slot has stopped, as it
// was said when the slot was built.
func (w *walker) afterStop(ctx context.Context, slot string) error {
	for _, steps := range [][]block.Placed{w.Applied, w.Earlier} {
		found := false
		for i := range steps {
			p := &steps[i]
			if p.Part != block.PartAfterStop || p.Self != slot || p.Step == nil {
				continue
			}
			found = true
			if err := w.actAfterStop(ctx, p, slot); err != nil {
				return err
			}
		}
		if found {
			return nil
		}
	}
	return nil
}

func (w *walker) actAfterStop(ctx context.Context, p *block.Placed, slot string) error {
	began := w.Host.Clock.Now()
	change := block.Change{Action: block.ActionRun, Reason: "machine " + slot + " has stopped"}
	outer := w.found // the drift of the step that stopped it
	w.found = nil
	defer func() { w.found = outer }()
	w.emitStart(p, change)
	in, err := w.place(ctx, p)
	if err == nil {
		err = w.shadowed(actOnHost(ctx, p.Step, in))
	}
	w.emitDone(p, began, change, err)
	if err != nil {
		return &StepError{p.Address, p.Stage, block.Reason(err, p.FailureReason), err}
	}
	return nil
}

// actOnHost does what a step of after_stop says: reset actions are done, other
// steps applied if they find something to do.
func actOnHost(ctx context.Context, s block.Step, in block.Do) error {
	if undoer, ok := s.(block.ResetOnly); ok {
		return undoer.Undo(ctx, in)
	}
	change, err := s.Check(ctx, in.Look)
	if asking, ok := s.(block.Asking); ok && err == nil && change.Action == block.ActionUnknown {
		change, err = asking.Ask(ctx, in)
	}
	if err != nil || !change.Needed() {
		return err
	}
	return s.Apply(ctx, in)
}
