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
	"hostler/interpreter/record"
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

// TestRepaveWorker: a worker of a whole site moves to its other slot and back.
func TestRepaveWorker(t *testing.T) {
	s := shippedAs(t, "../examples/two-slots")
	opts := s.opts(t)
	opts.Files["/srv/node2.tar"] = opts.Files["/srv/node.tar"]
	r := newRig(t, opts)
	r.must(apply, s.v1)
	running := func(slot string) {
		t.Helper()
		all, err := r.Host().Machines.Registered(context.Background())
		if err != nil || len(all) != 1 || all[0].Name != slot {
			t.Errorf("registered are %+v (%v), want %s", all, err, slot)
		}
	}
	running("kube1")
	moved := s.v1
	moved.vars = []string{exampleToken, "rootfs_image=/srv/node2.tar"}
	fails[*record.RefusedError](r, apply, moved, "hostler repave")
	r.must(repave, moved)
	running("kube2")
	r.quiet(moved)
	r.must(repave, s.v1)
	running("kube1")
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestRepaveInterruptedByHand: who interrupts a repave gets the old machine back.
func TestRepaveInterruptedByHand(t *testing.T) {
	r := newNode(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	in := r.Interpreter()
	in.Emit = func(e walk.Event) {
		if e.Kind == walk.StepFinished && e.Stage == "node/after_stop" {
			cancel()
		}
	}
	if _, err := in.Repave(ctx, r.request(slots(t, "release=2"))); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the host is back") {
		t.Errorf("error %v", err)
	}
	r.runs("kube1", "release=1\n")
}

// TestRepavePlanIsRepave: what a plan foresees is what is done, in that order,
// up to where the new machine is ready.
func TestRepavePlanIsRepave(t *testing.T) {
	r := newNode(t)
	finished := func() (all []string) {
		for _, e := range r.Events {
			if e.Kind == walk.StepFinished {
				all = append(all, string(e.Change.Action)+" "+e.Address)
			}
		}
		return all
	}
	moved := slots(t, "release=2", "image=/srv/two.tar")
	r.must(planRepave, moved)
	foreseen := finished()
	r.must(repave, moved)
	done := finished()
	if len(done) < len(foreseen) || len(foreseen) == 0 {
		t.Fatalf("foreseen %q, done %q", foreseen, done)
	}
	for i, want := range foreseen {
		action, address, _ := strings.Cut(want, " ")
		if got := done[i]; got != want && !(action == "unknown" && strings.HasSuffix(got, " "+address)) {
			t.Errorf("%d: foreseen %s, done %s", i, want, got)
		}
	}
}

// TestRepaveTrialStopsTheOld: an old machine that somebody starts during the
// trial is stopped again, with what follows its stop.
func TestRepaveTrialStopsTheOld(t *testing.T) {
	r := trying(t)
	r.want("/run/stopped", "kube1\n")
	r.job(host.JobStop, "systemd-nspawn@kube2.service")
	r.job(host.JobStart, "systemd-nspawn@kube1.service")
	r.must(ensure, nothing)
	r.want("/run/stopped", "kube1\nkube1\n")
	r.tune = func(req *interpreter.Request) { req.Confirm = true }
	r.must(repave, nothing)
	r.runs("kube2", "release=2\n")
}
