package shadow_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/shadow"
)

const etc, lib = "/etc/systemd/system/", "/usr/lib/systemd/system/"

// service is a running unit of the base.
func service(name string) host.UnitState {
	return host.UnitState{
		Name: name, LoadState: "loaded", ActiveState: "active", SubState: "running", UnitFileState: "enabled",
		FragmentPath: lib + name, Type: "notify", Result: "success", InvocationID: "base", MainPID: 42,
		After: []string{"basic.target", "net.target"}, ActiveEnter: 1, InactiveExit: 1,
	}
}

const unitFile = "[Unit]\nAfter=net.target\n[Service]\nType=notify\nExecStart=/bin/a\n[Install]\nWantedBy=multi-user.target\n"

// manager is a shadow over a host on which a.service runs, b.service failed
// and m.service is masked.
func manager(t *testing.T) (host.Host, *shadow.Shadow, map[string]host.UnitState) {
	t.Helper()
	failed, masked := service("b.service"), service("m.service")
	failed.ActiveState, failed.SubState, failed.Result, failed.NRestarts = "failed", "failed", "exit-code", 5
	masked.LoadState, masked.UnitFileState, masked.ActiveState = "masked", "masked", "inactive"
	masked.FragmentPath = etc + "m.service"
	units := map[string]host.UnitState{"a.service": service("a.service"), "b.service": failed, "m.service": masked}
	h, s := over(t, &still{units: units}, map[string]string{
		lib[1:] + "a.service": unitFile, lib[1:] + "b.service": unitFile, lib[1:] + "m.service": unitFile,
		etc[1:] + "m.service": "-> /dev/null", etc[1:] + "multi-user.target.wants/a.service": "-> " + lib + "a.service",
		etc[1:] + "multi-user.target.wants/b.service": "-> " + lib + "b.service",
	})
	return h, s, units
}

func unit(t *testing.T, h host.Host, name string) host.UnitState {
	t.Helper()
	u, err := h.Units.Unit(t.Context(), name)
	must(t, err)
	return u
}

func run(t *testing.T, h host.Host, verb host.JobVerb, name string) {
	t.Helper()
	must(t, h.Units.Run(t.Context(), verb, name))
}

func reload(t *testing.T, h host.Host) {
	t.Helper()
	must(t, h.Units.Reload(t.Context()))
}

func TestUntouchedUnitIsTheBases(t *testing.T) {
	h, _, base := manager(t)
	for range 2 {
		for name, want := range base {
			if got := unit(t, h, name); !reflect.DeepEqual(got, want) {
				t.Errorf("%s is\n%+v, want\n%+v", name, got, want)
			}
		}
		reload(t, h)
	}
	m, err := h.Units.Manager(t.Context())
	must(t, err)
	lines, err := h.Units.Log(t.Context(), "a.service", 3)
	must(t, err)
	if m.Version != 252 || !slices.Equal(lines, []string{"log of a.service"}) {
		t.Errorf("manager %+v, log %q", m, lines)
	}
}

func TestChangedFilesCountAfterReload(t *testing.T) {
	h, _, _ := manager(t)
	f := h.Files
	before := unit(t, h, "a.service")
	write(t, f, etc+"a.service", "[Unit]\nAfter=x.service\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/a\n[Install]\nWantedBy=x.target\n")
	write(t, f, etc+"a.service.d/10-x.conf", "[Service]\nExecStart=\nExecStart=/bin/b\n")
	must(t, f.Remove(etc+"multi-user.target.wants/a.service"))
	if u := unit(t, h, "a.service"); u.FragmentPath != before.FragmentPath || u.UnitFileState != "enabled" || !u.NeedDaemonReload {
		t.Errorf("before the reload the unit is %+v", u)
	}
	reload(t, h)
	u := unit(t, h, "a.service")
	if u.FragmentPath != etc+"a.service" || u.UnitFileState != "disabled" || u.NeedDaemonReload || u.Type != "oneshot" || !u.RemainAfterExit {
		t.Errorf("after the reload the unit is %+v", u)
	}
	if !slices.Equal(u.After, []string{"basic.target", "x.service"}) || !slices.Equal(u.DropInPaths, []string{etc + "a.service.d/10-x.conf"}) {
		t.Errorf("it is after %q with %q", u.After, u.DropInPaths)
	}
	if u.ActiveState != "active" || u.InvocationID != "base" {
		t.Errorf("a reload restarts: %+v", u)
	}
	must(t, f.RemoveAll(etc+"a.service"))
	must(t, f.Remove(lib+"a.service"))
	reload(t, h)
	if u := unit(t, h, "a.service"); u.LoadState != "not-found" || u.ActiveState != "active" || u.UnitFileState != "" {
		t.Errorf("without its file the unit is %+v", u)
	}
	run(t, h, host.JobStop, "a.service")
	is(t, h.Units.Run(t.Context(), host.JobStop, "a.service"), host.ErrNoUnit)
}

func TestJobs(t *testing.T) {
	h, _, _ := manager(t)
	ctx := t.Context()
	at := h.Clock.Monotonic()
	run(t, h, host.JobStart, "a.service")
	if u := unit(t, h, "a.service"); u.InvocationID != "base" {
		t.Errorf("starting what runs restarts it: %+v", u)
	}
	run(t, h, host.JobTryRestart, "a.service")
	first := unit(t, h, "a.service")
	run(t, h, host.JobRestart, "a.service")
	second := unit(t, h, "a.service")
	if first.InvocationID == "base" || first.InvocationID == second.InvocationID || first.ActiveEnter <= at || second.ActiveEnter <= first.ActiveEnter {
		t.Errorf("restarted: %+v and %+v", first, second)
	}
	if lines, err := h.Units.Log(ctx, "a.service", 3); err != nil || len(lines) != 0 {
		t.Errorf("what runs only here has logged %q, %v", lines, err)
	}
	run(t, h, host.JobStop, "a.service")
	if u := unit(t, h, "a.service"); u.ActiveState != "inactive" || u.MainPID != 0 || u.InvocationID != second.InvocationID {
		t.Errorf("stopped: %+v", u)
	}
	run(t, h, host.JobTryRestart, "a.service")
	if u := unit(t, h, "a.service"); u.ActiveState != "inactive" {
		t.Errorf("try-restart starts: %+v", u)
	}
	must(t, h.Units.ResetFailed(ctx, "b.service"))
	if u := unit(t, h, "b.service"); u.ActiveState != "inactive" || u.NRestarts != 0 || u.Result != "success" {
		t.Errorf("after reset-failed: %+v", u)
	}
	must(t, h.Units.ResetFailed(ctx, "none.service"))
	must(t, h.Units.Queue(ctx, host.JobStart, "b.service"))
	if u := unit(t, h, "b.service"); u.ActiveState != "active" {
		t.Errorf("queued: %+v", u)
	}
}

func TestJobsThatFail(t *testing.T) {
	h, _, _ := manager(t)
	ctx := t.Context()
	for _, verb := range []host.JobVerb{host.JobStart, host.JobRestart, host.JobStop, host.JobTryRestart} {
		is(t, h.Units.Run(ctx, verb, "none.service"), host.ErrNoUnit)
	}
	write(t, h.Files, etc+"bad.service", "[Service]\nType=simple\n")
	reload(t, h)
	for name, text := range map[string]string{
		"m.service": "start of m.service: the unit is masked", "bad.service": "cannot be loaded: the service has no ExecStart=",
	} {
		if err := h.Units.Run(ctx, host.JobStart, name); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	run(t, h, host.JobStop, "m.service")
	err := h.Units.Run(ctx, host.JobReload, "b.service")
	if e, ok := errors.AsType[*host.JobError](err); !ok || e.Result != "invalid" {
		t.Errorf("reload of what does not run: %v", err)
	}
	if err := h.Units.Run(ctx, host.JobReload, "a.service"); err == nil || !strings.Contains(err.Error(), "ExecReload") {
		t.Errorf("reload of what cannot: %v", err)
	}
	if err := h.Units.Run(ctx, "hop", "a.service"); err == nil {
		t.Error("an unknown verb is a job")
	}
}

func TestBaseThatNeedsReload(t *testing.T) {
	stale := service("a.service")
	stale.NeedDaemonReload, stale.Type = true, "simple"
	h, _ := over(t, &still{units: map[string]host.UnitState{"a.service": stale}}, map[string]string{lib[1:] + "a.service": unitFile})
	if u := unit(t, h, "a.service"); !u.NeedDaemonReload || u.Type != "simple" {
		t.Errorf("it is %+v", u)
	}
	reload(t, h)
	if u := unit(t, h, "a.service"); u.NeedDaemonReload || u.Type != "notify" {
		t.Errorf("after the reload it is %+v", u)
	}
}

func TestActivatingUnitBecomesActive(t *testing.T) {
	busy := service("a.service")
	busy.ActiveState, busy.SubState, busy.ActiveEnter = "activating", "start", 0
	h, _ := over(t, &still{units: map[string]host.UnitState{"a.service": busy}}, nil)
	run(t, h, host.JobStart, "a.service")
	if u := unit(t, h, "a.service"); u.ActiveState != "active" || u.InvocationID != "base" || u.ActiveEnter == 0 {
		t.Errorf("it is %+v", u)
	}
}
