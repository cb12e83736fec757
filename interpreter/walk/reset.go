package walk

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// EditedError lists things that were edited since we wrote them, so that a
// reset would lose the edits.
type EditedError struct{ Things []Drift }

func (e *EditedError) Error() string {
	var names []string
	for _, d := range e.Things {
		names = append(names, string(d.Thing))
	}
	return fmt.Sprintf("changed since hostler wrote them: %s; nothing was changed: save what you need and run hostler reset --discard-edits", strings.Join(names, ", "))
}

// Reset is the walk of an empty recipe: every claim is undone, last one first.
// It looks at all claims before it changes anything and refuses with an
// *EditedError; in.Begin then makes the phase durable. Afterwards every claim
// is looked for again; what is left is a *ResidueError. The record itself is
// the caller's to remove.
func Reset(ctx context.Context, in Input) (Result, error) {
	in.Desired = nil
	w := newWalker(in)
	if err := w.start(ctx); err != nil {
		return w.result, err
	}
	if w.Record.Phase != record.Resetting && !w.DiscardEdits {
		if err := w.refuseEdited(ctx); err != nil {
			return w.result, err
		}
	}
	if err := w.begin(ctx); err != nil {
		return w.result, err
	}
	for _, c := range w.Record.Claims {
		w.stage.thing(c.Thing) // an earlier attempt may have touched it
	}
	if err := w.undoAll(ctx); err != nil {
		w.result.Failed++
		return w.result, err
	}
	if err := w.reloadAll(ctx); err != nil {
		return w.result, err
	}
	if err := w.residue(ctx); err != nil {
		return w.result, err
	}
	return w.result, w.leaveStage()
}

func (w *walker) undoAll(ctx context.Context) error {
	owned := w.ownedMachines()
	for _, c := range w.undoOrder() {
		if err := ctx.Err(); err != nil {
			return err
		}
		skip, err := w.fallsWithMachine(ctx, c, owned)
		if err != nil {
			return err
		}
		if skip {
			continue
		}
		if err := w.undo(ctx, c.Thing); err != nil {
			return err
		}
	}
	return nil
}

// undoOrder is the order in which a reset undoes: units that could start us
// again, then last claim first but for units that are started again, the unit
// that we run in after all others, and then the program, which a reset that
// failed is run again with. That our unit is active is not among them: its stop
// is queued when everything is done.
func (w *walker) undoOrder() []record.Claim {
	var first, own, others, programs, holding []record.Claim
	for _, c := range slices.Backward(w.Record.Claims) {
		switch {
		case !w.ofOwnUnit(c.Thing) && c.Thing.Kind() == "dir" && (holdsAny(c.Thing, own) || w.holdsLast(c.Thing)):
			holding = append(holding, c)
		case c.Thing.Kind() == "path" && slices.Contains(w.Last, c.Thing.Name()):
			programs = append(programs, c)
		case !w.ofOwnUnit(c.Thing) && slices.ContainsFunc(w.First, func(unit string) bool { return ofUnit(c.Thing, unit) }):
			first = append(first, c)
		case !w.ofOwnUnit(c.Thing):
			others = append(others, c)
		case c.Thing.Kind() != "unit-active":
			own = append(own, c)
		case c.Origin.Kind == thing.OriginAbsent:
			w.result.StopOwn = true
		}
	}
	slices.SortStableFunc(first, func(a, b record.Claim) int { return w.rank(a.Thing) - w.rank(b.Thing) })
	return slices.Concat(first, startsLast(others), own, programs, holding)
}

// holdsLast says whether something that goes last lies below a directory.
func (w *walker) holdsLast(dir thing.Key) bool {
	return slices.ContainsFunc(w.Last, func(name string) bool { return strings.HasPrefix(name, dir.Name()+"/") })
}

// startsLast puts units that ran before us and are started again behind all
// else: by then nothing they need is masked and their files are back.
func startsLast(claims []record.Claim) []record.Claim {
	var starts, others []record.Claim
	for _, c := range claims {
		if c.Thing.Kind() == "unit-active" && c.Origin.State != nil && c.Origin.State.Value == thing.Active {
			starts = append(starts, c)
		} else {
			others = append(others, c)
		}
	}
	return append(others, starts...)
}

// holdsAny says whether one of the claims lies below a directory.
func holdsAny(dir thing.Key, claims []record.Claim) bool {
	return slices.ContainsFunc(claims, func(c record.Claim) bool { return strings.HasPrefix(c.Thing.Name(), dir.Name()+"/") })
}

// rank orders the things of units that go first: unit by unit, each stopped
// before its links and its files go.
func (w *walker) rank(key thing.Key) int {
	at := 3 * slices.IndexFunc(w.First, func(unit string) bool { return ofUnit(key, unit) })
	switch key.Kind() {
	case "unit-active":
		return at
	case "unit-enabled":
		return at + 1
	}
	return at + 2
}

// ofOwnUnit says whether a thing is of the unit that we run in.
func (w *walker) ofOwnUnit(key thing.Key) bool { return w.OwnUnit != "" && ofUnit(key, w.OwnUnit) }

// ofUnit says whether a thing is a unit's activity, its enablement, or one of
// its files.
func ofUnit(key thing.Key, unit string) bool {
	machine, _ := key.Machine()
	if machine != "" {
		return false
	}
	name := key.Name()
	switch key.Kind() {
	case "unit-active", "unit-enabled":
		return name == unit
	case "path":
		return inUnitDir(name) && (path.Base(name) == unit || path.Base(path.Dir(name)) == unit+".d")
	}
	return false
}

// ownedMachines are the machines whose trees we made: what is inside goes with
// them.
func (w *walker) ownedMachines() map[string]bool {
	owned := map[string]bool{}
	for _, c := range w.Record.Claims {
		if name, ok := strings.CutPrefix(string(c.Thing), "machine:"); ok && !strings.Contains(name, "/") {
			owned[name] = c.Origin.Kind == thing.OriginAbsent || c.Origin.Kind == ""
		}
	}
	return owned
}

// fallsWithMachine says whether a claim inside an owned machine need not be
// undone by itself. Reset actions inside run while the machine runs.
func (w *walker) fallsWithMachine(ctx context.Context, c record.Claim, owned map[string]bool) (bool, error) {
	machine, inner := c.Thing.Machine()
	if machine == "" || !owned[machine] {
		return false, nil
	}
	if !strings.HasPrefix(string(inner), "step:") {
		return true, nil
	}
	registered, err := w.Host.Machines.Registered(ctx)
	if unknowable(err) || tolerableInReset(err) {
		return true, nil
	}
	running := slices.ContainsFunc(registered, func(m host.MachineState) bool { return m.Name == machine && m.Alive })
	return !running, err
}

// refuseEdited looks at every claim before anything is torn down.
func (w *walker) refuseEdited(ctx context.Context) error {
	owned := w.ownedMachines()
	var edited []Drift
	for i := range w.Record.Claims {
		c := w.Record.Claims[i]
		machine, _ := c.Thing.Machine()
		if machine != "" && owned[machine] || c.Step == nil || len(c.Wrote) == 0 || c.Thing.Kind() != "path" {
			continue
		}
		st, skip, err := w.lookClaim(ctx, &c)
		if err != nil {
			return err
		}
		if skip || st.Kind == thing.Absent || restored(st, c.Origin) || c.WroteState(st, w.Keyed) {
			continue
		}
		edited = append(edited, Drift{Address: c.Step.Address, Thing: c.Thing, Found: st})
	}
	if len(edited) > 0 {
		return &EditedError{edited}
	}
	return nil
}
