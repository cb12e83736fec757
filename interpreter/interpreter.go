// Package interpreter is the corridor: it leads past all rooms of a run, and its
// functions read as the order of one.
//
// A recipe walks in at the front door and leaves as a report:
//
//	syntax   bytes to a file of ordered blocks, ranges kept
//	eval     file, vocabulary and inputs to ordered steps, once
//	block    the contract between steps and the interpreter
//	thing    what a step can own, how to look at it and put it back
//	record   who owns this host: claims, origins, state, lock, admission
//	walk     the one loop: look, claim, act, look again
//	report   events and plans to text and JSON
//	host     the only door to the machine
//
// Rooms behind these that they take from:
//
//	unitfile  unit files, where no manager runs
//	rootfs    an image to a directory
//	delivery  what hostler has on a host beside a recipe, by name
//
// Rooms beside the corridor, for who writes recipes. They reach no host:
//
//	lint      what is wrong in a valid recipe
//	editor    the same, and more, at the place where somebody writes
//	graph     the steps of a recipe drawn
//	scaffold  the first files of a recipe
//
// Rooms in front of it, which see it from outside:
//
//	deliver   what a host is given before its first boot
//	rehearse  the tests of recipes, and the laws, on hosts in memory
//	resident  the daemon, and the change of the interpreter itself
//	operate   what happened on a host, and why
//
// And what operate keeps and tells:
//
//	history   one file a run, drawn as a timeline
//	sink      the status of a run, to where a recipe says
//
// An order of a run is: lock, facts, record, fingerprint, id, evaluation,
// owned things, clean-host test, preflight, record, walk. A refusal up to and
// including preflight writes nothing.
package interpreter

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/host/shadow"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

// Interpreter runs recipes on one host.
type Interpreter struct {
	Vocabulary block.Vocabulary
	Host       host.Host
	// Rand is where ids and keys come from.
	Rand io.Reader
	// Ahead lets what later steps need from the network be fetched while
	// earlier ones run.
	Ahead bool
	// Emit receives the events of every walk; nil drops them.
	Emit func(walk.Event)
	// Attend makes the attendant of a run that begins; nil is none. Runs on a
	// host that does not live have none.
	Attend func(began time.Time) Attendant
	// OwnUnit is the unit this process runs in, "" if none.
	OwnUnit string
	// Program opens the executable that runs, for recipes that install it; nil
	// where there is none.
	Program func() (io.ReadCloser, error)
	// Holder describes this process to others who want the lock.
	Holder host.Holder
}

// Request is what an operator gave.
type Request struct {
	// Recipe is the recipe given, nil for the one installed.
	Recipe *eval.Recipe
	// Bundle notes what was read of Recipe.
	Bundle *Bundle
	// Given are the values for its variables, weakest first.
	Given []eval.Given
	// Unreadable says why the recipe or inputs given cannot be read, nil if
	// they can.
	Unreadable error
	// Prefix is --prefix, "" if it was not given.
	Prefix string
	// Wait is how long to wait for the lock.
	Wait time.Duration
	// Previous drives back to what was there before the last target.
	Previous bool
	// DiscardEdits lets a reset undo what was edited since we wrote it.
	DiscardEdits bool
	// AllowDestroy lets a recipe that does not name a running machine any more
	// stop and remove it.
	AllowDestroy bool
	// Resident is a run of the daemon's: it goes on only if the installation is
	// complete, else with an *UnfinishedError, and leaves no note of a run that
	// found nothing to do.
	Resident bool
	// Leave says why a step that needs a change is left as it is, "" where it
	// is not; nil: none is.
	Leave func(address string) string
	// Confirm confirms a repave that waits for it.
	Confirm bool
	// ConfirmWithin makes a repave go back unless it is confirmed in that time;
	// 0 is for a repave that needs no confirmation.
	ConfirmWithin time.Duration
	// Force lets a reset without a record remove what it cannot prove is
	// ours.
	Force bool
}

// Outcome is what a command did.
type Outcome struct {
	walk.Result
	// Word is "ok", "failed" or "deferred".
	Word string
	// Phase is the installation's afterwards, "absent" when there is none.
	Phase    string
	Identity Identity
	// ConfirmUntil is when a repave goes back unless it is confirmed before;
	// zero when nothing waits.
	ConfirmUntil time.Time
	// Provisional says that another run was in progress while this one read
	// the host.
	Provisional *host.HeldError
	// Outputs are the recipe's, for commands that evaluate it.
	Outputs []eval.Output
	// Warnings are diagnostics that are no faults.
	Warnings hcl.Diagnostics
}

// Identity names an installation.
type Identity struct {
	InstallationID string `json:"installation_id,omitempty"`
	Recipe         string `json:"recipe,omitempty"`
	RecipeVersion  string `json:"recipe_version,omitempty"`
	Fingerprint    string `json:"fingerprint,omitempty"`
	Prefix         string `json:"prefix,omitempty"`
}

// run is one command on its way.
type run struct {
	*Interpreter
	req     Request
	host    host.Host
	shadow  bool
	survey  bool
	store   *record.Store
	rec     *record.Record
	loadErr error
	facts   host.Facts
	// key is nil offline, and when it is damaged, which keyErr then says.
	key    record.Key
	keyErr error
	// filled are the steps that were made again with their sensitive values.
	filled []block.Placed
	// standing are the slots that were active before a repave, by name; nil
	// outside of one, when the active slots themselves are driven to.
	standing map[string]bool
	// selves are the slots of a stored state that is evaluated again.
	selves map[string]bool
	// begun says that this run has written the record, walked that it came as
	// far as the steps.
	begun, walked bool
	// completed says that this run brought the installation to complete.
	completed bool
	// storedPrefix is that of the states of an installation without a record.
	storedPrefix string
	// attendant is told of the run. target names what is driven to, once that
	// is known, and cleaner takes sensitive values out of texts.
	attendant Attendant
	target    string
	cleaner   *strings.Replacer
	// seen is whose record it is, also when it cannot be honoured.
	seen Identity
	out  Outcome
}

// Apply changes a host deliberately: it installs, continues, updates.
func (in *Interpreter) Apply(ctx context.Context, req Request) (Outcome, error) {
	return in.exclusive(ctx, req, func(ctx context.Context, r *run) error { return r.admit(ctx, record.Apply, req) })
}

// Ensure is what runs at every boot: it installs, continues, or verifies and
// repairs what was applied.
func (in *Interpreter) Ensure(ctx context.Context, req Request) (Outcome, error) {
	return in.exclusive(ctx, req, func(ctx context.Context, r *run) error {
		if req.Resident && (r.rec == nil || r.rec.Phase != record.Complete) {
			return r.unfinished()
		}
		return r.admit(ctx, record.Ensure, req)
	})
}

// Plan is Apply on a shadow of the host.
func (in *Interpreter) Plan(ctx context.Context, req Request) (Outcome, error) {
	return in.shadowed(ctx, req, func(ctx context.Context, r *run) error { return r.admit(ctx, record.Apply, req) })
}

// Verify is Ensure on a shadow of the host; it finds out what was changed
// behind our back. That a repair needs a sensitive value is no fault of it: the
// step differs, and is shown as such.
func (in *Interpreter) Verify(ctx context.Context, req Request) (Outcome, error) {
	return in.shadowed(ctx, req, func(ctx context.Context, r *run) error {
		if errors.Is(r.loadErr, record.ErrAbsent) {
			return r.loadErr
		}
		r.survey = true
		err := r.admit(ctx, record.Ensure, req)
		if _, needs := errors.AsType[*walk.NeedsInputError](err); needs {
			return nil
		}
		return err
	})
}

// Reset undoes an installation.
func (in *Interpreter) Reset(ctx context.Context, req Request) (Outcome, error) {
	return in.exclusive(ctx, req, func(ctx context.Context, r *run) error { return r.reset(ctx, req) })
}

// PlanReset is Reset on a shadow of the host.
func (in *Interpreter) PlanReset(ctx context.Context, req Request) (Outcome, error) {
	return in.shadowed(ctx, req, func(ctx context.Context, r *run) error { return r.reset(ctx, req) })
}

// exclusive runs fn under the installation lock.
func (in *Interpreter) exclusive(ctx context.Context, req Request, fn func(context.Context, *run) error) (Outcome, error) {
	release, err := in.lock(ctx, req.Wait)
	if err != nil {
		return Outcome{Word: "failed"}, err
	}
	began := in.Host.Clock.Now()
	r := &run{Interpreter: in, req: req, host: host.AskOnce(in.Host)}
	r.attend(began)
	if err = r.open(ctx); err == nil {
		err = r.store.Tidy()
	}
	if err == nil {
		err = fn(ctx, r)
	}
	err = r.discreet(ctx, err)
	r.finish(err)
	r.note(began, err)
	r.ended(ctx, began, err)
	err = errors.Join(err, r.stopOwn(ctx), release())
	if err == nil {
		err = r.startDaemon(ctx)
	}
	return r.out, err
}

// shadowed runs fn on a shadow of the host. It reads under a shared lock if it
// can; while another run holds the lock the result is provisional.
func (in *Interpreter) shadowed(ctx context.Context, req Request, fn func(context.Context, *run) error) (Outcome, error) {
	release, err := in.Host.Locks.Acquire(ctx, host.LockShared, in.Holder)
	held, provisional := errors.AsType[*host.HeldError](err)
	switch {
	case provisional:
		release = func() error { return nil }
	case err != nil:
		return Outcome{Word: "failed"}, err
	}
	r := &run{Interpreter: in, req: req, host: shadow.Over(host.AskOnce(in.Host).View()).Host(), shadow: true}
	r.out.Provisional = held
	err = r.open(ctx)
	phase := r.phase() // the installation's, not what the shadow makes of it
	if err == nil {
		err = fn(ctx, r)
	}
	out := r.finish(err)
	if out.Phase != unreadable {
		out.Phase = phase
	}
	return out, errors.Join(err, release())
}
