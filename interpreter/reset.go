package interpreter

import (
	"context"
	"errors"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

// reset undoes the installation: the walk of an empty recipe.
func (r *run) reset(ctx context.Context, req Request) error {
	r.readClaims()
	if r.loadErr != nil || isSalvage(r.rec) {
		return r.resetWithoutRecord(ctx, req)
	}
	if r.keyErr != nil {
		r.warn(block.Warning{Summary: "Key not readable", Detail: r.keyErr.Error() + "; whether sensitive files were edited cannot be told"})
	}
	r.claimStrays(ctx, req)
	r.resets(ctx)
	in := r.input(nil, nil)
	in.DiscardEdits, in.Force = req.DiscardEdits, req.Force
	in.Begin = func(ctx context.Context) error {
		r.rec.Phase = record.Resetting
		r.begun = true
		return r.store.Save(ctx, r.rec)
	}
	r.walked = true
	result, err := walk.Reset(ctx, in)
	r.out.Result = result
	if err != nil {
		return err
	}
	return r.erase(ctx)
}

// resets tells of the reset by what was driven to, as far as that is known.
func (r *run) resets(ctx context.Context) {
	if r.attendant == nil {
		return
	}
	for _, name := range []string{r.rec.Applied, r.rec.Target} {
		if name == "" {
			continue
		}
		if t, err := r.storedTarget(ctx, name); err == nil {
			r.admitted(ctx, t)
			return
		}
	}
}

// erase forgets the installation, when nothing of it is left.
func (r *run) erase(ctx context.Context) error {
	if err := r.store.Erase(ctx, r.rec); err != nil {
		return err
	}
	r.rec, r.loadErr = nil, record.ErrAbsent
	return nil
}

// resetWithoutRecord resets a host whose record is absent or cannot be used.
func (r *run) resetWithoutRecord(ctx context.Context, req Request) error {
	if newer, ok := errors.AsType[*block.NewerError](r.loadErr); ok {
		return &record.RefusedError{Reason: newer.Error(), Advice: "nothing was changed"}
	}
	_, damaged := errors.AsType[*record.UnreadableError](r.loadErr)
	if r.loadErr != nil && !damaged && !errors.Is(r.loadErr, record.ErrAbsent) {
		return r.loadErr
	}
	return r.salvage(ctx, req)
}
