package walk

import (
	"context"
	"fmt"
	"slices"

	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// ResidueError lists what is left after a reset.
type ResidueError struct{ Things []thing.Key }

func (e *ResidueError) Error() string {
	return fmt.Sprintf("left on the host after the reset: %s; the record is kept: remove the cause and run hostler reset again", listed(e.Things))
}

// lookClaim looks at a claimed thing; skip says that it cannot be looked at
// and so is not there, or cannot be what it was.
func (w *walker) lookClaim(ctx context.Context, c *record.Claim) (st thing.State, skip bool, err error) {
	p, err := w.Restore(*c.Step)
	if err != nil {
		return st, false, err
	}
	owned, ok := find(p.Step, c.Thing)
	if !ok {
		return st, true, nil
	}
	h, err := w.hostNow(ctx, p.Machine)
	if err == nil {
		st, err = owned.Look(ctx, h.View())
	}
	if err == nil {
		var why string
		if why, err = lapsed(ctx, owned, h.View(), c.Origin); why != "" {
			return st, true, nil
		}
	}
	if unknowable(err) || tolerableInReset(err) {
		return st, true, nil
	}
	return st, false, err
}

// residue looks for every claim again.
func (w *walker) residue(ctx context.Context) error {
	var left []thing.Key
	for i := range w.Record.Claims {
		c := &w.Record.Claims[i]
		if c.Step == nil || c.Origin.Kind == thing.OriginAdopted || c.Origin.Kind == "" || w.stopsLater(c.Thing) || slices.Contains(w.forgone, c.Thing) {
			continue
		}
		st, skip, err := w.lookClaim(ctx, c)
		if err != nil {
			return err
		}
		if !skip && !gone(c.Thing, st, c.Origin) && !(w.Salvage && c.Origin.Kind == thing.OriginSaved) {
			left = append(left, c.Thing)
		}
	}
	if len(left) > 0 && !w.Shadow {
		return &ResidueError{left}
	}
	return nil
}

// stopsLater says that a thing is the activity of the unit that we run in.
func (w *walker) stopsLater(key thing.Key) bool {
	return w.result.StopOwn && key.Kind() == "unit-active" && w.ofOwnUnit(key)
}

// gone says whether a reset has done with a thing. What a running system leaves
// behind must be gone even if some of it was there before.
func gone(key thing.Key, st thing.State, o thing.Origin) bool {
	if key.Kind() == "residue" {
		return st.Kind == thing.Absent
	}
	return restoredEnough(st, o)
}

// restoredEnough is restored, but for states that cannot be brought back
// exactly: a unit that runs again counts, whatever its details.
func restoredEnough(st thing.State, o thing.Origin) bool {
	if o.Kind == thing.OriginAbsent && st.Kind == thing.Present {
		return st.Value == "inactive" || st.Value == "disabled" || st.Value == ""
	}
	return restored(st, o)
}
