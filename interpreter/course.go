package interpreter

import (
	"context"
	"errors"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/record"
)

// fresh installs on a clean host.
func (r *run) fresh(ctx context.Context, req Request, inputs eval.Inputs, given *record.Identity) error {
	if req.Previous {
		return errors.New("nothing is installed on this host, so there is nothing to go back to")
	}
	r.rec = &record.Record{
		Phase: record.Installing, Recipe: record.Recipe{Name: given.Recipe, Version: req.Recipe.Header().Version},
		Fingerprint: given.Fingerprint, Prefix: given.Prefix,
	}
	err := r.install(ctx, req, inputs)
	if err != nil && !r.begun {
		r.rec = nil // nothing was written: nothing is installed
	}
	return err
}

func (r *run) install(ctx context.Context, req Request, inputs eval.Inputs) error {
	t, err := r.evaluate(ctx, req, inputs)
	if err != nil {
		return err
	}
	r.admitted(ctx, t)
	others := r.layouts(ctx, req.Recipe, inputs, layout{r.installPrefix(), t.steps})
	if err := r.clean(ctx, t.steps, others); err != nil {
		return err
	}
	return r.drive(ctx, t)
}

// toward drives an installation to the recipe given.
func (r *run) toward(ctx context.Context, req Request, inputs eval.Inputs) error {
	t, err := r.evaluate(ctx, req, inputs)
	if err != nil {
		return err
	}
	return r.drive(ctx, t)
}

// resume drives an installation to its stored target. One that never was
// complete is evaluated again: what was not known then may be known now.
func (r *run) resume(ctx context.Context, req Request) error {
	t, err := r.storedTarget(ctx, r.rec.Target)
	if err == nil && (r.rec.Applied == "" || r.host.Identity.Live && t.defers()) {
		t, err = r.again(ctx, req, r.rec.Target)
	}
	if err != nil {
		return err
	}
	return r.drive(ctx, t)
}

// back drives to what was there before the last target.
func (r *run) back(ctx context.Context) error {
	name := r.rec.Previous
	if r.rec.Phase == record.Installing {
		name = r.rec.Applied
	}
	if name == "" {
		return errors.New("there is no earlier state to go back to; nothing was changed")
	}
	t, err := r.storedTarget(ctx, name)
	if err == nil && r.rec.Phase == record.Complete {
		err = r.sameMachines(t)
	}
	if err == nil && r.rec.Repave != nil && r.rec.Phase == record.Installing {
		err = r.undoRebuild(ctx, t)
	}
	if err != nil {
		return err
	}
	return r.drive(ctx, t)
}

// maintain drives a complete installation to what was applied: it verifies and
// repairs, and a healthy host gets no write.
func (r *run) maintain(ctx context.Context, req Request) error {
	switch {
	case r.trial():
		return r.hold(ctx, req)
	case r.rec.Repave != nil:
		return r.settleLeft(ctx, req)
	}
	t, err := r.storedTarget(ctx, r.rec.Applied)
	if err != nil {
		return err
	}
	return r.repair(ctx, req, t)
}

// earlier are the steps of a state that the host was driven to before, nil when
// there is none. One that is damaged is done without, with a warning.
func (r *run) earlier(ctx context.Context, name string) ([]block.Placed, error) {
	if name == "" {
		return nil, nil
	}
	t, err := r.storedTarget(ctx, name)
	if newer, ok := errors.AsType[*block.NewerError](err); ok {
		return nil, newer
	}
	if err != nil {
		r.warn(block.Warning{Summary: "Earlier state not readable", Detail: err.Error()})
		return nil, nil
	}
	return t.steps, nil
}
