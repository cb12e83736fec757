package interpreter

import (
	"context"
	"errors"
	"strings"

	"hostler/interpreter/walk"
)

// discreetError is an error whose text had a sensitive value in it.
type discreetError struct {
	err  error
	text string
}

func (e *discreetError) Error() string { return e.text }

// Unwrap returns the error itself.
func (e *discreetError) Unwrap() error { return e.err }

// As gives a fault of a step without the value, too: what it wraps is shown by
// itself.
func (e *discreetError) As(target any) bool {
	to, ok := target.(**walk.StepError)
	step, found := errors.AsType[*walk.StepError](e.err)
	if !ok || !found {
		return false
	}
	clean := *step
	clean.Err = &discreetError{step.Err, strings.TrimPrefix(e.text, step.Address+": ")}
	*to = &clean
	return true
}

// discreet is an error without the sensitive values that were given. Nothing of
// ours puts them into a text; what a program says of its input may hold them.
func (r *run) discreet(ctx context.Context, err error) error {
	if err == nil || r.target == "" {
		return err
	}
	text := err.Error()
	if clean := r.veiled(ctx, text); clean != text {
		return &discreetError{err, clean}
	}
	return err
}

// veiled is a text without the sensitive values that were given.
func (r *run) veiled(ctx context.Context, text string) string {
	if text == "" || r.target == "" {
		return text
	}
	if r.cleaner == nil {
		var pairs []string
		for _, secret := range r.secrets(ctx, r.target) {
			pairs = append(pairs, secret, "(sensitive)")
		}
		r.cleaner = strings.NewReplacer(pairs...)
	}
	return r.cleaner.Replace(text)
}

// tell tells an event to whoever wants it.
func (r *run) tell(e walk.Event) {
	if e.Err != nil || e.Change.Needed() || e.Kind == walk.Diagnosed {
		ctx := context.Background() // nothing is asked but files
		e.Err, e.Change.Reason = r.discreet(ctx, e.Err), r.veiled(ctx, e.Change.Reason)
		e.Warning.Detail = r.veiled(ctx, e.Warning.Detail)
	}
	if r.attendant != nil {
		r.attendant.Event(e)
	}
	if r.Emit != nil {
		r.Emit(e)
	}
}
