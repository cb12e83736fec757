package walk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// prune undoes what the desired steps do not own any more, last one first. A
// reset_step acts on reset alone: one that was dropped is forgotten.
func (w *walker) prune(ctx context.Context) error {
	if len(w.Dropped) == 0 {
		return nil
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	var claims []record.Claim
	for _, key := range slices.Backward(w.Dropped) {
		if c := w.claimOf(key); c != nil && key.Kind() != "step" && key.Kind() != "residue" {
			claims = append(claims, *c)
		}
	}
	for _, c := range startsLast(claims) {
		if err := w.undo(ctx, c.Thing); err != nil {
			return err
		}
	}
	w.Record.Drop(w.Dropped...)
	w.unsaved, w.index = true, nil
	return nil
}

// undo brings one claimed thing back to its origin.
func (w *walker) undo(ctx context.Context, key thing.Key) error {
	c := w.claimOf(key)
	if c == nil {
		return nil
	}
	began := w.Host.Clock.Now()
	if key.Kind() == "dir" {
		return w.undoDir(ctx, key)
	}
	p, err := w.Restore(*c.Step)
	if err != nil {
		return err
	}
	change := block.Change{Action: block.ActionDelete, Reason: undoReason(c.Origin), Bytes: true}
	change, err = w.undoStep(ctx, &p, c, change)
	if err == nil && change.Needed() {
		w.result.Undone++
		w.stage.thing(key)
	}
	if change.Needed() || err != nil {
		p.Address = undoneAs(key, p.Address)
		w.emitDone(&p, began, change, err)
	}
	if err != nil {
		return &StepError{undoneAs(key, p.Address), p.Stage, block.Reason(err, p.FailureReason), err}
	}
	return nil
}

// undoneAs names what is undone: the thing, or the step itself when its key is
// a hash that tells a person nothing.
func undoneAs(key thing.Key, address string) string {
	if key.Kind() == "step" {
		return address
	}
	return string(key)
}

func undoReason(o thing.Origin) string {
	switch o.Kind {
	case thing.OriginSaved:
		return "the original is put back"
	case thing.OriginAdopted:
		return "adopted: it stays"
	}
	return "it is not wanted any more"
}

func (w *walker) undoStep(ctx context.Context, p *block.Placed, c *record.Claim, change block.Change) (block.Change, error) {
	in, err := w.place(ctx, p)
	if errors.Is(err, host.ErrNoMachine) {
		return block.NoChange(), nil
	}
	if err != nil {
		return w.unforeseen(err)
	}
	if _, ok := p.Step.(block.ResetOnly); ok || !p.Forward() {
		if record.StepKey(*p) != c.Thing {
			return block.NoChange(), nil
		}
		change.Action, change.Reason = block.ActionRun, "its reset actions"
		return change, w.shadowed(actOnHost(ctx, p.Step, in))
	}
	owned, ok := find(p.Step, c.Thing)
	if !ok {
		return change, fmt.Errorf("%s is not among the things its step owns; the record was not written by this release", c.Thing)
	}
	if err := dropStaging(in.Host.Files, owned, c.Origin); err != nil {
		return change, err
	}
	st, err := owned.Look(ctx, in.View)
	switch {
	case unknowable(err):
	case err != nil:
		return change, err
	case w.leftToDir(st, c):
		return block.NoChange(), nil
	case restored(st, c.Origin):
		return block.NoChange(), w.remains(ctx, p, in, c, owned)
	}
	if why, err := lapsed(ctx, owned, in.View, c.Origin); err != nil || why != "" {
		return block.NoChange(), w.letLapse(p, why, err)
	}
	return change, w.undoOwned(ctx, p, in, undoing{c, owned, st, change})
}

// lapsed says why a thing cannot be what it was, "" if it can.
func lapsed(ctx context.Context, owned thing.Owned, v host.View, o thing.Origin) (string, error) {
	l, ok := owned.Thing.(thing.Lapsing)
	if !ok {
		return "", nil
	}
	why, err := l.Lapsed(ctx, v, o)
	if unknowable(err) {
		return "", nil
	}
	return why, err
}

// letLapse warns of what does not come back.
func (w *walker) letLapse(p *block.Placed, why string, err error) error {
	if err == nil {
		w.warn(p, block.Warning{Summary: "Not put back", Detail: why + "."})
	}
	return err
}

// remains lets the step of a machine that is gone take away what an undoing
// that was cut short left beside the tree.
func (w *walker) remains(ctx context.Context, p *block.Placed, in block.Do, c *record.Claim, owned thing.Owned) error {
	if !isMachine(c.Thing) || c.Origin.Kind != thing.OriginAbsent {
		return nil
	}
	return w.shadowed(p.Step.Reset(ctx, in, owned.Thing, c.Origin))
}

func isMachine(key thing.Key) bool {
	machine, _ := key.Machine()
	return machine == "" && key.Kind() == "machine"
}

// leftToDir says that a directory which a step owned is one that the
// interpreter made: it goes when nothing is claimed below it any more.
func (w *walker) leftToDir(st thing.State, c *record.Claim) bool {
	if st.Kind != thing.Directory || c.Origin.Kind != thing.OriginAbsent {
		return false
	}
	return w.claimOf(dirKey(c.Thing)) != nil
}

// undoing is one thing on its way back.
type undoing struct {
	claim  *record.Claim
	owned  thing.Owned
	found  thing.State
	change block.Change
}

func (w *walker) undoOwned(ctx context.Context, p *block.Placed, in block.Do, u undoing) error {
	want := record.Wanted{Key: u.claim.Thing, Owned: u.owned, Placed: p}
	if err := w.oweReload(ctx, scopeOf(p), in.Host, []record.Wanted{want}); err != nil {
		return err
	}
	owed, err := w.oweRestarts(ctx, p.Address, "pruned")
	if err != nil {
		return err
	}
	err = w.forgo(p, u.claim, w.shadowed(p.Step.Reset(ctx, in, u.owned.Thing, u.claim.Origin)))
	if err = errors.Join(err, w.settleReload(ctx, p.Machine)); err != nil {
		return err
	}
	return w.inPlace(ctx, owed)
}

// forgo leaves a thing as it is whose original is lost, when that was asked
// for.
func (w *walker) forgo(p *block.Placed, c *record.Claim, err error) error {
	lost, ok := errors.AsType[*record.LostError](err)
	if !ok || !w.Force {
		return err
	}
	w.warn(p, block.Warning{Summary: "Original lost", Detail: fmt.Sprintf("%s stays as it is: its original, kept as %s, is lost: %v.", lost.Path, lost.Backup, lost.Cause)})
	w.forgone = append(w.forgone, c.Thing)
	return nil
}

// shadowed forgives what a shadow cannot foresee.
func (w *walker) shadowed(err error) error {
	if w.Shadow && errors.Is(err, host.ErrUnknown) {
		return nil
	}
	return err
}

// restored says whether a thing is what it was before us.
func restored(st thing.State, o thing.Origin) bool {
	switch o.Kind {
	case thing.OriginAdopted, "":
		return true
	case thing.OriginAbsent:
		return st.Kind == thing.Absent
	case thing.OriginSaved:
		return o.State != nil && st.Same(*o.State)
	}
	return false
}

func find(s block.Step, key thing.Key) (thing.Owned, bool) {
	_, inner := key.Machine()
	for _, o := range s.Owns() {
		if o.Key() == inner || o.Key() == key {
			return o, true
		}
	}
	return thing.Owned{}, false
}
