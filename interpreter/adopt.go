package interpreter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hostler/interpreter/eval"
	"hostler/interpreter/host/shadow"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// DiffersError says that a host does not equal the recipe it should be adopted
// by.
type DiffersError struct{ Steps []string }

func (e *DiffersError) Error() string {
	return fmt.Sprintf("the host does not equal the recipe; these would change: %s; nothing was changed: make them equal, or install with hostler apply",
		strings.Join(e.Steps, ", "))
}

// Adopt takes over a host without a record that equals the recipe already:
// everything is claimed as adopted and nothing but the record is written.
func (in *Interpreter) Adopt(ctx context.Context, req Request) (Outcome, error) {
	return in.exclusive(ctx, req, func(ctx context.Context, r *run) error { return r.adopt(ctx, req) })
}

func (r *run) adopt(ctx context.Context, req Request) error {
	given, inputs, givenErr := r.identity(req)
	if r.keyErr != nil {
		return r.keyErr
	}
	if _, err := record.Admit(record.Adopt, r.rec, r.loadErr, given, givenErr); err != nil {
		return err
	}
	if !r.host.Identity.Live {
		return errors.New("adopt needs the running host: units and machines of an offline root cannot be compared")
	}
	r.rec = &record.Record{
		Phase: record.Installing, Recipe: record.Recipe{Name: given.Recipe, Version: req.Recipe.Header().Version},
		Fingerprint: given.Fingerprint, Prefix: given.Prefix,
	}
	err := r.adoptEqual(ctx, req, inputs)
	if err != nil && !r.begun {
		r.rec = nil
	}
	return err
}

func (r *run) adoptEqual(ctx context.Context, req Request, inputs eval.Inputs) error {
	t, err := r.evaluate(ctx, req, inputs)
	if err != nil {
		return err
	}
	if err := r.preflight(ctx, t.steps, nil); err != nil {
		return err
	}
	if _, err := r.rec.Retarget(t.steps, r.keyed()); err != nil {
		return err
	}
	for i := range r.rec.Claims {
		r.rec.Claims[i].Origin = thing.Origin{Kind: thing.OriginAdopted}
	}
	for _, want := range record.WantedOf(t.steps) {
		if want.Owned.Delivered {
			r.rec.Claim(want.Key).Origin = thing.Origin{Kind: thing.OriginAbsent}
		}
	}
	if err := r.claimDelivered(t.steps); err != nil {
		return err
	}
	if err := r.refuseDifferent(ctx, t); err != nil {
		return err
	}
	if err := r.claimHome(); err != nil {
		return err
	}
	return r.commit(ctx, t)
}

// refuseDifferent plans the recipe on a shadow: a step that would change
// something, or may, refuses.
func (r *run) refuseDifferent(ctx context.Context, t *target) error {
	differs := &DiffersError{}
	in := r.input(t.steps, nil)
	in.Shadow, in.Host = true, shadow.Over(r.host.View()).Host()
	in.Store = record.NewStore(in.Host, r.Rand)
	in.Begin = func(context.Context) error { return nil }
	in.Emit = func(e walk.Event) {
		if e.Kind == walk.StepFinished && (e.Change.Needed() || len(e.Change.Deferred) > 0) {
			differs.Steps = append(differs.Steps, e.Address)
		}
	}
	if _, err := walk.Drive(ctx, in); err != nil {
		return err
	}
	if len(differs.Steps) > 0 {
		return differs
	}
	return nil
}
