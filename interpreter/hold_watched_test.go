package interpreter_test

import (
	"context"
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// TestWatchedInsideMachines: what is owned inside of a machine is watched there
// while it runs, under its first process.
func TestWatchedInsideMachines(t *testing.T) {
	r := newNode(t)
	ctx := context.Background()
	leader := func() int {
		t.Helper()
		found, _, err := thing.FindMachine(ctx, r.Host().Machines, "kube1")
		r.ok(err)
		return found.Leader
	}
	w, err := r.Interpreter().Watched(ctx)
	r.ok(err)
	if len(w.Machines) != 1 || w.Machines[0].Name != "kube1" || w.Machines[0].Leader != leader() {
		t.Fatalf("machines are %+v, want kube1 with leader %d", w.Machines, leader())
	}
	in := strings.Join(append(w.Machines[0].Paths, w.Machines[0].Units...), " ")
	for _, want := range []string{"/etc/hostname", "/etc/inner.conf", "/etc/systemd/system/inner.service", "/etc/systemd/system/multi-user.target.wants/inner.service", "inner.service"} {
		if !strings.Contains(in, want) {
			t.Errorf("inside are watched %q, not %s", in, want)
		}
	}
	if on := strings.Join(append(w.Paths, w.Units...), " "); strings.Contains(on, "inner") || !strings.Contains(on, thing.MachineUnit("kube1")) {
		t.Errorf("on the host are watched %q", on)
	}
	before := leader()
	r.ok(r.Host().Units.Run(ctx, host.JobRestart, thing.MachineUnit("kube1")))
	if w, err = r.Interpreter().Watched(ctx); err != nil || len(w.Machines) != 1 || w.Machines[0].Leader == before || w.Machines[0].Leader != leader() {
		t.Errorf("after a restart: %+v (%v)", w.Machines, err)
	}
	r.ok(r.Host().Units.Run(ctx, host.JobStop, thing.MachineUnit("kube1")))
	if w, err = r.Interpreter().Watched(ctx); err != nil || len(w.Machines) != 0 {
		t.Errorf("after a stop: %+v (%v)", w.Machines, err)
	}
}
