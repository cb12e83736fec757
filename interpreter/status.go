package interpreter

import (
	"context"
	"errors"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

// Status is what is installed on a host and how it is.
type Status struct {
	Outcome
	// Unreadable says why the record cannot be used, "" if it can.
	Unreadable string
	// Debts are restarts that are owed.
	Debts []block.Debt
	// Daemon is what the daemon said since boot, nil if there was none.
	Daemon *DaemonNote
	// LastRun is the last run since boot, nil if there was none.
	LastRun *LastRun
}

// LastRun is how the last command that changed the host ended.
type LastRun struct {
	Command         string    `json:"command"`
	Time            time.Time `json:"time"`
	DurationSeconds float64   `json:"duration_seconds"`
	Result          string    `json:"result"`
	Stage           string    `json:"stage,omitempty"`
	Step            string    `json:"step,omitempty"`
	Error           string    `json:"error,omitempty"`
}

// Status reads a host: phase, identity, drift, what is pending, what is owed.
func (in *Interpreter) Status(ctx context.Context, req Request) (Status, error) {
	var s Status
	out, err := in.shadowed(ctx, req, func(ctx context.Context, r *run) (err error) {
		if s.Debts, err = r.store.Debts(ctx); err != nil {
			return err
		}
		if s.LastRun, err = r.lastRun(ctx); err != nil {
			return err
		}
		if s.Daemon, err = r.daemon(ctx); err != nil {
			return err
		}
		r.readClaims()
		if errors.Is(r.loadErr, record.ErrAbsent) {
			return nil
		}
		if r.loadErr != nil {
			s.Unreadable = r.loadErr.Error()
			s.Identity = r.seen
			return nil
		}
		return r.look(ctx)
	})
	seen := s.Identity
	if s.Outcome = out; out.Identity == (Identity{}) {
		s.Identity = seen
	}
	return s, err
}

// Summary is Status without looking for drift: what the record and the notes
// under /run say.
func (in *Interpreter) Summary(ctx context.Context) (Status, error) {
	var s Status
	out, err := in.shadowed(ctx, Request{}, func(ctx context.Context, r *run) (err error) {
		s.Debts, err = r.store.Debts(ctx)
		return err
	})
	s.Outcome = out
	return s, err
}

// look finds drift and what is pending, by driving a shadow to what is
// installed.
func (r *run) look(ctx context.Context) error {
	name := r.rec.Applied
	if name == "" || r.trial() {
		name = r.rec.Target
	}
	if name == "" || r.rec.Phase == record.Resetting {
		return nil
	}
	t, err := r.storedTarget(ctx, name)
	if err == nil {
		r.survey = true
		in := r.input(t.steps, t.steps)
		in.Begin = func(context.Context) error { return nil }
		if r.rec.Unproved() {
			err = r.lookRepave(ctx, t, &in)
		}
		err = errors.Join(err, r.walk(ctx, in))
		r.out.Pending = append(r.out.Pending, r.unconfirmed(t)...)
	}
	if err != nil && ctx.Err() == nil {
		r.warn(block.Warning{Summary: "Not everything could be looked at", Detail: err.Error()})
	}
	return ctx.Err()
}

// lastRunName is where the last run is described, until the next boot.
const lastRunName = "last_run.json"

func (r *run) lastRun(context.Context) (*LastRun, error) {
	var last LastRun
	ok, err := r.store.ReadNote(lastRunName, &last)
	if !ok || err != nil {
		return nil, err
	}
	return &last, nil
}

// note describes this run for status, until the next boot. A refusal leaves
// the note of the run before it; a note that cannot be written fails nothing.
func (r *run) note(began time.Time, err error) {
	if r.req.Resident && (err == nil && r.out.Changed == 0 || isUnfinished(err)) {
		return
	}
	if _, edited := errors.AsType[*walk.EditedError](err); !r.host.Identity.Live || edited || err != nil && !r.walked {
		return
	}
	last := LastRun{
		Command: r.Holder.Command, Time: began, DurationSeconds: r.host.Clock.Now().Sub(began).Seconds(), Result: r.out.Word,
	}
	if err != nil {
		last.Error = err.Error()
	}
	if failed, ok := errors.AsType[*walk.StepError](err); ok {
		last.Stage, last.Step = failed.Stage, failed.Address
	}
	if err := r.store.WriteNote(lastRunName, last); err != nil {
		r.warn(block.Warning{Summary: "Last run not noted", Detail: err.Error()})
	}
}
