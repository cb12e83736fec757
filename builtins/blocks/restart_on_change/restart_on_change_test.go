package restartonchange

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func TestContract(t *testing.T) {
	for name, o := range map[string]memory.Options{"live": running(stays), "offline": {Offline: true}} {
		t.Run(name, func(t *testing.T) {
			blocktest.Run(t, blocktest.Case{
				Type: Type(), Body: body, Quiet: true, Names: []string{"a.service"},
				Host: func(*testing.T) host.Host { return memory.New(o).Host() },
			})
		})
	}
}

// TestR068: an identical retry owes nothing and restarts nothing.
func TestR068NothingOwed(t *testing.T) {
	s := newScene(t, running(stays))
	if change := s.check(body); change.Needed() || change.Deferred != nil {
		t.Errorf("change %+v", change)
	}
	must(t, s.apply(body))
	s.wantJobs()
}

// TestR070: many changes are one restart, with every cause named (R069, R070,
// and C27's first half).
func TestC27OneRestartForManyChanges(t *testing.T) {
	s := newScene(t, running(stays))
	before := s.unit().InvocationID
	s.owe("write_file_if_changed.x", "content differs")
	s.owe("systemd_unit.y", "the unit file differs")
	s.debts = append(s.debts, s.debts[0])
	change := s.check(body)
	want := "write_file_if_changed.x changed (content differs); systemd_unit.y changed (the unit file differs)"
	if change.Action != block.ActionRestart || change.Reason != want || change.Bytes {
		t.Errorf("change %+v", change)
	}
	must(t, s.apply(body))
	s.wantJobs("reset-failed", "restart")
	if s.unit().InvocationID == before {
		t.Error("it was not restarted")
	}
	if change := s.check(body); change.Needed() {
		t.Errorf("debts that are paid still count: %+v", change)
	}
	must(t, s.apply(body))
	s.wantJobs()
}

// TestC27StartLimit: a unit that hit its start limit is cleared, restarted, and
// the run says so.
func TestC27StartLimitHit(t *testing.T) {
	broken := false
	s := newScene(t, memory.Options{
		Units: []memory.Unit{{Name: "a.service", Running: true,
			Content: "[Unit]\nStartLimitBurst=2\nStartLimitIntervalSec=120\n[Service]\nExecStart=/usr/bin/sleep infinity\nRestart=on-failure\n"}},
		Scripts: map[string]memory.Script{"a.service": func(int) memory.Outcome {
			return memory.Outcome{Ends: broken, After: 10 * time.Millisecond, Status: 1, Log: []string{"bad configuration"}}
		}},
	})
	s.owe("write_file_if_changed.x", "content differs")
	broken = true
	err := s.apply(body)
	if err == nil || !strings.Contains(err.Error(), "a.service") || s.unit().Result != "start-limit-hit" {
		t.Fatalf("error %v, result %q", err, s.unit().Result)
	}
	if change := s.check(body); change.Action != block.ActionRestart {
		t.Errorf("the debt stands after a restart that failed: %+v", change)
	}
	if change := s.check(body + "action = \"try-restart\"\n"); change.Needed() {
		t.Errorf("try-restart leaves a failed unit alone: %+v", change)
	}
	broken, *s.jobs = false, nil
	must(t, s.apply(body))
	s.wantJobs("reset-failed", "restart")
	if !s.unit().Running() || len(s.warns) != 1 || !strings.Contains(s.warns[0].Detail, "start-limit-hit") {
		t.Errorf("running %v, warnings %v", s.unit().Running(), s.warns)
	}
}

// TestC28: a debt of an earlier run is paid although nothing changes now.
func TestC28DebtOfAnEarlierRun(t *testing.T) {
	s := newScene(t, running(stays))
	s.owe("write_file_if_changed.x", "content differs")
	s.m.Crash()
	s.h = s.m.Host()
	s.h.Units = noting{s.h.Units, s.jobs}
	if change := s.check(body); change.Action != block.ActionRestart {
		t.Errorf("change %+v", change)
	}
	must(t, s.apply(body))
	s.wantJobs("reset-failed", "restart")
}

// TestR071: debts are void when the unit does not run or has started since.
func TestR071Void(t *testing.T) {
	s := newScene(t, running(stays))
	s.owe("write_file_if_changed.x", "")
	owed := s.debts
	must(t, s.h.Units.Run(background, host.JobStop, "a.service"))
	if change := s.check(body); change.Needed() {
		t.Errorf("it does not run: %+v", change)
	}
	must(t, s.h.Units.Run(background, host.JobStart, "a.service"))
	if change := s.check(body); change.Needed() {
		t.Errorf("it has started since: %+v", change)
	}

	unsure := owed[0]
	unsure.InPlace = 0
	s.debts = []block.Debt{unsure}
	if change := s.check(body); change.Action != block.ActionRestart {
		t.Errorf("in doubt it is restarted: %+v", change)
	}
	same := owed[0]
	same.Invocation = s.unit().InvocationID
	s.debts = []block.Debt{same}
	if change := s.check(body); change.Action != block.ActionRestart {
		t.Errorf("the same run owes it: %+v", change)
	}
	early := block.Debt{Cause: "x", Unit: "a.service", InPlace: s.h.Clock.Monotonic() + time.Hour}
	s.debts = []block.Debt{early}
	if change := s.check(body); change.Action != block.ActionRestart {
		t.Errorf("a run that began before the change was in place owes it: %+v", change)
	}
}

// TestR067: a unit keeps running when what is watched has not changed.
func TestR067KeepsRunning(t *testing.T) {
	s := newScene(t, running(stays))
	pid := s.unit().MainPID
	must(t, s.apply(body))
	if s.unit().MainPID != pid {
		t.Error("it has another process")
	}
}

func TestC31StartingSystem(t *testing.T) {
	o := running(stays)
	o.Units = append(o.Units, memory.Unit{Name: "bad.service", Content: "[Service]\nType=oneshot\nExecStart=/usr/bin/false\n"})
	s := newScene(t, o)
	if err := s.h.Units.Run(background, host.JobStart, "bad.service"); err == nil {
		t.Fatal("the dummy did not fail")
	}
	*s.jobs = nil
	s.owe("write_file_if_changed.x", "")
	must(t, s.apply(body))
	s.wantJobs("reset-failed", "restart")
}

func TestReload(t *testing.T) {
	s := newScene(t, running(stays))
	s.owe("write_file_if_changed.x", "")
	before := s.unit().InvocationID
	must(t, s.apply(body+"action = \"reload\"\n"))
	s.wantJobs("reload")
	if s.unit().InvocationID != before {
		t.Error("a reload began a new run")
	}
}

// TestValidate: a command that fails leaves the unit running and the debt
// unpaid.
func TestValidate(t *testing.T) {
	s := newScene(t, running(stays))
	s.owe("write_file_if_changed.x", "")
	err := s.apply(body + "validate = [\"false\", \"--check\"]\n")
	if _, exited := errors.AsType[*host.ExitError](err); !exited || !strings.Contains(err.Error(), "a.service is not restarted") {
		t.Errorf("error %v", err)
	}
	err = s.apply(body + "validate = [\"no-such-tool\"]\n")
	if !errors.Is(err, host.ErrNoTool) {
		t.Errorf("error %v", err)
	}
	s.wantJobs()
	must(t, s.apply(body+"validate = [\"true\"]\n"))
	s.wantJobs("reset-failed", "restart")
}

func TestRestartThatDoesNotHold(t *testing.T) {
	s := newScene(t, running(func(n int) memory.Outcome {
		return memory.Outcome{Ends: n > 1, After: 300 * time.Millisecond, Status: 2, Log: []string{"bad configuration"}}
	}))
	s.owe("write_file_if_changed.x", "")
	err := s.apply(body)
	if err == nil || !strings.Contains(err.Error(), "bad configuration") || !strings.Contains(err.Error(), "status 2") {
		t.Errorf("error %v", err)
	}
}

func TestR073OnlyWatchedSteps(t *testing.T) {
	step := blocktest.Step(t, Type(), body)
	addresses, unit := step.(block.Watcher).Watches()
	if !slices.Equal(addresses, []string{"write_file_if_changed.x", "systemd_unit.y"}) || unit != "a.service" {
		t.Errorf("%q %s", addresses, unit)
	}
}

func TestOffline(t *testing.T) {
	s := newScene(t, memory.Options{Offline: true})
	s.debts = []block.Debt{{Cause: "write_file_if_changed.x", Reason: "content differs", Unit: "a.service"}}
	change := s.check(body)
	want := []string{"a.service gets it at next boot: write_file_if_changed.x changed (content differs)"}
	if change.Needed() || !slices.Equal(change.Deferred, want) {
		t.Errorf("change %+v", change)
	}
	must(t, s.apply(body))
}

// TestC30: a restart of the unit we run in, or of one that waits for it, is
// queued.
func TestC30OwnUnit(t *testing.T) {
	s := newScene(t, running(stays))
	s.owe("write_file_if_changed.x", "")
	s.own = "a.service"
	must(t, s.apply(body))
	s.wantJobs("reset-failed", "queue restart")
	if len(s.warns) != 1 {
		t.Errorf("warnings %v", s.warns)
	}
}

// stuck answers questions about units with an error or a state.
type stuck struct {
	host.Units
	err   error
	state host.UnitState
}

func (s stuck) Unit(context.Context, string) (host.UnitState, error) { return s.state, s.err }

func TestUnknownAndErrors(t *testing.T) {
	s := newScene(t, running(stays))
	s.debts = []block.Debt{{Cause: "x", Unit: "a.service"}}
	s.h.Units = stuck{err: host.Unknownf("the image is not unpacked yet")}
	if change := s.check(body); change.Action != block.ActionUnknown || change.Reason != "the image is not unpacked yet" {
		t.Errorf("change %+v", change)
	}
	s.h.Units = stuck{err: errors.New("no reply")}
	for _, err := range []error{s.apply(body), second(blocktest.Step(t, Type(), body).Check(background, s.look()))} {
		if err == nil || err.Error() != "a.service: no reply" {
			t.Errorf("error %v", err)
		}
	}
	s.h.Units = stuck{state: host.UnitState{ActiveState: "deactivating", JobType: "restart"}}
	if change := s.check(body); change.Action != block.ActionRestart {
		t.Errorf("a restart under way may have read old files: %+v", change)
	}
	s.h.Units = stuck{state: host.UnitState{ActiveState: "deactivating", JobType: "stop"}}
	if change := s.check(body); change.Needed() {
		t.Errorf("one that is being stopped: %+v", change)
	}
}

func second(_ block.Change, err error) error { return err }

func TestFaults(t *testing.T) {
	watch := "watch = [\"a.b\"]\n"
	for body, want := range map[string]string{
		watch:                                "does not end in a unit type",
		"name = \"a.service\"\nwatch = []\n": "Nothing to watch",
		"name = \"a@.service\"\n" + watch:    "Restart of a template",
		"name = \"a.service\"\naction = \"stop\"\n" + watch: "none of the values",
		"name = \"a.service\"\nvalidate = []\n" + watch:     "command line is a list",
	} {
		if got := blocktest.Faults(Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s\n gives: %s\n want:  %s", body, got, want)
		}
	}
}

// TestR069: of two units only the one that owes a restart gets it; R070, the
// order, is that of the recipe.
func TestR069OnlyTheUnitThatOwes(t *testing.T) {
	o := running(stays)
	o.Units = append(o.Units, memory.Unit{Name: "other.service", Content: o.Units[0].Content, Running: true})
	s := newScene(t, o)
	s.owe("write_file_if_changed.labels", "content differs")
	other, err := s.h.Units.Unit(background, "other.service")
	must(t, err)
	must(t, s.apply(body))
	s.debts = nil
	must(t, s.apply("name = \"other.service\"\nwatch = [\"write_file_if_changed.z\"]\n"))
	s.wantJobs("reset-failed", "restart")
	if after, err := s.h.Units.Unit(background, "other.service"); err != nil || after.InvocationID != other.InvocationID {
		t.Errorf("the other unit was restarted too, %v", err)
	}
}
