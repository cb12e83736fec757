package interpreter_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
)

var (
	repave     verb = (*interpreter.Interpreter).Repave
	planRepave verb = (*interpreter.Interpreter).PlanRepave
)

// slots is the recipe with two slots as a release of it.
func slots(t testing.TB, vars ...string) given {
	t.Helper()
	return given{recipe: recipeFile(t, "slots.hcl"), vars: vars}
}

// nodeHost is a host for it. What is run after a slot has stopped is noted in a
// file that no claim is about.
func nodeHost(t testing.TB) memory.Options {
	note := func(i memory.Invocation) host.CommandResult {
		f, err := i.Host.Files.OpenFile("/run/stopped", 0x441, 0o644)
		if err == nil {
			_, err = f.Write([]byte(i.Argv[1] + "\n"))
		}
		if err != nil {
			return host.CommandResult{ExitCode: 1, Stderr: []byte(err.Error())}
		}
		return host.CommandResult{}
	}
	return memory.Options{
		Executables: []string{"stopped"},
		Files: map[string]memory.File{
			"/srv/one.tar": {Content: image(t, nil)},
			"/srv/two.tar": {Content: image(t, map[string]string{"etc/second": "x"})},
		},
		Programs: map[string]memory.Program{"stopped": note},
	}
}

// newNode is a host with the first release.
func newNode(t testing.TB) *rig {
	r := newRig(t, nodeHost(t))
	r.must(apply, slots(t))
	return r
}

// runs fails the test unless exactly one machine runs and is enabled, and says
// what its slot holds.
func (r *rig) runs(slot, hostFile string) {
	r.Helper()
	all, err := r.Host().Machines.Registered(context.Background())
	r.ok(err)
	if len(all) != 1 || all[0].Name != slot || !all[0].Alive {
		r.Errorf("registered are %+v, want %s", all, slot)
	}
	other := map[string]string{"kube1": "kube2", "kube2": "kube1"}[slot]
	if _, err := host.Lstat(r.Host().Files, host.MachineRoot(other)); !host.Absent(err) {
		r.Errorf("the tree of %s is left (%v)", other, err)
	}
	for name, want := range map[string]string{slot: "enabled", other: "disabled"} {
		if u := r.unit("systemd-nspawn@" + name + ".service"); u.UnitFileState != want {
			r.Errorf("%s is %s", name, u.UnitFileState)
		}
	}
	r.want("/etc/agent.conf", hostFile)
	r.want(host.MachineRoot(slot)+"/etc/hostname", slot+"\n")
	if got := r.record(); got.Machines["nspawn_machine.node"].Active != slot || got.Phase != record.Complete || got.Repave != nil || got.Target != got.Applied {
		r.Errorf("record %+v, repave %+v, machines %+v", got.Phase, got.Repave, got.Machines)
	}
	inside, err := r.Host().Machines.Host(context.Background(), slot)
	r.ok(err)
	if u, err := inside.Units.Unit(context.Background(), "inner.service"); err != nil || u.ActiveState != "active" {
		r.Errorf("inner.service is %s, %v", u.ActiveState, err)
	}
}

// TestRepave: the machine moves to the other slot, with it the identity; what
// the old one had is gone, and so is everything after a reset.
func TestRepave(t *testing.T) {
	r := newNode(t)
	r.runs("kube1", "release=1\n")
	first := r.record()
	fails[*record.RefusedError](r, apply, slots(t, "release=2"), "fingerprint")
	out := r.must(repave, slots(t, "release=2", "image=/srv/two.tar"))
	r.runs("kube2", "release=2\n")
	r.want("/var/lib/machines/kube2/etc/second", "x")
	r.want("/etc/agent.d/1", "(absent)")
	r.want("/etc/agent.d/2", "here\n")
	r.want("/run/stopped", "kube1\n")
	rec := r.record()
	if out.Phase != "complete" || rec.Fingerprint == first.Fingerprint || rec.Applied == first.Applied || rec.Previous != first.Applied ||
		!slices.Equal(rec.Superseded, []string{first.Fingerprint}) || rec.ID != first.ID {
		t.Errorf("record %+v", rec)
	}
	for _, c := range rec.Claims {
		if machine, _ := c.Thing.Machine(); machine == "kube1" {
			t.Errorf("%s is still claimed", c.Thing)
		}
	}
	// R096, H23: what verifies and repairs keeps to the slot.
	r.job(host.JobStop, "systemd-nspawn@kube2.service")
	r.must(ensure, nothing)
	r.runs("kube2", "release=2\n")
	r.quiet(slots(t, "release=2", "image=/srv/two.tar"))
	if out := r.must(ensure, slots(t)); len(out.Warnings) != 1 || out.Warnings[0].Summary != "Superseded identity" {
		t.Errorf("warnings %v", out.Warnings)
	}
	if s := r.status(); len(s.Pending) != 0 || len(s.Drift) != 0 {
		t.Errorf("status %+v", s)
	}
	// And back to the first slot, and away.
	r.must(repave, nothing)
	r.runs("kube1", "release=2\n")
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestRepaveFails: when the new machine does not become ready, the old one is
// back, and nothing else has moved.
func TestRepaveFails(t *testing.T) {
	r := newNode(t)
	before, claims := r.Standing(), len(r.record().Claims)
	rec := r.record()
	out, err := r.run(repave, slots(t, "release=2", "image=/srv/two.tar", "ready=/never"))
	if err == nil || !strings.Contains(err.Error(), "the host is back at what was applied") || !strings.Contains(err.Error(), "file /never is not there") {
		t.Fatalf("error %v", err)
	}
	r.runs("kube1", "release=1\n")
	if now := r.record(); now.Fingerprint != rec.Fingerprint || now.Applied != rec.Applied || len(now.Claims) != claims || len(now.Superseded) != 0 {
		t.Errorf("record %+v", now)
	}
	for name := range before {
		if strings.HasPrefix(name, record.Dir) {
			delete(before, name)
		}
	}
	r.want("/run/stopped", "kube1\nkube2\n")
	if out.Word != "failed" || out.Phase != "complete" {
		t.Errorf("outcome %+v", out)
	}
	r.quiet(slots(t))
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestRepaveKeepsTheOldUntilHealthy: while the new slot is built, the old
// machine runs and starts at boot.
func TestRepaveKeepsTheOldUntilHealthy(t *testing.T) {
	r := newNode(t)
	r.must(repave, slots(t, "release=2"))
	stop := r.at(isJob("unit stop", "queue stop", "systemd-nspawn@kube1.service"))
	for i, e := range r.Plan.Log() {
		switch {
		case i < stop && strings.Contains(e.Name, "systemd-nspawn@kube1"), i < stop && strings.Contains(e.Name, "kube1.nspawn"):
			t.Errorf("before kube1 is stopped: %v", e)
		case i < stop && strings.HasPrefix(e.Name, "/var/lib/machines/kube1"):
			t.Errorf("before kube1 is stopped: %v", e)
		}
	}
	if unpacked := r.at(isFile("rename", "/var/lib/machines/.hostler/kube2.new")); unpacked < 0 || unpacked > stop {
		t.Errorf("kube2 is unpacked at %d, kube1 stopped at %d", unpacked, stop)
	}
}

// TestRepaveConfirmed: a repave with a time to confirm waits without the lock,
// and what is confirmed stays.
func TestRepaveConfirmed(t *testing.T) {
	for name, after := range map[string]func(*rig){
		"at once":       func(*rig) {},
		"after a boot":  func(r *rig) { r.Reboot(); r.must(ensure, nothing) },
		"after repairs": func(r *rig) { r.job(host.JobStop, "systemd-nspawn@kube2.service"); r.must(ensure, slots(r)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := trying(t)
			after(r)
			s := r.status()
			if len(s.Pending) != 1 || s.Pending[0].Needs != "confirmation" || s.Pending[0].Machine != "kube2" || len(s.Drift) != 0 {
				t.Errorf("status %+v", s)
			}
			if until := interpreter.StatusDocument(s).ConfirmUntil; until == nil || !until.After(r.Host().Clock.Now()) {
				t.Errorf("it waits until %v", until)
			}
			if rec := r.record(); rec.Applied == rec.Target || rec.Machines["nspawn_machine.node"].Active != "kube1" || len(rec.Superseded) != 0 {
				t.Errorf("record %+v", rec)
			}
			fails[*record.RefusedError](r, apply, slots(t), "waits for its confirmation")
			fails[*record.RefusedError](r, repave, slots(t), "waits for its confirmation")
			r.tune = func(req *interpreter.Request) { req.Confirm = true }
			r.must(repave, nothing)
			r.runs("kube2", "release=2\n")
			if _, err := r.run(repave, nothing); err == nil || !strings.Contains(err.Error(), "no repave waits") {
				t.Errorf("twice: %v", err)
			}
			r.tune = nil
			r.must(reset, nothing)
			r.same(r.Before)
		})
	}
}

// trying is a host with a repave that waits for its confirmation, and whose
// command was ended.
func trying(t testing.TB) *rig {
	r := newNode(t)
	r.begun(slots(t, "release=2"))
	return r
}

// TestRepaveNotConfirmed: when the time is over the host goes back: by the
// command that waits, by a boot, by an ensure, by hand before.
func TestRepaveNotConfirmed(t *testing.T) {
	late := func(r *rig) { r.ok(r.Host().Clock.Sleep(context.Background(), 2*time.Hour)) }
	for name, over := range map[string]func(*rig){
		"ensure": func(r *rig) { late(r); r.must(ensure, nothing) },
		"boot":   func(r *rig) { late(r); r.Reboot(); r.must(ensure, slots(r, "release=2")) },
		"too late": func(r *rig) {
			late(r)
			r.tune = func(req *interpreter.Request) { req.Confirm = true }
			if _, err := r.run(repave, nothing); err == nil || !strings.Contains(err.Error(), "not confirmed by") {
				r.Errorf("error %v", err)
			}
			r.tune = nil
		},
		"by hand": func(r *rig) { previous(r); r.must(apply, nothing); r.tune = nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := trying(t)
			over(r)
			r.runs("kube1", "release=1\n")
			r.quiet(slots(t))
		})
	}
	r := newNode(t)
	r.tune = func(req *interpreter.Request) { req.ConfirmWithin = time.Minute }
	if _, err := r.run(repave, slots(t, "release=2")); err == nil || !strings.Contains(err.Error(), "the host is back") {
		t.Errorf("error %v", err)
	}
	r.runs("kube1", "release=1\n")
}

func isJob(kindA, kindB, unit string) func(fault.Effect) bool {
	return func(e fault.Effect) bool { return (e.Kind == kindA || e.Kind == kindB) && e.Name == unit }
}

func isFile(kind, name string) func(fault.Effect) bool {
	return func(e fault.Effect) bool { return e.Kind == kind && e.Name == name }
}

// TestR085RepaveOrder: the parts of a repave come in this order: the host, the
// new tree, what is written into it, the switch with what follows the stop of
// the old machine, the inside, ready; and then what is not wanted any more.
func TestR085RepaveOrder(t *testing.T) {
	r := newNode(t)
	r.must(repave, slots(t, "release=2"))
	r.list(r.Changed(), "update write_file_if_changed.host", "create write_file_if_changed.release", "create nspawn_machine.node",
		"create nspawn_machine.node.write_file_if_changed.hostname", "run nspawn_machine.node.reset_step.after_stop", "run nspawn_machine.node",
		"create nspawn_machine.node.write_file_if_changed.inner", `create nspawn_machine.node.systemd_unit["inner.service"]`, "run nspawn_machine.node",
		"delete path:/etc/agent.d/1", "update nspawn_machine.node", "delete machine:kube1")
}
