package blocktest

import (
	"errors"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/shadow"
)

// maxFaults bounds how many effects of one step are made to fail.
const maxFaults = 60

// errorsName makes every effect fail once, of applying and of resetting: each
// error names the thing, nothing temporary is left, and doing it again without
// the fault works.
func (c Case) errorsName(t testing.TB) {
	step := c.step(t)
	c.eachFault(t, "apply", func(s *Stage) {}, func(s *Stage) error { return s.Apply(step) }, func(s *Stage) { s.MustApply(t, step) })
	if len(step.Owns()) == 0 {
		return
	}
	c.eachFault(t, "reset", func(s *Stage) { s.MustApply(t, step) }, func(s *Stage) error { return s.Reset(step) }, func(s *Stage) { s.MustReset(t, step) })
}

// eachFault runs act once for every effect it has, with that one failing, and
// then again without a fault.
func (c Case) eachFault(t testing.TB, verb string, before func(*Stage), act func(*Stage) error, again func(*Stage)) {
	step := c.step(t)
	for n := 1; n <= maxFaults; n++ {
		h := c.Host(c.t)
		s := c.stageOn(h)
		before(s)
		plan := fault.FailAt(n, syscall.EIO)
		s.Host = fault.Wrap(h, plan)
		err := act(s)
		log := plan.Log()
		if len(log) < n {
			return
		}
		s.Host = h
		switch {
		case err == nil && slices.Contains(c.Tolerated, log[n-1].Kind):
		case err == nil:
			t.Errorf("%s: effect %s fails and there is no error", verb, log[n-1])
		case !c.named(step, err):
			t.Errorf("%s: effect %s fails and the error does not name the thing: %v", verb, log[n-1], err)
		}
		if failed := log[n-1]; failed.Kind != "remove" || !host.IsTemporary(failed.Name) {
			c.noLitter(t, h)
		}
		again(s)
	}
}

func (c Case) noLitter(t testing.TB, h host.Host) {
	t.Helper()
	for name := range c.snapshot(t, h) {
		if host.IsTemporary(name) {
			t.Errorf("a temporary file is left: %s", name)
		}
	}
}

// shadow checks and applies the step on a shadow: the answers are those of the
// host, which stays as it is.
func (c Case) shadow(t testing.TB) {
	real, step := c.stage(), c.step(t)
	before := c.snapshot(t, real.Host)
	want := real.MustCheck(t, step)
	over := c.stageOn(shadow.Over(real.Host.View()).Host())
	got := over.MustCheck(t, step)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("on a shadow, check answers otherwise (-host +shadow):\n%s", diff)
	}
	err := over.Apply(step)
	switch {
	case errors.Is(err, host.ErrUnknown):
	case err != nil:
		t.Errorf("apply on a shadow: %v", err)
	default:
		if after := over.MustCheck(t, step); after.Needed() && after.Action != block.ActionUnknown {
			t.Errorf("after apply on a shadow there is still something to do: %s (%s)", after.Action, after.Reason)
		}
	}
	if diff := c.snapshot(t, real.Host).Untouched(before); diff != "" {
		t.Errorf("a shadow changed the host below it:\n%s", diff)
	}
}
