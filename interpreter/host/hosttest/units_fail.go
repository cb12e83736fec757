package hosttest

import (
	"errors"
	"strings"
	"testing"

	"hostler/interpreter/host"
)

// failureCases are about jobs and units that fail, and those that only seem
// not to.
func failureCases() map[string]func(manager) {
	return map[string]func(manager){
		"a oneshot that fails":           failedOneshot,
		"done is not running":            doneNotRunning,
		"a condition that does not hold": falseCondition,
		"an assertion that fails":        falseAssert,
		"a dependency that fails":        failedDependency,
		"a crash loop":                   crashLoop,
		"a unit that crashed by itself":  crashed,
	}
}

func failedOneshot(m manager) {
	m.load("a.service", oneshot+fail)
	m.jobFails(host.JobStart, "a.service", "failed")
	u := m.active("a.service", "failed")
	if u.Result != "exit-code" || u.ExecMainCode != 1 || u.ExecMainStatus != 1 || u.Running() {
		m.Errorf("a failed oneshot is %+v", u)
	}
	m.ok(m.Units.ResetFailed(m.Context(), prefix+"a.service"))
	m.active("a.service", "inactive")
	m.load("a.service", oneshot+succeed)
	m.run(host.JobStart, "a.service")
	if u := m.unit("a.service"); u.Result != "success" {
		m.Errorf("once repaired the result is %q", u.Result)
	}
}

// doneNotRunning: a simple service counts as started once it is forked.
func doneNotRunning(m manager) {
	m.load("a.service", service+"ExecStart=/nonexistent/"+prefix+"program\n")
	m.run(host.JobStart, "a.service")
	if u := m.active("a.service", "failed"); u.Result != "exit-code" || u.ExecMainStatus != 203 {
		m.Errorf("a service without its program is %+v", u)
	}
}

func falseCondition(m manager) {
	m.load("a.service", "[Unit]\nConditionPathExists=/nonexistent\n"+service+stay)
	m.run(host.JobStart, "a.service")
	if u := m.unit("a.service"); u.ActiveState != "inactive" || u.ConditionResult || u.InvocationID != "" {
		m.Errorf("a unit whose condition is false is %+v", u)
	}
	m.load("a.service", "[Unit]\nConditionPathExists=/\n"+service+stay)
	m.run(host.JobStart, "a.service")
	if u := m.active("a.service", "active"); !u.ConditionResult {
		m.Errorf("a unit whose condition holds is %+v", u)
	}
}

func falseAssert(m manager) {
	m.load("a.service", "[Unit]\nAssertPathExists=/nonexistent\n"+service+stay)
	m.jobFails(host.JobStart, "a.service", "assert")
	if u := m.unit("a.service"); u.ActiveState != "inactive" || u.AssertResult {
		m.Errorf("a unit whose assertion fails is %+v", u)
	}
}

func failedDependency(m manager) {
	m.put("b.service", oneshot+fail)
	m.load("a.service", "[Unit]\nRequires="+prefix+"b.service\nAfter="+prefix+"b.service\n"+service+stay)
	m.jobFails(host.JobStart, "a.service", "dependency")
	if u := m.unit("a.service"); u.ActiveState != "inactive" {
		m.Errorf("a unit whose dependency failed is %s", u.ActiveState)
	}
	if u := m.unit("b.service"); u.ActiveState != "failed" {
		m.Errorf("the dependency is %s", u.ActiveState)
	}
}

func crashLoop(m manager) {
	m.load("a.service", "[Unit]\nStartLimitIntervalSec=0\n"+service+fail+"Restart=always\nRestartSec=100ms\n")
	m.run(host.JobStart, "a.service")
	m.until("a.service", "restarted twice", func(u host.UnitState) bool { return u.NRestarts >= 2 })
	m.run(host.JobStop, "a.service")
	if u := m.unit("a.service"); u.Running() {
		m.Errorf("a stopped crash loop is %s", u.ActiveState)
	}
}

func crashed(m manager) {
	m.load("a.service", service+"ExecStart=/bin/sleep 0.2\nRestart=no\n")
	m.run(host.JobStart, "a.service")
	if u := m.active("a.service", "inactive"); u.Result != "success" {
		m.Errorf("a service that has ended is %+v", u)
	}
	m.load("b.service", service+fail)
	m.run(host.JobStart, "b.service")
	m.active("b.service", "failed")
	m.run(host.JobStop, "b.service")
}

// liveMachines asks a running host for machines that are not there.
func liveMachines(t *testing.T, h host.Host) {
	ctx := t.Context()
	list, err := h.Machines.Registered(ctx)
	if err != nil && !errors.Is(err, host.ErrNoMachined) {
		t.Errorf("Registered: %v", err)
	}
	for _, m := range list {
		if m.Name == "" || m.Name == ".host" || strings.HasPrefix(m.Name, prefix) {
			t.Errorf("a machine called %q", m.Name)
		}
	}
	restMachineNames(t, h)
	machineTree(t, h)
	in, err := h.Machines.Host(ctx, machine)
	if err != nil {
		t.Fatal(err)
	}
	if in.Identity.Live || in.Identity.Machine != machine {
		t.Errorf("a machine that is not registered is %+v", in.Identity)
	}
	if _, err := in.Units.Manager(ctx); !errors.Is(err, host.ErrNoManager) {
		t.Errorf("its manager: %v, want host.ErrNoManager", err)
	}
	if err := h.Machines.Terminate(ctx, machine); err != nil && !errors.Is(err, host.ErrNoMachined) {
		t.Errorf("terminating a machine that is not registered: %v", err)
	}
}
