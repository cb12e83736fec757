package walk_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/walk"
)

// slept is a clock that notes how long was waited.
type slept struct {
	host.Clock
	waits *[]time.Duration
}

func (s slept) Sleep(ctx context.Context, d time.Duration) error {
	*s.waits = append(*s.waits, d)
	return s.Clock.Sleep(ctx, d)
}

// TestRetry: passing faults of the classes that the block documents are tried
// again, waiting twice as long each time, up to a limit; others are not.
func TestRetry(t *testing.T) {
	const body = "act \"a\" {\n retry {\n  attempts = 5\n  delay = \"1s\"\n  max_delay = \"3s\"\n }\n}\n"
	for name, c := range map[string]struct {
		err   error
		fails int // how often it fails
		tries int
		waits []time.Duration
		words string // of the error
	}{
		"busy, then done":  {err: errBusy, fails: 3, tries: 4, waits: []time.Duration{1e9, 2e9, 3e9}},
		"busy for ever":    {err: errBusy, fails: 9, tries: 5, waits: []time.Duration{1e9, 2e9, 3e9, 3e9}, words: "it is busy"},
		"another class":    {err: &block.PassingError{Class: block.FaultNetwork, Err: errors.New("no network")}, fails: 9, tries: 1, words: "no network"},
		"no passing fault": {err: errors.New("wrong"), fails: 9, tries: 1, words: "not done, and changing that failed: wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			a, tries := once()
			a.retryable = []block.FaultClass{block.FaultBusy}
			done := a.apply
			failed := 0
			a.apply = func(ctx context.Context, label string, in block.Do) error {
				if failed < c.fails {
					failed++
					*tries++
					return c.err
				}
				return done(ctx, label, in)
			}
			s := newScene(t, memory.Options{})
			s.extra = []*block.Type{a.blockType()}
			var waits []time.Duration
			s.wrap = func(h host.Host) host.Host { h.Clock = slept{h.Clock, &waits}; return h }
			_, err := s.try(body)
			if *tries != c.tries || len(waits) != len(c.waits) {
				t.Errorf("%d tries, waits %v", *tries, waits)
			}
			for i := range min(len(waits), len(c.waits)) {
				if waits[i] != c.waits[i] {
					t.Errorf("waits %v, want %v", waits, c.waits)
				}
			}
			if (err != nil) != (c.words != "") || err != nil && !strings.Contains(err.Error(), c.words) {
				t.Errorf("error %v", err)
			}
			if got := len(s.warned()); got != len(c.waits) {
				t.Errorf("warnings %q", s.warned())
			}
		})
	}
}

// TestTimeout: a step has so much time as a whole, waits between tries
// included, and what was wrong is still said.
func TestTimeout(t *testing.T) {
	a, _ := once()
	a.retryable = []block.FaultClass{block.FaultBusy}
	a.apply = func(ctx context.Context, label string, in block.Do) error {
		if label == "waits" {
			<-ctx.Done()
			return ctx.Err()
		}
		<-ctx.Done()
		return errBusy
	}
	s := newScene(t, memory.Options{})
	s.extra = []*block.Type{a.blockType()}
	err := s.fails("act \"waits\" { timeout = \"20ms\" }\nact \"later\" {}\n", "act.waits: not done within its timeout of 20ms")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	s.fails("act \"tries\" {\n timeout = \"20ms\"\n retry {\n  attempts = 9\n  delay = \"1s\"\n }\n}\n", "not done within its timeout of 20ms", "it is busy")
}

// TestEvents: steps and stages are told in order; a step that needs nothing
// does not start.
func TestEvents(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.put("/etc/same", "x")
	s.drive("stage \"one\" {\n" + file("same", "/etc/same", "x", "") + file("new", "/etc/new", "x", "") + "}\n" + file("last", "/etc/last", "x", ""))
	var got []string
	for _, e := range s.events {
		got = append(got, strings.TrimSpace(string(e.Kind)+" "+e.Stage+" "+e.Address))
		if e.Time.IsZero() {
			t.Errorf("event without a time: %+v", e)
		}
	}
	s.list(got, "stage_started one", "step_finished one write_file_if_changed.same", "step_started one write_file_if_changed.new",
		"step_finished one write_file_if_changed.new", "step_started  write_file_if_changed.last", "step_finished  write_file_if_changed.last")
}

// TestFirstFaultStops: nothing after it runs, and the error names the step.
func TestFirstFaultStops(t *testing.T) {
	a, _ := once()
	a.apply = func(context.Context, string, block.Do) error { return errors.New("wrong") }
	s := newScene(t, memory.Options{})
	s.extra = []*block.Type{a.blockType()}
	err := s.fails("stage \"s\" {\n" + file("a", "/etc/a", "1", "") + "act \"b\" {}\n" + file("c", "/etc/c", "1", "") + "}\n")
	step, ok := errors.AsType[*walk.StepError](err)
	if !ok || step.Address != "act.b" || step.Stage != "s" {
		t.Errorf("error %#v", err)
	}
	s.want("/etc/a", "1")
	s.want("/etc/c", "(absent)")
	last := s.events[len(s.events)-1]
	if last.Err == nil || last.Address != "act.b" {
		t.Errorf("last event %+v", last)
	}
}

// TestStillDiffers: a step that was done and still differs has failed.
func TestStillDiffers(t *testing.T) {
	a := &acts{
		check: func(string) (block.Change, error) {
			return block.Change{Action: block.ActionRun, Reason: "never right"}, nil
		},
		apply: func(context.Context, string, block.Do) error { return nil },
	}
	s := newScene(t, memory.Options{})
	s.extra = []*block.Type{a.blockType()}
	s.fails("act \"a\" {}\n", "act.a", "still differs: run (never right)")
}

// TestUnmetWarning: a requirement with severity warning stops nothing at its
// place.
func TestUnmetWarning(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive("require_capability \"x\" {\n executable = \"nothing-here\"\n severity = \"warning\"\n}\n" + file("a", "/etc/a", "1", ""))
	if got := s.warned(); len(got) != 1 || !strings.Contains(got[0], "nothing-here") {
		t.Errorf("warnings %q", got)
	}
	s.want("/etc/a", "1")
	s.fails("require_capability \"x\" { executable = \"nothing-here\" }\n", "nothing-here")
}

// TestAsked: a program that says whether there is anything to do is asked on
// the running host, so that a step with nothing to do changes nothing.
func TestAsked(t *testing.T) {
	exit := 0
	s := newScene(t, memory.Options{
		Executables: []string{"guard", "work"},
		Programs: map[string]memory.Program{
			"guard": func(memory.Invocation) host.CommandResult { return host.CommandResult{ExitCode: exit} },
			"work":  func(memory.Invocation) host.CommandResult { exit = 0; return host.CommandResult{} },
		},
	})
	const body = "command \"c\" {\n argv = [\"work\"]\n unless = [\"guard\"]\n}\n"
	if result := s.drive(body); result.Changed != 0 || s.place("command", "work") >= 0 {
		t.Errorf("result %+v, %v", result, s.plan.Log())
	}
	exit = 1
	if result := s.foresee(body); result.Changed != 1 || s.did()[0] != "unknown command.c" {
		t.Errorf("foreseen %v", s.did())
	}
	if result := s.drive(body); result.Changed != 1 || s.place("command", "work") < 0 {
		t.Errorf("result %+v, %v", result, s.plan.Log())
	}
}

// TestUnknownTaints: what cannot be foreseen makes unknown only what depends
// on it.
func TestUnknownTaints(t *testing.T) {
	s := newScene(t, memory.Options{
		Executables: []string{"work"},
		Units:       []memory.Unit{{Name: "theirs.service", Running: true}, {Name: "stopped.service"}},
	})
	body := "command \"c\" { argv = [\"work\"] }\n" + file("f", "/etc/f", "1", "") +
		"restart_on_change \"theirs.service\" { watch = [command.c] }\n" +
		"restart_on_change \"stopped.service\" { watch = [command.c] }\n"
	s.foresee(body)
	s.list(s.did(), "unknown command.c", "create write_file_if_changed.f", "unknown restart_on_change[\"theirs.service\"]")
	before := s.unit("theirs.service").InvocationID
	s.drive(body)
	s.list(s.did(), "unknown command.c", "create write_file_if_changed.f", "restart restart_on_change[\"theirs.service\"]")
	if s.unit("theirs.service").InvocationID == before || s.unit("stopped.service").Running() {
		t.Error("in doubt a unit that runs is restarted, and no other")
	}
}

// TestOfflineDefers: what cannot be known on a host that does not run waits
// for the first run on the running one.
func TestOfflineDefers(t *testing.T) {
	s := newScene(t, memory.Options{Offline: true, Executables: []string{"work"}})
	result := s.drive("command \"c\" { argv = [\"work\"] }\n" + file("f", "/etc/f", "1", ""))
	if !result.Deferred || result.Changed != 1 {
		t.Errorf("result %+v", result)
	}
	s.want("/etc/f", "1")
}
