package interpreter_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/walk"
)

// meanwhile is a clock that lets something happen while a run sleeps, once it is
// set.
type meanwhile struct {
	host.Clock
	do func()
}

func (m *meanwhile) Sleep(ctx context.Context, d time.Duration) error {
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return m.Clock.Sleep(ctx, d)
}

// TestRepaveWaits: the command that waits tells what others decided.
func TestRepaveWaits(t *testing.T) {
	confirm := func(req *interpreter.Request) { req.Confirm = true }
	for name, c := range map[string]struct {
		others func(*rig)
		fails  string
		slot   string
	}{
		"confirmed":  {func(r *rig) { r.tune = confirm; r.must(repave, nothing); r.tune = nil }, "", "kube2"},
		"taken back": {func(r *rig) { previous(r); r.must(apply, nothing); r.tune = nil }, "taken back", "kube1"},
		"reset":      {func(r *rig) { r.must(reset, nothing) }, "nothing is installed", ""},
		"repaired":   {func(r *rig) { r.job(host.JobStop, "systemd-nspawn@kube2.service"); r.must(ensure, nothing) }, "not confirmed by", "kube1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newNode(t)
			req := r.request(slots(t, "release=2"))
			req.ConfirmWithin = time.Minute
			in := r.Interpreter()
			clock := &meanwhile{Clock: in.Host.Clock}
			in.Host.Clock = clock
			in.Emit = func(e walk.Event) {
				if e.Warning.Summary == "Waiting for confirmation" {
					clock.do = func() { c.others(r) }
				}
			}
			out, err := in.Repave(context.Background(), req)
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Fatalf("error %v, want %q", err, c.fails)
			}
			if (out.Word == "ok") != (err == nil) {
				t.Errorf("outcome %+v", out)
			}
			switch c.slot {
			case "":
				r.same(r.Before)
			case "kube2":
				r.runs("kube2", "release=2\n")
			default:
				r.runs("kube1", "release=1\n")
			}
		})
	}
}

// TestRepaveGoesBackInVain: a repave that fails says so, and what kept it from
// going back; ensure then does.
func TestRepaveGoesBackInVain(t *testing.T) {
	r := newNode(t)
	broken := errors.New("no bus")
	req := r.request(slots(t, "release=2", "ready=/never"))
	in := r.Interpreter()
	in.Emit = func(e walk.Event) {
		if e.Kind == walk.StepFinished && e.Err != nil {
			r.Refuse(memory.CallRegistered, broken)
		}
	}
	_, err := in.Repave(context.Background(), req)
	if err == nil || !strings.Contains(err.Error(), "file /never is not there") || !strings.Contains(err.Error(), "going back to what was applied failed too") || !errors.Is(err, broken) {
		t.Fatalf("error %v", err)
	}
	r.Refuse(memory.CallRegistered, nil)
	if s := r.status(); len(s.Warnings) != 1 || s.Phase != "complete" {
		t.Errorf("status %+v", s)
	}
	r.must(ensure, nothing)
	r.runs("kube1", "release=1\n")
}

// TestRepaveOffline: a host that does not run has no machines to move.
func TestRepaveOffline(t *testing.T) {
	opts := nodeHost(t)
	opts.Offline = true
	r := newRig(t, opts)
	r.must(apply, slots(t))
	if _, err := r.run(repave, slots(t)); err == nil || !strings.Contains(err.Error(), "this host does not run") {
		t.Errorf("error %v", err)
	}
}
