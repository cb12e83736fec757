package interpreter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/record"
)

// DaemonCommand is how the daemon describes itself to others who want the
// lock. It holds it for a moment, again and again: everybody waits so long for
// it.
const (
	DaemonCommand  = "hostler daemon"
	daemonPatience = 30 * time.Second
)

// lockPoll is how often a lock that is held is tried again.
const lockPoll = 250 * time.Millisecond

func (in *Interpreter) lock(ctx context.Context, wait time.Duration) (func() error, error) {
	holder := in.Holder
	holder.Since = in.Host.Clock.Now()
	began := in.Host.Clock.Now()
	for {
		release, err := in.Host.Locks.Acquire(ctx, host.LockExclusive, holder)
		held, ok := errors.AsType[*host.HeldError](err)
		if !ok || in.Host.Clock.Now().Sub(began) >= patience(held, wait) {
			return release, err
		}
		if err := in.Host.Clock.Sleep(ctx, lockPoll); err != nil {
			return nil, err
		}
	}
}

// patience is how long to wait for whoever holds the lock.
func patience(held *host.HeldError, wait time.Duration) time.Duration {
	if held.Holder != nil && held.Holder.Command == DaemonCommand {
		return max(wait, daemonPatience)
	}
	return wait
}

// open reads facts, record and key.
func (r *run) open(ctx context.Context) (err error) {
	r.store = record.NewStore(r.host, r.Rand)
	if err := r.store.CheckPrivate(); err != nil {
		return err
	}
	if r.facts, err = host.ReadFacts(ctx, r.host.View()); err != nil {
		return fmt.Errorf("read the facts of the host: %w", err)
	}
	r.rec, r.loadErr = r.store.Head(ctx)
	r.known()
	if r.host.Identity.Live {
		r.key, r.keyErr = r.store.Key()
	}
	return nil
}

// known makes a record unreadable that has steps which this release does not
// know. The claims of a complete installation are read when something has to be
// changed, or was by a repave that has not ended.
func (r *run) known() {
	if r.rec == nil {
		return
	}
	r.seen = identityOf(r.rec)
	vocabulary := r.vocabulary()
	for _, s := range r.rec.Types() {
		if err := vocabulary.Knows(s); err != nil {
			r.rec, r.loadErr = nil, err
			return
		}
	}
	if r.rec.Phase != record.Complete || r.rec.Repave != nil {
		r.readClaims()
	}
}

// readClaims reads the claims of the record. One in which they are damaged is
// unreadable as a whole.
func (r *run) readClaims() error {
	if r.rec == nil {
		return r.loadErr
	}
	err := r.rec.ReadClaims()
	if err != nil {
		r.rec, r.loadErr = nil, err
	}
	return err
}

// stopOwn stops the unit we run in, after a reset that took it away and when
// all else is done: it is not waited for.
func (r *run) stopOwn(ctx context.Context) error {
	if !r.out.StopOwn {
		return nil
	}
	if err := r.host.Units.Queue(ctx, host.JobStop, r.OwnUnit); err != nil && !errors.Is(err, host.ErrNoUnit) {
		return fmt.Errorf("everything was reset; %s still runs: %w", r.OwnUnit, err)
	}
	return nil
}

func (r *run) finish(err error) Outcome {
	r.out.Word = "ok"
	switch {
	case err != nil:
		r.out.Word = "failed"
	case r.out.Deferred:
		r.out.Word = "deferred"
	}
	r.out.Phase = r.phase()
	if r.rec != nil {
		r.out.Identity = identityOf(r.rec)
	}
	return r.out
}

// unreadable is the phase of a host whose record is damaged.
const unreadable = "unreadable"

// phase is the installation's as the record says it, "absent" when there is
// none and "unreadable" when it is damaged.
func (r *run) phase() string {
	switch {
	case r.rec != nil:
		return string(r.rec.Phase)
	case r.loadErr != nil && !errors.Is(r.loadErr, record.ErrAbsent):
		return unreadable
	}
	return "absent"
}

func identityOf(rec *record.Record) Identity {
	return Identity{
		InstallationID: rec.ID, Recipe: rec.Recipe.Name, RecipeVersion: rec.Recipe.Version,
		Fingerprint: rec.Fingerprint, Prefix: rec.Prefix,
	}
}

// keyed hashes digests with the installation's key; nil when there is none.
func (r *run) keyed() func(string) string {
	if r.key == nil {
		return nil
	}
	return r.key.Keyed
}
