package thing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

// script is a sequence of states of one unit, each for one question; the last
// one stays.
type script struct {
	host.Units
	states []host.UnitState
	asked  int
	err    error
}

func (s *script) Unit(context.Context, string) (host.UnitState, error) {
	if s.err != nil {
		return host.UnitState{}, s.err
	}
	u := s.states[min(s.asked, len(s.states)-1)]
	s.asked++
	return u, nil
}

type stillClock struct{ slept time.Duration }

func (c *stillClock) Now() time.Time           { return time.Time{} }
func (c *stillClock) Monotonic() time.Duration { return c.slept }
func (c *stillClock) Sleep(ctx context.Context, d time.Duration) error {
	c.slept += d
	return ctx.Err()
}

func active(sub string) host.UnitState {
	return host.UnitState{Name: "a.service", Type: "simple", ActiveState: "active", SubState: sub}
}

func TestSettle(t *testing.T) {
	up := active("running")
	notify := up
	notify.Type = "notify"
	starting := host.UnitState{Type: "simple", ActiveState: "activating", SubState: "start"}
	again := up
	again.NRestarts = 1
	for name, c := range map[string]struct {
		states []host.UnitState
		waits  time.Duration
		rest   bool
	}{
		"at once":     {[]host.UnitState{up}, time.Second, true},
		"says itself": {[]host.UnitState{notify}, 300 * time.Millisecond, true},
		"late":        {[]host.UnitState{starting, starting, starting, up}, 1300 * time.Millisecond, true},
		"restarted":   {[]host.UnitState{up, up, again}, 1200 * time.Millisecond, true},
		"never":       {[]host.UnitState{starting}, 15 * time.Second, false},
	} {
		clock := &stillClock{}
		_, rest, err := thing.Settle(background, &script{states: c.states}, clock, "a.service")
		if err != nil || rest != c.rest || clock.slept != c.waits {
			t.Errorf("%s: rest %v after %s, %v; want %v after %s", name, rest, clock.slept, err, c.rest, c.waits)
		}
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	_, _, err := thing.Settle(ctx, &script{states: []host.UnitState{starting}}, &stillClock{}, "a.service")
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "activating, start") {
		t.Errorf("cancelled: %v", err)
	}
	if _, _, err := thing.Settle(background, &script{err: host.ErrNoManager}, &stillClock{}, "a.service"); !errors.Is(err, host.ErrNoManager) {
		t.Errorf("without a manager: %v", err)
	}
}

func TestJudge(t *testing.T) {
	oneshot := host.UnitState{Type: "oneshot", ActiveState: "inactive", Result: "success"}
	with := func(u host.UnitState, change func(*host.UnitState)) host.UnitState { change(&u); return u }
	for name, c := range map[string]struct {
		state   host.UnitState
		outcome thing.Outcome
		what    string
	}{
		"runs":          {state: active("running")},
		"reloading":     {state: host.UnitState{ActiveState: "reloading"}},
		"ran":           {state: with(oneshot, func(u *host.UnitState) { u.InactiveExit = 1 }), outcome: thing.Ran},
		"forgotten":     {state: oneshot, outcome: thing.Ran},
		"need not":      {state: with(oneshot, func(u *host.UnitState) { u.ConditionChecked = 1 }), outcome: thing.NotNeeded},
		"ExecCondition": {state: with(oneshot, func(u *host.UnitState) { u.Result = "exec-condition" }), outcome: thing.NotNeeded},
		"masked":        {state: host.UnitState{LoadState: "masked"}, what: "is masked"},
		"failed":        {state: host.UnitState{ActiveState: "failed", Result: "signal", ExecMainCode: 2, ExecMainStatus: 9}, what: "ended by signal 9"},
		"loop":          {state: host.UnitState{ActiveState: "activating", SubState: "auto-restart", NRestarts: 3, Result: "exit-code", ExecMainCode: 1, ExecMainStatus: 7}, what: "started over 3 times"},
		"on its way":    {state: host.UnitState{ActiveState: "activating", SubState: "start"}, what: "does not come to rest"},
		"condition":     {state: host.UnitState{Type: "simple", ActiveState: "inactive", ConditionChecked: 1}, what: "condition"},
		"ended":         {state: host.UnitState{Type: "simple", ActiveState: "inactive", Result: "success", InactiveExit: 1, ConditionChecked: 1, ConditionResult: true}, what: "ended by itself"},
		"stays active":  {state: with(oneshot, func(u *host.UnitState) { u.RemainAfterExit = true }), what: "forgotten which"},
	} {
		outcome, what := thing.Judge(c.state)
		if outcome != c.outcome || (c.what == "") != (what == "") || !strings.Contains(what, c.what) {
			t.Errorf("%s: %v %q, want %v %q", name, outcome, what, c.outcome, c.what)
		}
	}
}

// TestStoppedWithAJob: what is about to start is not stopped.
func TestStoppedWithAJob(t *testing.T) {
	for job, want := range map[string]bool{"": true, "stop": true, "start": false, "restart": false, "verify-active": true} {
		if got := thing.Stopped(host.UnitState{LoadState: "loaded", ActiveState: "inactive", JobType: job}); got != want {
			t.Errorf("job %q: stopped %v", job, got)
		}
	}
}

func TestStartedAndStopped(t *testing.T) {
	for state, want := range map[string][2]bool{
		"active": {true, false}, "activating": {true, false}, "inactive": {false, true}, "failed": {false, true}, "deactivating": {false, false},
	} {
		u := host.UnitState{ActiveState: state}
		if thing.Started(u) != want[0] || thing.Stopped(u) != want[1] {
			t.Errorf("%s: started %v, stopped %v", state, thing.Started(u), thing.Stopped(u))
		}
	}
	if thing.Started(host.UnitState{ActiveState: "activating", SubState: "auto-restart"}) {
		t.Error("one that fails over and over is not started")
	}
	if !thing.Stopped(host.UnitState{LoadState: "not-found"}) {
		t.Error("one that is not there is stopped")
	}
}

// TestJobFaults: the error of a job has what the unit logged.
func TestJobFaults(t *testing.T) {
	m := memory.New(memory.Options{
		Units:   []memory.Unit{{Name: "a.service", Content: "[Service]\nType=oneshot\nExecStart=/usr/bin/sleep 1\n"}},
		Scripts: map[string]memory.Script{"a.service": func(int) memory.Outcome { return memory.Outcome{Ends: true, Status: 3, Log: []string{"no port"}} }},
	})
	_, err := thing.Start(background, m.Host(), "a.service")
	job, isJob := errors.AsType[*host.JobError](err)
	unit, isUnit := errors.AsType[*thing.UnitError](err)
	if !isJob || job.Result != "failed" || !isUnit || unit.Unit != "a.service" || !slices.Contains(unit.Log, "no port") {
		t.Errorf("error %v", err)
	}
	if _, err := thing.Start(background, m.Host(), "gone.service"); !errors.Is(err, host.ErrNoUnit) {
		t.Errorf("a unit that is not there: %v", err)
	}
	if err := thing.Stop(background, m.Host(), "gone.service"); err != nil {
		t.Errorf("stop of a unit that is not there: %v", err)
	}
	if err := thing.Stop(background, memory.New(memory.Options{Offline: true}).Host(), "a.service"); err != nil {
		t.Errorf("stop without a manager: %v", err)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := thing.Start(ctx, m.Host(), "a.service"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// queued has a start job for one unit.
type queued struct {
	host.Units
	unit string
}

func (q *queued) Unit(ctx context.Context, name string) (host.UnitState, error) {
	u, err := q.Units.Unit(ctx, name)
	if name == q.unit {
		u.JobType = "start"
	}
	return u, err
}

func TestWaitsFor(t *testing.T) {
	files := map[string]memory.File{
		vendor + "own.service":    {Content: "[Service]\nExecStart=/usr/bin/sleep infinity\n"},
		vendor + "direct.service": {Content: "[Unit]\nAfter=own.service\n"},
		vendor + "one.target":     {Content: "[Unit]\nAfter=two.target\n"},
		vendor + "two.target":     {Content: "[Unit]\nAfter=one.target own.service\n"},
		vendor + "far.service":    {Content: "[Unit]\nAfter=one.target\n"},
		vendor + "free.service":   {Content: "[Unit]\nAfter=basic.target direct.service\n"},
	}
	h := memory.New(memory.Options{Files: files}).Host()
	for unit, want := range map[string]bool{"own": true, "direct": true, "far": true, "free": false} {
		u, err := h.Units.Unit(background, unit+".service")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := thing.WaitsFor(background, h.Units, u, "own.service"); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", unit, got, err, want)
		}
		if got, err := thing.WaitsFor(background, h.Units, u, ""); err != nil || got {
			t.Errorf("%s: waits for nothing, %v", unit, err)
		}
	}
	if err := h.Units.Run(background, host.JobStart, "one.target"); err != nil {
		t.Fatal(err)
	}
	u, err := h.Units.Unit(background, "far.service")
	if got, err2 := thing.WaitsFor(background, h.Units, u, "own.service"); err != nil || err2 != nil || got {
		t.Errorf("a target that is reached holds nobody up: %v, %v, %v", got, err, err2)
	}
	// A unit that is on its turn after ours holds up those after it.
	between := &queued{h.Units, "direct.service"}
	free, err := h.Units.Unit(background, "free.service")
	if got, err2 := thing.WaitsFor(background, between, free, "own.service"); err != nil || err2 != nil || !got {
		t.Errorf("after a unit that waits: %v, %v, %v", got, err, err2)
	}
	failing := &script{err: fmt.Errorf("gone")}
	if _, err := thing.WaitsFor(background, failing, u, "own.service"); err == nil {
		t.Error("a question that fails must be an error")
	}
}
