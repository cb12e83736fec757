package interpreter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

// confirmPoll is how often a repave that waits looks whether it was confirmed.
const confirmPoll = time.Second

// expireWait is how long it waits for the lock when its time is over.
const expireWait = time.Minute

// waiting is a repave that waits for its confirmation.
type waiting struct {
	out    Outcome
	target string
}

// awaitConfirmation waits without the lock until a repave is confirmed, or goes
// back when its time is over. A process that is ended meanwhile changes nothing
// about that: every ensure goes back then.
func (in *Interpreter) awaitConfirmation(ctx context.Context, req Request, w waiting) (Outcome, error) {
	in.tellWaiting(w)
	store := record.NewStore(in.Host, in.Rand)
	for {
		left := w.out.ConfirmUntil.Sub(in.Host.Clock.Now())
		if left <= 0 {
			return in.expired(ctx, req, w)
		}
		if err := in.Host.Clock.Sleep(ctx, min(left, confirmPoll)); err != nil {
			w.out.Word = "failed"
			return w.out, fmt.Errorf("the repave still waits for its confirmation until %s: %w", stamp(w.out.ConfirmUntil), err)
		}
		rec, err := store.Head(ctx)
		if done, err := w.decided(rec, err); done || err != nil {
			return w.out, err
		}
	}
}

// decided says whether somebody has confirmed the repave, or taken it back.
func (w *waiting) decided(rec *record.Record, err error) (done bool, _ error) {
	switch {
	case err != nil:
		w.out.Word = "failed"
		return true, fmt.Errorf("the repave was not confirmed: %w", err)
	case rec.Applied == w.target:
		w.out.Identity, w.out.Phase, w.out.ConfirmUntil = identityOf(rec), string(rec.Phase), time.Time{}
		return true, nil
	case rec.Target != w.target:
		w.out.Word = "failed"
		return true, errors.New("the repave was taken back before it was confirmed")
	}
	return false, nil
}

// expired goes back, unless somebody was faster.
func (in *Interpreter) expired(ctx context.Context, req Request, w waiting) (Outcome, error) {
	if req.Wait < expireWait {
		req.Wait = expireWait
	}
	return in.exclusive(ctx, req, func(ctx context.Context, r *run) error {
		done, err := w.decided(r.rec, r.loadErr)
		if done || err != nil {
			return err
		}
		r.readClaims()
		if r.loadErr != nil {
			return r.loadErr
		}
		return r.expire(ctx, req)
	})
}

func (in *Interpreter) tellWaiting(w waiting) {
	if in.Emit == nil {
		return
	}
	in.Emit(walk.Event{
		Kind: walk.Diagnosed, Time: in.Host.Clock.Now(), Recipe: w.out.Identity.Recipe,
		Warning: block.Warning{
			Summary: "Waiting for confirmation",
			Detail:  "The new machine is ready. Unless hostler repave --confirm is run by " + stamp(w.out.ConfirmUntil) + ", the host goes back.",
		},
	})
}

// stamp is a time as messages show it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
