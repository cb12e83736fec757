package interpreter_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

// TestR050Resetting: nothing but reset is admitted.
func TestR050Resetting(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	r.Plan = fault.FailAt(1, syscall.EBUSY).Only(func(e fault.Effect) bool { return e.Kind == "remove" && e.Name == "/etc/x" })
	fails[*walk.StepError](r, reset, nothing)
	before := r.Standing()
	for _, do := range []verb{apply, ensure, adopt, plan} {
		fails[*record.RefusedError](r, do, a(one), "a reset of this host is not finished")
	}
	r.same(before)
	if s := r.status(); s.Phase != "resetting" || len(s.Drift) > 0 {
		t.Errorf("status %+v", s)
	}
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestR051Unreadable: a record that cannot be read refuses all but reset.
func TestR051Unreadable(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "cut": "{\"schema_version\": 1, \"pha", "no phase": "{\"schema_version\": 1}", "another program's": "{\"version\": 4}"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, memory.Options{})
			r.must(apply, a(one))
			r.put(record.File, text)
			before := r.Standing()
			for _, do := range []verb{apply, ensure, adopt, plan} {
				fails[*record.RefusedError](r, do, a(two), "who owns this host cannot be told", "run hostler reset")
			}
			r.same(before)
			if s := r.status(); s.Phase != "unreadable" || s.Unreadable == "" {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// TestC74Newer: what a newer release wrote is refused by every verb that
// changes the host, reset too, with the record whole or gone.
func TestC74Newer(t *testing.T) {
	newer := func(r *rig, name string) {
		text := r.read(name)
		r.put(name, strings.ReplaceAll(strings.ReplaceAll(text, `"type_version": 1`, `"type_version": 99`), `"type_version":1`, `"type_version":99`))
	}
	for name, spoil := range map[string]func(*rig){
		"schema": func(r *rig) {
			r.put(record.File, strings.Replace(r.read(record.File), `"schema_version": 1`, `"schema_version": 2`, 1))
		},
		"claims": func(r *rig) { newer(r, record.File) },
		"unknown type": func(r *rig) {
			r.put(record.File, strings.ReplaceAll(r.read(record.File), `"write_file_if_changed"`, `"write_hologram"`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, memory.Options{})
			r.must(apply, a(one))
			spoil(r)
			before := r.Standing()
			for _, do := range []verb{apply, ensure, reset, adopt} {
				fails[*record.RefusedError](r, do, a(one), "newer release", "nothing was changed")
			}
			r.same(before)
			s := r.status()
			if s.Phase != "unreadable" || !strings.Contains(s.Unreadable, "newer release") {
				t.Errorf("status %+v", s)
			}
			if name != "schema" && s.Identity.Recipe != "site" { // it says what it can
				t.Errorf("identity %+v", s.Identity)
			}
		})
	}
}

// TestNewerState: so is a state with steps of a newer release, before anything
// is touched.
func TestNewerState(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	st, err := r.Store().LoadState(context.Background(), r.record().Applied)
	r.ok(err)
	st.Steps[0].TypeVersion = 99
	name, err := r.Store().SaveState(context.Background(), *st, nil)
	r.ok(err)
	rec := r.record()
	rec.Applied, rec.Target = name, name
	r.ok(r.Store().Save(context.Background(), rec))
	before := r.Standing()
	for _, do := range []verb{apply, ensure} {
		fails[*block.NewerError](r, do, a(two), "newer release")
	}
	r.same(before)
	r.remove(record.File)
	fails[*record.RefusedError](r, reset, nothing, "newer release", "nothing was changed")
}

// TestDamagedState: what was applied cannot be read: ensure says what to do,
// and apply does it.
func TestDamagedState(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	name := record.StateDir + "/" + strings.TrimPrefix(r.record().Applied, "sha256:") + ".json"
	r.put(name, "{}")
	if _, err := r.run(ensure, nothing); err == nil || !strings.Contains(err.Error(), "give the recipe again with hostler apply") {
		t.Errorf("error %v", err)
	}
	if s := r.status(); s.Phase != "complete" || len(s.Warnings) != 1 {
		t.Errorf("status %+v", s)
	}
	out := r.must(apply, a(two))
	if len(out.Warnings) != 1 || out.Warnings[0].Summary != "Earlier state not readable" {
		t.Errorf("warnings %v", out.Warnings)
	}
	r.must(ensure, nothing)
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestLockHeld: a lock that is held refuses at once, or is waited for (R035,
// H14); reading goes on, provisionally.
func TestLockHeld(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	release, err := r.Host().Locks.Acquire(context.Background(), host.LockExclusive, host.Holder{PID: 42, Command: "hostler apply"})
	r.ok(err)
	for _, do := range []verb{apply, ensure, reset} {
		e := fails[*host.HeldError](r, do, a(two))
		if e.Holder == nil || e.Holder.PID != 42 {
			t.Errorf("holder %+v", e.Holder)
		}
	}
	r.tune = func(req *interpreter.Request) { req.Wait = 2 * time.Second }
	began := r.Host().Clock.Now()
	fails[*host.HeldError](r, ensure, nothing)
	if waited := r.Host().Clock.Now().Sub(began); waited < 2*time.Second || waited > 3*time.Second {
		t.Errorf("waited %s", waited)
	}
	r.tune = nil
	if out := r.must(plan, a(two)); out.Provisional == nil || out.Provisional.Holder.PID != 42 {
		t.Errorf("provisional %v", out.Provisional)
	}
	if s := r.status(); s.Provisional == nil {
		t.Error("status is not provisional")
	}
	r.ok(release())
	if out := r.must(plan, a(two)); out.Provisional != nil {
		t.Error("the plan is provisional without need")
	}
	r.must(apply, a(two))
}
