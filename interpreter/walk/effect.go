package walk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// effect claims, notes what will be owed, acts and looks again. after is what
// the second look found.
func (w *walker) effect(ctx context.Context, p *block.Placed, in block.Do, change block.Change) (after block.Change, err error) {
	if err := w.claim(ctx, p, in); err != nil {
		return change, err
	}
	w.fetchAhead(p)
	owed, err := w.owe(ctx, p, in, change)
	if err == nil {
		err = w.tryApply(ctx, p, in)
		err = errors.Join(err, w.settleReload(ctx, p.Machine))
	}
	if err != nil {
		return change, errors.Join(err, w.unowe(ctx, p, in.Look, change, owed))
	}
	if err := w.inPlace(ctx, owed); err != nil {
		return change, err
	}
	if err := w.discharge(ctx, p); err != nil || w.unforeseeable {
		return change, err
	}
	return w.recheck(ctx, p, change)
}

// recheck looks at a step that was applied: nothing may be left to do.
func (w *walker) recheck(ctx context.Context, p *block.Placed, before block.Change) (block.Change, error) {
	in, err := w.place(ctx, p)
	if err != nil {
		return w.unforeseen(err)
	}
	after, err := w.check(ctx, p, in.Look)
	if err != nil {
		return after, fmt.Errorf("looking again after it failed: %w", err)
	}
	if !after.Needed() || after.Action == block.ActionUnknown && (w.Shadow || before.Action == block.ActionUnknown) {
		return after, nil
	}
	return after, fmt.Errorf("it was done and the host still differs: %s (%s)", after.Action, after.Reason)
}

// tryApply applies a step, again after passing faults as its retry says.
func (w *walker) tryApply(ctx context.Context, p *block.Placed, in block.Do) error {
	delay := p.Retry.Delay
	for attempt := 1; ; attempt++ {
		err := p.Step.Apply(ctx, in)
		if w.unforeseeable = w.Shadow && errors.Is(err, host.ErrUnknown); w.unforeseeable {
			return nil
		}
		if err == nil || attempt >= p.Retry.Attempts || !slices.Contains(p.Type.Retryable, block.Passing(err)) {
			return err
		}
		w.warn(p, block.Warning{Summary: "Passing fault", Detail: fmt.Sprintf("%v; attempt %d of %d, again in %s", err, attempt, p.Retry.Attempts, delay)})
		if slept := w.Host.Clock.Sleep(ctx, delay); slept != nil {
			return errors.Join(err, slept)
		}
		if delay *= 2; p.Retry.MaxDelay > 0 {
			delay = min(delay, p.Retry.MaxDelay)
		}
	}
}
