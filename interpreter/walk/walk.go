// Package walk is the one loop that runs everything: it drives a host to
// desired steps. A plan is the same loop on a shadow; apply, ensure, verify,
// prune and reset differ only in what is desired and on which host.
//
// For each step: look; if something must change, claim what it owns (with what
// was there before) and note the restarts it will cause, durably; act; look
// again. The first fault stops the walk.
package walk

import (
	"context"
	"io"
	"slices"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// Input is what is walked, and where.
type Input struct {
	// Desired are the steps to drive to, in order.
	Desired []block.Placed
	// Applied are the steps that the host was driven to before, nil if none:
	// drift is judged against them and their watch lists still count.
	Applied []block.Placed
	// Earlier are the steps of a target that was not reached: what they wrote
	// is no drift and their watch lists still count.
	Earlier []block.Placed
	// Dropped are claimed things that Desired does not own any more, in the
	// order of their claims; they are undone first, last one first.
	Dropped []thing.Key
	// Cleared are claimed machines that are taken away before anything else is
	// done, whatever Desired says of them, and OnCleared is called then; nil is
	// nothing.
	Cleared   []thing.Key
	OnCleared func(ctx context.Context) error
	// Idle are claimed machines that are taken away, and stay claimed, when
	// everything that is desired is there.
	Idle []thing.Key
	// Replaces names, by step address, the slot that stays active while Desired
	// builds another one.
	Replaces map[string]string
	// Build notes what a machine was built from; nil puts it into the record.
	Build func(ctx context.Context, address string, b block.Built) error

	Host   host.Host
	Store  *record.Store
	Record *record.Record
	// Restore makes a step again from a claim.
	Restore func(block.Stored) (block.Placed, error)
	// Keyed hashes digests of sensitive bytes; nil when there is no key.
	Keyed func(digest string) string
	// Fill makes a step again with its sensitive values, which are not
	// stored. The error is block.ErrNeedsInput when one has no value.
	Fill func(ctx context.Context, p *block.Placed) (block.Step, error)
	// Claims reads the claims of Record, which Drive needs only when it has to
	// change something; nil says that they are there.
	Claims func() error
	// Begin is called once, before the first effect, when the claims with
	// their origins stand in Record; it makes the record durable. nil saves
	// the record.
	Begin func(ctx context.Context) error
	// Emit receives every event, in order.
	Emit func(Event)
	// Shadow says that Host is a shadow: what cannot be foreseen is no fault.
	Shadow bool
	// Ahead says that what later steps need from the network may be fetched
	// while earlier ones run.
	Ahead bool
	// Survey says that drift is to be found and not to be judged: where the
	// recipe says hold, the walk goes on.
	Survey bool
	// Unapplied says that nothing was applied yet: Applied is a target that was
	// not reached.
	Unapplied bool
	// Force lets a reset leave things as they are whose originals are lost.
	Force bool
	// DiscardEdits lets a reset undo things that were edited since we wrote
	// them.
	DiscardEdits bool
	// Salvage says that a reset has no record to go by: claimed directories
	// are guesses, and originals are known by their backups alone.
	Salvage bool
	// OwnUnit is the unit this process runs in, "" if none.
	OwnUnit string
	// Leave says why a step that needs a change is left as it is, "" where it
	// is not; nil: none is.
	Leave func(address string) string
	// First are units that a reset takes away before all else: those that
	// could start us again.
	First []string
	// Last are files that a reset removes after all else: the program, so that
	// a reset that fails can be run again.
	Last []string
	// Delivered says whether a thing is what a first boot was delivered with,
	// and so ours though it was there before; nil: none is.
	Delivered func(thing.Key) bool
	// Program opens the executable that runs; nil where there is none.
	Program func() (io.ReadCloser, error)
}

// Result is what a walk did.
type Result struct {
	Changed, Unchanged, Failed int
	// Deferred says that something waits for the first live run or boot.
	Deferred bool
	// Drift lists what was found changed behind our back.
	Drift []Drift
	// Pending lists what waits for a machine restart or a repave.
	Pending []block.Pending
	// Undone counts the dropped things that were put back.
	Undone int
	// StopOwn says that the unit we run in is to be stopped when all else is
	// done.
	StopOwn bool
}

// Drift is one thing that equals neither what was applied nor the target.
type Drift struct {
	Address string      `json:"address"`
	Thing   thing.Key   `json:"thing"`
	Found   thing.State `json:"found"`
	// Policy is what the step's on_drift said.
	Policy block.OnDrift `json:"policy"`
}

// Drive drives the host to the desired steps.
func Drive(ctx context.Context, in Input) (Result, error) {
	w := newWalker(in)
	w.whole = ctx
	defer w.endAhead()
	err := w.start(ctx)
	if err == nil {
		err = w.clear(ctx)
	}
	if err == nil {
		err = w.prune(ctx)
	}
	if err == nil {
		err = w.steps(ctx)
	}
	if err == nil {
		err = w.retire(ctx, w.Idle)
	}
	if err == nil {
		err = w.finish(ctx)
	}
	if err == nil && w.needs != nil {
		err = w.needs
	}
	return w.result, err
}

type walker struct {
	Input
	result Result
	// wanted are the things each desired step owns, by step; applied what
	// was wanted before, by thing.
	wanted  map[*block.Placed][]record.Wanted
	applied wantedBefore
	earlier wantedBefore
	// slots are the names that each machine step owns, by its label.
	slots map[string][]string
	// watchers are the steps to tell of a change, by address of the changed
	// step.
	watchers map[string][]*block.Placed
	debts    []block.Debt
	// tainted says why it is not known whether a watching step acts.
	tainted map[string]string
	hosts   map[scope]host.Host
	managed map[scope]bool
	// reloads are what managers are owed, by machine, "" for the host's.
	reloads map[string]*reload
	// captured says for which scopes origins have been looked at in this
	// run, fresh which things were found absent then.
	captured map[scope]bool
	fresh    map[thing.Key]bool
	// whole is the context of the walk; turns keep fetches of one blob apart,
	// and fetching is what goes on ahead.
	whole    context.Context
	turns    host.Turns
	fetching *ahead
	// resuming says that an earlier run may have died on its way.
	resuming bool
	// begun says that the record is durable, unsaved that it changed since.
	begun, unsaved bool
	// index are the record's claims by thing, nil when they moved.
	index map[thing.Key]*record.Claim
	stage stage
	// glances are what checks saw of unit files, by machine, until something
	// is stirred.
	glances map[string]glance
	stirred bool
	// unforeseeable says that a shadow could not take what the step at hand
	// does, so that a second look tells nothing.
	unforeseeable bool
	// needs is what could not be written for want of a value.
	needs *NeedsInputError
	// found is the drift of the step at hand.
	found []Drift
	// forgone are things that stay as they are because their originals are
	// lost.
	forgone []thing.Key
}

func newWalker(in Input) *walker {
	w := &walker{
		Input: in, wanted: map[*block.Placed][]record.Wanted{}, slots: map[string][]string{},
		tainted: map[string]string{}, hosts: map[scope]host.Host{}, managed: map[scope]bool{}, reloads: map[string]*reload{},
		captured: map[scope]bool{}, fresh: map[thing.Key]bool{},
	}
	for i := range in.Desired {
		if p := &in.Desired[i]; p.Machine == "" && len(p.Type.Phases) > 0 {
			w.noteSlots(p)
		}
	}
	w.applied.steps, w.earlier.steps = in.Applied, in.Earlier
	w.resuming = in.Record != nil && (in.Record.Phase == record.Installing || in.Record.Repave != nil)
	w.watchers = watchersOf(in.Desired, in.Applied, in.Earlier)
	return w
}

// noteSlots notes which machines a step stands for.
func (w *walker) noteSlots(p *block.Placed) {
	for _, want := range w.wants(p) {
		if want.Key.Kind() == "machine" {
			w.slots[p.Label] = append(w.slots[p.Label], want.Key.Name())
		}
	}
}

// wants are the things that a desired step owns.
func (w *walker) wants(p *block.Placed) []record.Wanted {
	wants, known := w.wanted[p]
	if known {
		return wants
	}
	for _, want := range record.WantedOf([]block.Placed{*p}) {
		want.Placed = p
		wants = append(wants, want)
	}
	w.wanted[p] = wants
	return wants
}

// wantedBefore is what steps of an earlier state wanted of a thing.
type wantedBefore struct {
	steps []block.Placed
	wants map[thing.Key]record.Wanted
}

func (b *wantedBefore) of(key thing.Key) (record.Wanted, bool) {
	if b.wants == nil {
		b.wants = map[thing.Key]record.Wanted{}
		for _, want := range record.WantedOf(b.steps) {
			b.wants[want.Key] = want
		}
	}
	want, ok := b.wants[key]
	return want, ok
}

// start reads what an earlier run left owed.
func (w *walker) start(ctx context.Context) (err error) {
	if w.debts, err = w.Store.Debts(ctx); err != nil {
		return err
	}
	machines, err := w.Store.OwedReloads()
	for _, machine := range machines {
		w.reloads[machine] = &reload{due: true, noted: true}
	}
	return err
}

func (w *walker) steps(ctx context.Context) error {
	for i := range w.Desired {
		p := &w.Desired[i]
		if !p.Forward() {
			continue
		}
		if err := w.enterStage(p.Stage); err != nil {
			return err
		}
		if err := w.step(ctx, p); err != nil {
			w.result.Failed++
			return &StepError{p.Address, p.Stage, block.Reason(err, p.FailureReason), err}
		}
	}
	return w.leaveStage()
}

// finish reads unit files again where that is owed and forgets debts that
// nobody is left to pay.
func (w *walker) finish(ctx context.Context) error {
	if err := w.reloadAll(ctx); err != nil {
		return err
	}
	watching := map[string]bool{}
	for i := range w.Desired {
		watching[w.Desired[i].Address] = true
	}
	orphans := slices.DeleteFunc(slices.Clone(w.debts), func(d block.Debt) bool { return watching[d.Step] })
	return w.Store.Discharge(ctx, orphans)
}
