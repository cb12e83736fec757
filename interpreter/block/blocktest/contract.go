// Package blocktest holds block types to the contract of package block.
//
// [Run] is the suite that every block passes; [Stage] and [Args] let a block's
// own tests read as recipes against a host.
package blocktest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// Case is one use of a block type on a host where it has something to do.
type Case struct {
	Type *block.Type
	// Body is what stands between the block's braces.
	Body string
	// Adjust, if set, changes the evaluated arguments: assets, facts, holes.
	Adjust func(*block.Args)
	// Host makes the host as it is before, anew each time.
	Host func(t *testing.T) host.Host
	// Prepare, if set, readies a stage, for example with a key.
	Prepare func(*Stage)
	// Roots are the trees that are compared; nil is everything.
	Roots []string
	// Quiet says that the step has nothing to do on that host: it checks a
	// requirement that holds, or acts on reset only.
	Quiet bool
	// Unforeseen says that Check cannot know the change before it is made.
	Unforeseen bool
	// Leaves says that reset does not bring everything back, by design.
	Leaves bool
	// Tolerated are kinds of effects whose failure is no error, by design.
	Tolerated []string
	// Names are texts of which every error must hold one; nil is the names of
	// the things that the step owns.
	Names []string

	t *testing.T // what Host is given
}

// Run holds the type to the contract in this case.
func Run(t *testing.T, c Case) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			c.t = t
			r.hold(c, t)
		})
	}
}

// rule is one sentence of the contract.
type rule struct {
	name string
	hold func(c Case, t testing.TB)
}

var rules = [...]rule{
	{"documented", Case.documented},
	{"plain data", Case.plainData},
	{"check writes nothing", Case.checkWritesNothing},
	{"apply then check is empty", Case.applyThenCheck},
	{"second apply changes nothing", Case.secondApply},
	{"reset restores", Case.resetRestores},
	{"reset from a claim", Case.resetFromClaim},
	{"cancelled", Case.cancelled},
	{"errors name the thing", Case.errorsName},
	{"shadow", Case.shadow},
}

func (c Case) args(t testing.TB) block.Args {
	args := Args(t, c.Type, c.Body)
	if c.Adjust != nil {
		c.Adjust(&args)
	}
	return args
}

func (c Case) step(t testing.TB) block.Step { return StepOf(t, c.Type, c.args(t)) }

func (c Case) stage() *Stage { return c.stageOn(c.Host(c.t)) }

func (c Case) stageOn(h host.Host) *Stage {
	s := NewStage(h)
	if c.Prepare != nil {
		c.Prepare(s)
	}
	return s
}

func (c Case) snapshot(t testing.TB, h host.Host) Tree {
	roots := c.Roots
	if roots == nil {
		roots = []string{"/"}
	}
	return Snapshot(t, h.Files, roots...)
}

func (c Case) checkWritesNothing(t testing.TB) {
	s, step := c.stage(), c.step(t)
	before := c.snapshot(t, s.Host)
	change := s.MustCheck(t, step)
	c.foreseen(t, change)
	if diff := c.snapshot(t, s.Host).Untouched(before); diff != "" {
		t.Errorf("checking changed the host:\n%s", diff)
	}
	if change.Needed() && change.Reason == "" {
		t.Error("the change has no reason")
	}
}

func (c Case) foreseen(t testing.TB, change block.Change) {
	t.Helper()
	switch {
	case c.Unforeseen != (change.Action == block.ActionUnknown):
		t.Errorf("check answers %s (%s), unforeseen is %v", change.Action, change.Reason, c.Unforeseen)
	case c.Quiet == change.Needed():
		t.Errorf("check answers %s (%s), quiet is %v", change.Action, change.Reason, c.Quiet)
	}
}

func (c Case) applyThenCheck(t testing.TB) {
	c.stage().MustApply(t, c.step(t))
}

func (c Case) secondApply(t testing.TB) {
	s, step := c.stage(), c.step(t)
	s.MustApply(t, step)
	before := c.snapshot(t, s.Host)
	fresh := step
	if !c.Unforeseen {
		fresh = c.step(t)
	}
	s.MustHold(t, fresh)
	if err := s.Apply(fresh); err != nil {
		t.Fatalf("second apply: %v", err)
	}
	if diff := c.snapshot(t, s.Host).Untouched(before); diff != "" && !c.Unforeseen {
		t.Errorf("a second apply changed the host:\n%s", diff)
	}
}

func (c Case) resetRestores(t testing.TB) {
	s, step := c.stage(), c.step(t)
	before := c.snapshot(t, s.Host)
	s.MustApply(t, step)
	for _, round := range []string{"reset", "second reset"} {
		s.MustReset(t, step)
		if diff := c.snapshot(t, s.Host).Restored(before); diff != "" && !c.Leaves {
			t.Fatalf("%s does not bring the host back:\n%s", round, diff)
		}
	}
	for _, o := range step.Owns() {
		found, err := o.Look(context.Background(), s.Host.View())
		if errors.Is(err, host.ErrUnknown) {
			continue // what cannot be looked at now was not touched
		}
		if origin := s.origins[o.Key()]; err != nil || origin.State != nil && !c.Leaves && !found.Same(*origin.State) {
			t.Errorf("%s is %+v after reset (%v), was %+v", o.Key(), found, err, origin.State)
		}
	}
}

func (c Case) resetFromClaim(t testing.TB) {
	s, args := c.stage(), c.args(t)
	before := c.snapshot(t, s.Host)
	s.MustApply(t, StepOf(t, c.Type, args))
	args.Assets = nil
	s.MustReset(t, c.reread(t, args, true))
	if diff := c.snapshot(t, s.Host).Restored(before); diff != "" && !c.Leaves {
		t.Errorf("reset by a step made from its claim does not bring the host back:\n%s", diff)
	}
}

func (c Case) cancelled(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, step := c.stage(), c.step(t)
	before := c.snapshot(t, s.Host)
	if _, err := step.Check(ctx, s.Do().Look); !errors.Is(err, context.Canceled) {
		t.Errorf("check goes on in a cancelled context: %v", err)
	}
	if err := s.capture(step); err != nil {
		t.Fatal(err)
	}
	if err := step.Apply(ctx, s.Do()); !errors.Is(err, context.Canceled) && !c.Quiet {
		t.Errorf("apply goes on in a cancelled context: %v", err)
	}
	if diff := c.snapshot(t, s.Host).Untouched(before); diff != "" {
		t.Errorf("a cancelled step changed the host:\n%s", diff)
	}
	if len(step.Owns()) == 0 {
		return
	}
	s.MustApply(t, step)
	if err := s.reset(ctx, step); !errors.Is(err, context.Canceled) {
		t.Errorf("reset goes on in a cancelled context: %v", err)
	}
}

// named says whether an error's text holds a name of the thing.
func (c Case) named(step block.Step, err error) bool {
	names := c.Names
	if names == nil {
		for _, o := range step.Owns() {
			names = append(names, o.Key().Name())
		}
	}
	for _, name := range names {
		if strings.Contains(err.Error(), name) {
			return true
		}
	}
	return false
}
