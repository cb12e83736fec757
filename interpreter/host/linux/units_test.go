package linux

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"hostler/interpreter/host"
)

func TestManagerState(t *testing.T) {
	_, u := newFakeManager(t)
	if got, err := u.Manager(t.Context()); err != nil || got != (host.ManagerState{Version: 252, State: "degraded"}) {
		t.Errorf("the manager is %+v (%v)", got, err)
	}
}

func TestJobSignalled(t *testing.T) {
	for _, result := range []host.JobResult{"done", "failed", "timeout", "canceled", "assert", "skipped"} {
		m, u := newFakeManager(t)
		m.queue = func(m *fakeManager, _ string) *dbus.Error {
			time.AfterFunc(20*time.Millisecond, func() { m.end(string(result)) })
			return nil
		}
		err := u.Run(t.Context(), host.JobStart, "a.service")
		e, failed := errors.AsType[*host.JobError](err)
		if failed == (result == "done") || failed && (e.Result != result || e.Unit != "a.service" || e.Verb != host.JobStart) {
			t.Errorf("%s: %v", result, err)
		}
	}
}

// TestJobOverBeforeTheAnswer: the signal comes before the answer to the call.
func TestJobOverBeforeTheAnswer(t *testing.T) {
	m, u := newFakeManager(t)
	m.queue = func(m *fakeManager, _ string) *dbus.Error {
		m.queued = false
		m.broadcast("/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager.JobRemoved", uint32(7), jobPath, "a.service", "failed")
		return nil
	}
	if e, failed := errors.AsType[*host.JobError](u.Run(t.Context(), host.JobStart, "a.service")); !failed || e.Result != "failed" {
		t.Errorf("the result is lost: %v", e)
	}
}

// TestC32JobOfALostConnection: the connection is closed under the wait, and the
// end of the job is signalled to nobody.
func TestC32JobOfALostConnection(t *testing.T) {
	for result, state := range map[host.JobResult]properties{
		"done":   {"LoadState": "loaded", "ActiveState": "active"},
		"failed": {"LoadState": "loaded", "ActiveState": "failed", "Result": "exit-code", "ExecMainCode": int32(1), "ExecMainStatus": int32(3)},
	} {
		m, u := newFakeManager(t)
		m.queue = func(m *fakeManager, _ string) *dbus.Error {
			time.AfterFunc(50*time.Millisecond, func() {
				m.hangUp()
				m.mu.Lock()
				defer m.mu.Unlock()
				m.queued = false
				m.units["a_2eservice"] = state
			})
			return nil
		}
		err := u.Run(t.Context(), host.JobStart, "a.service")
		e, failed := errors.AsType[*host.JobError](err)
		if failed != (result == "failed") || failed && (e.Result != result || e.Detail != "exit-code, exit status 3") {
			t.Errorf("%s: %v", result, err)
		}
	}
}

func TestJobGivenUp(t *testing.T) {
	m, u := newFakeManager(t)
	m.queue = func(*fakeManager, string) *dbus.Error { return nil }
	ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	if err := u.Run(ctx, host.JobStart, "a.service"); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "start of a.service") {
		t.Errorf("a wait that is given up: %v", err)
	}
	// A result that nobody waits for is in nobody's way.
	m.end("done")
	m.onQueue(func(m *fakeManager, _ string) *dbus.Error {
		time.AfterFunc(20*time.Millisecond, func() { m.end("done") })
		return nil
	})
	ok(t, u.Run(t.Context(), host.JobStop, "a.service"))
}

func TestJobVerbs(t *testing.T) {
	m, u := newFakeManager(t)
	for verb, method := range map[host.JobVerb]string{
		host.JobStart: "StartUnit", host.JobStop: "StopUnit", host.JobRestart: "RestartUnit", host.JobReload: "ReloadUnit", host.JobTryRestart: "TryRestartUnit",
	} {
		ok(t, u.Queue(t.Context(), verb, "a.service"))
		m.mu.Lock()
		if got := m.calls[len(m.calls)-1]; got != method {
			t.Errorf("%s calls %s, want %s", verb, got, method)
		}
		m.mu.Unlock()
	}
	if err := u.Queue(t.Context(), "isolate", "a.service"); err == nil {
		t.Error("there is a job called isolate")
	}
}

func refusal(name, text string) *dbus.Error { return dbus.NewError(name, []any{text}) }

func TestRefusals(t *testing.T) {
	m, u := newFakeManager(t)
	m.refuseWith("StartUnit", refusal(noSuchUnit, "Unit a.service not found."))
	if err := u.Run(t.Context(), host.JobStart, "a.service"); !errors.Is(err, host.ErrNoUnit) || !strings.Contains(err.Error(), "start of a.service") {
		t.Errorf("an unknown unit: %v", err)
	}
	m.refuseWith("StartUnit", refusal("org.freedesktop.systemd1.UnitMasked", "Unit a.service is masked."))
	if err := u.Run(t.Context(), host.JobStart, "a.service"); err == nil || errors.Is(err, host.ErrNoUnit) || !strings.Contains(err.Error(), "Unit a.service is masked.") {
		t.Errorf("a masked unit: %v", err)
	}
	m.refuseWith("Reload", refusal("org.freedesktop.DBus.Error.Failed", "Refusing to reload, not enough space available on /run/systemd."))
	if err := u.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "daemon-reload: Refusing to reload, not enough space") {
		t.Errorf("C33, a refused reload: %v", err)
	}
	m.refuseWith("ResetFailedUnit", refusal(noSuchUnit, "Unit a.service not loaded."))
	ok(t, u.ResetFailed(t.Context(), "a.service"))
	for _, name := range []string{accessDenied, interactive} {
		m.refuseWith("ResetFailedUnit", refusal(name, "Access denied"))
		if err := u.ResetFailed(t.Context(), "a.service"); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "reset-failed of a.service was denied") {
			t.Errorf("a denied reset-failed: %v", err)
		}
	}
	m.refuseWith("ResetFailedUnit", refusal("org.freedesktop.DBus.Error.Failed", "broken"))
	if err := u.ResetFailed(t.Context(), "a.service"); err == nil || errors.Is(err, fs.ErrPermission) {
		t.Errorf("a failed reset-failed: %v", err)
	}
}

func TestC32FailedDependencyIsNamed(t *testing.T) {
	m, u := newFakeManager(t)
	loaded := func(more properties) properties {
		more["LoadState"] = "loaded"
		return more
	}
	m.set("a_2eservice", loaded(properties{"Requires": []string{"fine.target", "middle.service"}, "BindsTo": []string{"masked.service"}, "Requisite": []string{"idle.service"}}))
	m.set("fine_2etarget", loaded(properties{"ActiveState": "active"}))
	m.set("middle_2eservice", loaded(properties{"Requires": []string{"deep.service", "a.service"}}))
	m.set("deep_2eservice", loaded(properties{"ActiveState": "failed", "Result": "start-limit-hit"}))
	m.set("masked_2eservice", properties{"LoadState": "masked"})
	m.set("idle_2eservice", loaded(properties{}))
	m.queue = func(m *fakeManager, _ string) *dbus.Error {
		time.AfterFunc(20*time.Millisecond, func() { m.end("dependency") })
		return nil
	}
	e, failed := errors.AsType[*host.JobError](u.Run(t.Context(), host.JobStart, "a.service"))
	want := "deep.service failed (it was started too often in a short time (start-limit-hit)), masked.service is masked, idle.service is not active"
	if !failed || e.Detail != want {
		t.Errorf("the detail is %q, want %q", e.Detail, want)
	}
}

func TestUnitWithJob(t *testing.T) {
	m, u := newFakeManager(t)
	m.set("a_2eservice", properties{"ActiveState": "activating", "Job": struct {
		ID   uint32
		Path dbus.ObjectPath
	}{7, jobPath}})
	m.mu.Lock()
	m.queued = true
	m.mu.Unlock()
	if got, err := u.Unit(t.Context(), "a.service"); err != nil || got.JobType != "start" || got.ActiveState != "activating" {
		t.Errorf("the unit is %+v (%v)", got, err)
	}
	m.mu.Lock()
	m.queued = false
	m.mu.Unlock()
	if got, err := u.Unit(t.Context(), "a.service"); err != nil || got.JobType != "" {
		t.Errorf("a job that is over is %q (%v)", got.JobType, err)
	}
}

func TestNoManager(t *testing.T) {
	u := units{newManager("", func(context.Context) (*dbus.Conn, error) { return nil, errors.New("dialled") }, func() bool { return false }), nil}
	_, managerErr := u.Manager(t.Context())
	_, unitErr := u.Unit(t.Context(), "a.service")
	_, logErr := u.Log(t.Context(), "a.service", 5)
	for what, err := range map[string]error{
		"Manager": managerErr, "Unit": unitErr, "Log": logErr, "Reload": u.Reload(t.Context()), "ResetFailed": u.ResetFailed(t.Context(), "a.service"),
		"Run": u.Run(t.Context(), host.JobStart, "a.service"), "Queue": u.Queue(t.Context(), host.JobStart, "a.service"),
	} {
		if !errors.Is(err, host.ErrNoManager) {
			t.Errorf("%s: %v, want host.ErrNoManager", what, err)
		}
	}
}

func TestManagerNotReached(t *testing.T) {
	u := units{newManager("kube1", func(ctx context.Context) (*dbus.Conn, error) {
		return dialSocket(ctx, t.TempDir()+"/none", bySystemBus)
	}, func() bool { return true }), nil}
	_, err := u.Manager(t.Context())
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, host.ErrNoManager) || !strings.Contains(err.Error(), "the service manager of machine kube1 cannot be reached") {
		t.Errorf("a bus that is not there: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := u.Manager(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

func TestUnitLog(t *testing.T) {
	m, u := newFakeManager(t)
	ran := u.commands.(*recorder)
	if log, err := u.Log(t.Context(), "a.service", 5); err != nil || log != nil || len(ran.argv) != 0 {
		t.Errorf("the log of a unit that never ran is %q (%v) by %q", log, err, ran.argv)
	}
	m.set("a_2eservice", properties{"InvocationID": []byte{1, 2}})
	if log, err := u.Log(t.Context(), "a.service", 5); err != nil || log != nil {
		t.Errorf("without journalctl the log is %q (%v)", log, err)
	}
	last := strings.Join(ran.argv[len(ran.argv)-1], " ")
	if want := "journalctl --quiet --no-pager --output=cat --lines=5 _SYSTEMD_INVOCATION_ID=0102 + INVOCATION_ID=0102"; last != want {
		t.Errorf("the command is %q, want %q", last, want)
	}
	ran.err = errors.New("it broke")
	if _, err := u.Log(t.Context(), "a.service", 5); !errors.Is(err, ran.err) {
		t.Errorf("a journal that cannot be read: %v", err)
	}
}

// TestJobsAreBounded: a wait ends also when the caller sets no time.
func TestJobsAreBounded(t *testing.T) {
	ctx, end := bounded(t.Context(), time.Nanosecond)
	defer end()
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "goes on without us") {
		t.Errorf("the cause is %v", err)
	}
	own, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if ctx, end := bounded(own, time.Nanosecond); ctx != own {
		end()
		t.Error("the caller's time is not kept")
	}
}
