package interpreter_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/record"
	"hostler/interpreter/rehearse/laws"
	"hostler/interpreter/walk"
)

// single is the recipe with two slots, with one.
func single(t testing.TB, vars ...string) given {
	t.Helper()
	return given{recipe: recipeFile(t, "slots.hcl", `slots      = ["kube1", "kube2"]`, `name       = "kube1"`), vars: vars}
}

// TestRepaveInPlace: without a second slot the machine is taken away and built
// where it was, by an ordinary drive, from wherever that was interrupted.
func TestRepaveInPlace(t *testing.T) {
	r := newRig(t, nodeHost(t))
	r.must(apply, single(t))
	moved := single(t, "release=2", "image=/srv/two.tar")
	effects := func() int { // of a repave without faults
		clean := newRig(t, nodeHost(t))
		clean.must(apply, single(t))
		clean.must(repave, moved)
		return len(clean.Plan.Log())
	}()
	r.must(repave, moved)
	done := func(r *rig) {
		t.Helper()
		r.runs("kube1", "release=2\n")
		r.want("/var/lib/machines/kube1/etc/second", "x")
		if rec := r.record(); len(rec.Superseded) != 1 {
			t.Errorf("record %+v", rec)
		}
		r.quiet(moved)
	}
	done(r)
	r.want("/run/stopped", "kube1\n")
	for n := 1; n <= effects; n += 23 {
		r := newRig(t, nodeHost(t))
		r.must(apply, single(t))
		at := r.GoWrong(laws.Crashes(1)[0], n, repave, r.request(moved))
		if r.record().Phase == record.Installing {
			fails[*record.RefusedError](r, apply, single(t), "fingerprint")
			r.must(ensure, moved)
		} else {
			r.must(ensure, single(t))
			r.must(repave, moved)
		}
		t.Log(at)
		done(r)
		r.must(reset, nothing)
		r.same(r.Before)
	}
}

// TestRepaveInPlaceFails: it stays unfinished, and goes on or back when told so.
func TestRepaveInPlaceFails(t *testing.T) {
	r := newRig(t, nodeHost(t))
	r.must(apply, single(t))
	bad := single(t, "release=2", "image=/srv/two.tar", "ready=/never")
	if _, err := r.run(repave, bad); err == nil || r.record().Phase != record.Installing {
		t.Fatalf("error %v, %s", err, r.record().Phase)
	}
	previous(r)
	r.must(apply, nothing)
	r.tune = nil
	r.runs("kube1", "release=1\n")
	r.want("/var/lib/machines/kube1/etc/second", "(absent)")
	if _, err := r.run(repave, bad); err == nil {
		t.Fatal("it became ready")
	}
	r.must(repave, single(t, "release=3")) // away from what cannot be finished
	r.runs("kube1", "release=3\n")
}

// TestRepaveToSlots: a machine that had one name gets a second slot.
func TestRepaveToSlots(t *testing.T) {
	r := newRig(t, nodeHost(t))
	r.must(apply, single(t))
	r.must(repave, slots(t, "release=2"))
	r.runs("kube2", "release=2\n")
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestRepaveRefused: what cannot go on, or not back, is refused before anything
// is changed.
func TestRepaveRefused(t *testing.T) {
	r := newRig(t, nodeHost(t))
	fails[*record.RefusedError](r, repave, slots(t), "nothing is installed")
	r.must(apply, a(one))
	if _, err := r.run(repave, nothing); err == nil || !strings.Contains(err.Error(), "has no machine") {
		t.Errorf("without a machine: %v", err)
	}
	r.must(reset, nothing)

	r = newNode(t)
	before := r.Standing()
	r.put("/etc/agent.d/2", "theirs")
	fails[*interpreter.ForeignError](r, repave, slots(t, "release=2"), "/etc/agent.d/2")
	r.remove("/etc/agent.d/2")
	r.tune = func(req *interpreter.Request) { req.Prefix = "/opt/other" }
	fails[*record.RefusedError](r, repave, slots(t), "prefix")
	r.tune = nil
	fails[*record.RefusedError](r, apply, slots(t, "release=2"), "fingerprint")
	previous(r)
	if _, err := r.run(repave, nothing); err == nil || !strings.Contains(err.Error(), "no earlier state") {
		t.Errorf("error %v", err)
	}
	r.tune = nil
	r.same(before)

	if _, err := r.run(apply, slots(t, "ready=/never")); err == nil {
		t.Fatal("it was applied")
	}
	fails[*record.RefusedError](r, repave, slots(t), "not finished")
	r.must(apply, slots(t))
}

// TestRepaveNeedsInput: a machine that is built anew needs the secrets that
// nobody stored; that is said before it is stopped.
func TestRepaveNeedsInput(t *testing.T) {
	recipe := recipeFile(t, "slots.hcl", `variable "ready"`, "variable \"token\" {\n  type      = string\n  sensitive = true\n}\nvariable \"ready\"",
		`content = "${self.name}\n"`, `content = "${self.name} ${var.token}\n"`)
	r := newRig(t, nodeHost(t))
	r.must(apply, given{recipe: recipe, vars: []string{"token=secret"}})
	needs := fails[*walk.NeedsInputError](r, repave, nothing)
	r.list(r.Effects())
	if len(needs.Variables) != 1 || needs.Variables[0] != "token" {
		t.Errorf("needs %v", needs)
	}
	r.must(repave, given{vars: []string{"token=secret"}})
	r.want("/var/lib/machines/kube2/etc/hostname", "kube2 secret\n")
}

// TestRepavePrevious: what was before the last repave is reached by another, and
// by nothing else.
func TestRepavePrevious(t *testing.T) {
	r := newNode(t)
	r.must(repave, slots(t, "release=2", "image=/srv/two.tar"))
	previous(r)
	fails[*record.RefusedError](r, apply, nothing, "hostler repave --previous")
	r.must(repave, nothing)
	r.tune = nil
	r.runs("kube1", "release=1\n")
	r.want("/var/lib/machines/kube1/etc/second", "(absent)")
	if rec := r.record(); len(rec.Superseded) != 1 || rec.Superseded[0] == rec.Fingerprint {
		t.Errorf("record %+v", rec)
	}
}

// TestRepavePlan: a plan of a repave changes nothing and shows both halves.
func TestRepavePlan(t *testing.T) {
	r := newNode(t)
	before := r.Standing()
	r.must(planRepave, slots(t, "release=2", "image=/srv/two.tar"))
	r.same(before)
	r.list(r.Effects())
	done := strings.Join(r.Changed(), "\n")
	for _, want := range []string{"update write_file_if_changed.host", "create nspawn_machine.node", "run nspawn_machine.node", "run nspawn_machine.node.reset_step.after_stop"} {
		if !strings.Contains(done, want) {
			t.Errorf("the plan does not hold %q:\n%s", want, done)
		}
	}
}

// TestRepaveInterrupted: status says what an interrupted repave left, ensure
// says where it goes, and a repave begins anew.
func TestRepaveInterrupted(t *testing.T) {
	killed := func() *rig {
		r := newNode(t)
		r.Plan = fault.CrashAfter(1).Only(isJob("unit start", "", "systemd-nspawn@kube2.service"))
		if fault.Recover(func() { _, _ = r.run(repave, slots(t, "release=2")) }) == nil {
			t.Fatal("it was not killed")
		}
		r.Crash()
		r.Plan = fault.Count()
		return r
	}
	r := killed()
	s := r.status()
	if len(s.Warnings) != 1 || s.Warnings[0].Summary != "Repave not finished" || s.Phase != "complete" {
		t.Errorf("status %+v", s)
	}
	out := r.must(ensure, slots(t, "release=2")) // the boot unit may give either
	if len(out.Warnings) != 2 || out.Warnings[0].Summary != "Identity not moved yet" || out.Warnings[1].Summary != "Repave not finished" {
		t.Errorf("warnings %v", out.Warnings)
	}
	r.runs("kube1", "release=1\n")
	r = killed()
	r.must(repave, slots(t, "release=3"))
	r.runs("kube2", "release=3\n")
	r = killed()
	r.must(apply, slots(t))
	r.runs("kube1", "release=1\n")
	r.quiet(slots(t))
	r = killed()
	r.Reboot()
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestNeedsRebuild: a plan says what a running machine cannot follow.
func TestNeedsRebuild(t *testing.T) {
	recipe := func(vars ...string) given {
		return given{recipe: recipeFile(t, "slots.hcl", `fingerprint = fingerprint({ release = var.release })`, `fingerprint = fingerprint({})`), vars: vars}
	}
	r := newRig(t, nodeHost(t))
	r.must(apply, recipe())
	for _, c := range []struct {
		vars  []string
		needs string
	}{
		{nil, ""},
		{[]string{"release=2"}, "a value of rebuild_on is another"},
		{[]string{"image=/srv/two.tar"}, "its tree is from /srv/one.tar"},
	} {
		out := r.must(plan, recipe(c.vars...))
		var got string
		for _, p := range out.Pending {
			if p.Needs == "repave" {
				got += p.Machine + ": " + p.Reason
			}
		}
		if c.needs == "" && got != "" || !strings.Contains(got, c.needs) || c.needs != "" && !strings.HasPrefix(got, "kube1: ") {
			t.Errorf("%v: pending %q, want %q", c.vars, got, c.needs)
		}
	}
	r.must(apply, recipe("release=2"))
	if s := r.status(); len(s.Pending) != 2 { // the drop-in waits for a restart, too
		t.Errorf("pending %+v", s.Pending)
	}
	r.must(repave, nothing)
	if s := r.status(); len(s.Pending) != 0 {
		t.Errorf("pending after a repave %+v", s.Pending)
	}
	if _, err := host.Lstat(r.Host().Files, "/var/lib/machines/kube1"); !host.Absent(err) {
		t.Error(err)
	}
}

// TestRepaveTrialRepairs: what is written again during the trial is the new
// slot's, secrets too.
func TestRepaveTrialRepairs(t *testing.T) {
	recipe := recipeFile(t, "slots.hcl", `variable "ready"`, "variable \"token\" {\n  type      = string\n  sensitive = true\n}\nvariable \"ready\"",
		`content = "${self.name}\n"`, `content = "${self.name} ${var.token}\n"`)
	r := newRig(t, nodeHost(t))
	r.must(apply, given{recipe: recipe, vars: []string{"token=secret"}})
	moved := given{recipe: recipe, vars: []string{"token=secret", "release=2"}}
	r.begun(moved)
	r.put("/var/lib/machines/kube2/etc/hostname", "edited")
	r.put("/etc/systemd/nspawn/kube1.nspawn", "edited") // of the slot that may come back
	r.must(ensure, moved)
	r.want("/var/lib/machines/kube2/etc/hostname", "kube2 secret\n")
	r.want("/etc/systemd/nspawn/kube1.nspawn", "edited")
	previous(r)
	r.must(apply, given{vars: []string{"token=secret"}})
	r.want("/var/lib/machines/kube1/etc/hostname", "kube1 secret\n")
	if got := r.read("/etc/systemd/nspawn/kube1.nspawn"); got == "edited" {
		t.Error("the edited settings of the slot that came back stay")
	}
}

// begun is a repave that waits for its confirmation, and whose command ended.
func (r *rig) begun(g given) {
	r.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req := r.request(g)
	req.ConfirmWithin = time.Hour
	in := r.Interpreter()
	in.Emit = func(e walk.Event) {
		if e.Warning.Summary == "Waiting for confirmation" {
			cancel()
		}
	}
	if _, err := in.Repave(ctx, req); err == nil || !strings.Contains(err.Error(), "still waits for its confirmation") {
		r.Fatalf("error %v", err)
	}
}

// TestAfterStopCommand: a step of after_stop that owns nothing acts when a slot
// has stopped, in a repave and a reset, and at no other time.
func TestAfterStopCommand(t *testing.T) {
	g := given{recipe: recipeFile(t, "slots.hcl", `run { argv = ["stopped", self.name] }`, `command "note" {
      argv   = ["stopped", self.name]
      unless = ["false"]
    }`)}
	r := newRig(t, nodeHost(t))
	r.must(apply, g)
	r.must(ensure, nothing)
	r.want("/run/stopped", "(absent)")
	r.must(repave, nothing)
	r.want("/run/stopped", "kube1\n")
	r.must(reset, nothing)
	r.want("/run/stopped", "kube1\nkube2\n")
	r.same(r.Before)
}
