package walk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

func (w *walker) step(ctx context.Context, p *block.Placed) error {
	began := w.Host.Clock.Now()
	if p.Deferred != "" {
		w.result.Deferred = true
		w.emitDone(p, began, block.Change{Action: block.ActionNone, Deferred: []string{p.Deferred}}, nil)
		return nil
	}
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.Timeout)
		defer cancel()
	}
	change, err := w.advance(ctx, p)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && p.Timeout > 0 {
		err = fmt.Errorf("not done within its timeout of %s: %w", p.Timeout, err)
	}
	w.emitDone(p, began, change, err)
	return err
}

// advance looks at a step and, if it needs a change, makes it.
func (w *walker) advance(ctx context.Context, p *block.Placed) (block.Change, error) {
	in, err := w.place(ctx, p)
	if err != nil {
		return w.unforeseen(err)
	}
	change, err := w.settled(ctx, p, in)
	if err != nil {
		return change, err
	}
	if !change.Needed() {
		if err := w.tidy(p, in.Host.Files); err != nil {
			return change, err
		}
		return w.unchanged(change), w.discharge(ctx, p)
	}
	if w.Leave != nil {
		if why := w.Leave(p.Address); why != "" {
			w.warn(p, block.Warning{Summary: "Left as it is", Detail: change.Reason + "; " + why})
			return w.unchanged(block.Change{Action: block.ActionNone, Reason: why, Pending: change.Pending, Deferred: change.Deferred}), nil
		}
	}
	leave, err := w.drift(ctx, p, in.Look)
	if err != nil {
		return change, err
	}
	if leave {
		change = block.Change{Action: block.ActionNone, Reason: "drift left as it is", Pending: change.Pending, Deferred: change.Deferred}
		return w.unchanged(change), nil
	}
	w.emitStart(p, change)
	after, err := w.effect(ctx, p, in, change)
	if errors.Is(err, block.ErrNeedsInput) {
		w.missing(p)
		return block.Unknown("it needs the value of " + strings.Join(p.NeedsInput, ", ")), nil
	}
	if err != nil {
		return change, failed(change, err)
	}
	change.Made = after.Made
	if err := w.tidy(p, in.Host.Files); err != nil {
		return change, err
	}
	w.pending(after)
	w.result.Changed++
	w.stage.changed(p, w.wants(p), change)
	return change, nil
}

// failed says what was found before it says why that could not be changed.
func failed(change block.Change, err error) error {
	if change.Reason == "" {
		return err
	}
	return fmt.Errorf("%s, and changing that failed: %w", change.Reason, err)
}

func (w *walker) unchanged(change block.Change) block.Change {
	w.pending(change)
	w.result.Unchanged++
	return change
}

// pending notes what is left for later.
func (w *walker) pending(change block.Change) {
	w.result.Pending = append(w.result.Pending, change.Pending...)
	w.result.Deferred = w.result.Deferred || len(change.Deferred) > 0
}

// waitPoll is how often a host that is on its way is looked at.
const waitPoll = 250 * time.Millisecond

// settled looks at a step, and again while the host gets there by itself: what
// is about to start is not repaired.
func (w *walker) settled(ctx context.Context, p *block.Placed, in block.Do) (block.Change, error) {
	change, err := w.look(ctx, p, in)
	for waited := time.Duration(0); err == nil && !w.Shadow && change.Needed() && waited < change.Wait; waited += waitPoll {
		if err := w.Host.Clock.Sleep(ctx, waitPoll); err != nil {
			return change, err
		}
		change, err = w.look(ctx, p, in)
	}
	return change, err
}

// look finds out what a step needs, if need be with its sensitive values or by
// asking a program.
func (w *walker) look(ctx context.Context, p *block.Placed, in block.Do) (block.Change, error) {
	change, err := w.check(ctx, p, in.Look)
	if err == nil && change.Needed() && len(p.NeedsInput) > 0 {
		change, err = w.filled(ctx, p, in.Look, change)
	}
	if err != nil {
		return change, err
	}
	if cause := w.tainted[p.Address]; cause != "" && !change.Needed() {
		return block.Unknown(cause), nil
	}
	if change.Action != block.ActionUnknown || w.Shadow {
		return change, nil
	}
	if !w.Host.Identity.Live {
		return block.Change{Action: block.ActionNone, Deferred: []string{change.Reason}}, nil
	}
	if asking, ok := p.Step.(block.Asking); ok {
		return asking.Ask(ctx, in)
	}
	return change, nil
}

// filled looks again with the step's sensitive values, which are needed now
// that something has to be written. Without them the step is left as it is and
// Apply says so.
func (w *walker) filled(ctx context.Context, p *block.Placed, in block.Look, change block.Change) (block.Change, error) {
	if w.Fill == nil {
		return change, nil
	}
	step, err := w.Fill(ctx, p)
	if errors.Is(err, block.ErrNeedsInput) {
		return change, nil
	}
	if err != nil {
		return change, err
	}
	p.Step = step
	if err := w.want(p); err != nil {
		return change, err
	}
	return w.check(ctx, p, in)
}

// want notes anew what a step owns and wants, here and in the record.
func (w *walker) want(p *block.Placed) error {
	if err := w.readClaims(); err != nil {
		return err
	}
	delete(w.wanted, p)
	for _, want := range w.wants(p) {
		w.Record.Writes(want, w.Keyed)
	}
	w.unsaved = true
	return nil
}

// readClaims reads the claims, when they are needed for the first time.
func (w *walker) readClaims() error {
	if w.Claims == nil {
		return nil
	}
	err := w.Claims()
	if err == nil {
		w.Claims = nil
	}
	return err
}

// check asks a step what it needs. What cannot be known is no fault.
func (w *walker) check(ctx context.Context, p *block.Placed, in block.Look) (block.Change, error) {
	in.View.Files = w.glance(scopeOf(p).machine, in.View.Files)
	change, err := p.Step.Check(ctx, in)
	if change.Needed() || err != nil {
		w.stirred = true
	}
	if errors.Is(err, host.ErrUnknown) {
		return block.Unknown(host.Cause(err)), nil
	}
	unmet, ok := errors.AsType[*block.Unmet](err)
	if ok && unmet.Warning {
		w.warn(p, block.Warning{Summary: unmet.Summary, Detail: unmet.Advice})
		return block.NoChange(), nil
	}
	return change, err
}

// unforeseen makes a place that cannot be reached on a shadow unknown.
func (w *walker) unforeseen(err error) (block.Change, error) {
	const notThere = "its machine is not there yet"
	switch missing := errors.Is(err, host.ErrNoMachine); {
	case missing && !w.Host.Identity.Live:
		w.result.Deferred = true
		return block.Change{Action: block.ActionNone, Deferred: []string{notThere}}, nil
	case missing && w.Shadow:
		return block.Unknown(notThere), nil
	}
	if w.Shadow && errors.Is(err, host.ErrUnknown) {
		return block.Unknown(host.Cause(err)), nil
	}
	return block.Change{}, err
}

// missing notes a step that cannot be written now; the walk goes on.
func (w *walker) missing(p *block.Placed) {
	if w.needs == nil {
		w.needs = &NeedsInputError{}
	}
	w.needs.Steps = append(w.needs.Steps, p.Address)
	for _, name := range p.NeedsInput {
		if !slices.Contains(w.needs.Variables, name) {
			w.needs.Variables = append(w.needs.Variables, name)
		}
	}
}
