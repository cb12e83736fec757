//go:build e2e

package linux_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/linux"
)

func liveUnits(t *testing.T) {
	h := openHost(t)
	for name, run := range map[string]func(*testing.T, host.Host){
		"C32a failed Requires is named": failedRequires,
		"C32b stopped meanwhile":        stoppedMeanwhile,
		"C32c daemon-reexec":            reexecDuringWait,
		"C33 reload refused":            reloadRefused,
		"C27 start limit":               startLimit,
		"masked and missing":            maskedAndMissing,
		"log":                           unitLog,
		"properties":                    unitProperties,
		"own unit":                      ownUnit,
		"degraded":                      degraded,
	} {
		t.Run(name, func(t *testing.T) { run(t, h) })
	}
}

func failedRequires(t *testing.T, h host.Host) {
	unitFile(t, h, "x-deepest.service", "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'exit 7'\n")
	unitFile(t, h, "x-middle.service", "[Unit]\nRequires=x-deepest.service\nAfter=x-deepest.service\n[Service]\nExecStart=/bin/sleep 100\n")
	unitFile(t, h, "x-top.service", "[Unit]\nBindsTo=x-middle.service\nAfter=x-middle.service\n[Service]\nExecStart=/bin/sleep 100\n")
	err := h.Units.Run(within(t, time.Minute), host.JobStart, "x-top.service")
	if e := jobError(t, err, "dependency"); e.Detail != "x-deepest.service failed (exit-code, exit status 7)" {
		t.Errorf("the detail is %q", e.Detail)
	}
	unitFile(t, h, "x-needs-none.service", "[Unit]\nRequisite=x-deepest.service\nAfter=x-deepest.service\n[Service]\nExecStart=/bin/sleep 100\n")
	ok(t, h.Units.ResetFailed(t.Context(), "x-deepest.service"))
	err = h.Units.Run(within(t, time.Minute), host.JobStart, "x-needs-none.service")
	if e := jobError(t, err, "dependency"); e.Detail != "x-deepest.service is not active" {
		t.Errorf("the detail is %q", e.Detail)
	}
}

func stoppedMeanwhile(t *testing.T, h host.Host) {
	unitFile(t, h, "x-slow.service", "[Service]\nType=oneshot\nExecStart=/bin/sleep 60\n")
	go func() {
		time.Sleep(300 * time.Millisecond)
		_ = exec.Command("systemctl", "stop", "x-slow.service").Run()
	}()
	err := h.Units.Run(within(t, time.Minute), host.JobStart, "x-slow.service")
	if e := jobError(t, err, "canceled"); e.Detail == "" {
		t.Error("there is no detail")
	}
}

// reexecDuringWait: the manager closes its connections when it executes itself
// again. The wait goes on, and ends with what became of the unit.
func reexecDuringWait(t *testing.T, h host.Host) {
	unitFile(t, h, "x-good.service", "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sleep 3\n")
	unitFile(t, h, "x-bad.service", "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'sleep 3; exit 9'\n")
	unitFile(t, h, "x-once.service", "[Service]\nType=oneshot\nExecStart=/bin/sleep 3\n")
	results := map[string]chan error{}
	for _, name := range []string{"x-good.service", "x-bad.service", "x-once.service"} {
		done := make(chan error, 1)
		results[name] = done
		go func() { done <- h.Units.Run(within(t, time.Minute), host.JobStart, name) }()
	}
	time.Sleep(500 * time.Millisecond)
	shell(t, "systemctl daemon-reexec")
	ok(t, <-results["x-good.service"])
	ok(t, <-results["x-once.service"])
	if e := jobError(t, <-results["x-bad.service"], "failed"); e.Detail != "exit-code, exit status 9" {
		t.Errorf("the detail is %q", e.Detail)
	}
	if u, err := h.Units.Unit(t.Context(), "x-good.service"); err != nil || u.ActiveState != "active" {
		t.Errorf("after the reexec the unit is %s (%v)", u.ActiveState, err)
	}
}

// reloadRefused: the manager keeps 16 MiB free in /run for itself.
func reloadRefused(t *testing.T, h host.Host) {
	free := shell(t, "df --output=avail -k /run | tail -1")
	shell(t, "fallocate -l $(( "+free+" - 8192 ))K /run/filler")
	err := h.Units.Reload(t.Context())
	shell(t, "rm /run/filler")
	if err == nil || !strings.Contains(err.Error(), "daemon-reload") || !strings.Contains(err.Error(), "/run") {
		t.Errorf("a reload with a full /run: %v, want the manager's refusal", err)
	}
	ok(t, h.Units.Reload(t.Context()))
}

func startLimit(t *testing.T, h host.Host) {
	unitFile(t, h, "x-limited.service", "[Unit]\nStartLimitBurst=2\nStartLimitIntervalSec=120\n[Service]\nExecStart=/bin/sleep 100\n")
	for range 2 {
		ok(t, h.Units.Run(t.Context(), host.JobRestart, "x-limited.service"))
	}
	err := h.Units.Run(t.Context(), host.JobRestart, "x-limited.service")
	if e := jobError(t, err, "failed"); !strings.Contains(e.Detail, "start-limit-hit") {
		t.Errorf("the detail is %q", e.Detail)
	}
	if u, err := h.Units.Unit(t.Context(), "x-limited.service"); err != nil || u.Result != "start-limit-hit" || u.ActiveState != "failed" {
		t.Errorf("the unit is %+v (%v)", u, err)
	}
	ok(t, h.Units.ResetFailed(t.Context(), "x-limited.service"))
	ok(t, h.Units.Run(t.Context(), host.JobStart, "x-limited.service"))
}

func maskedAndMissing(t *testing.T, h host.Host) {
	ctx := t.Context()
	ok(t, host.Symlink(h.Files, "/dev/null", "/run/systemd/system/x-masked.service"))
	t.Cleanup(func() { ok(t, host.Remove(h.Files, "/run/systemd/system/x-masked.service")) })
	ok(t, h.Units.Reload(ctx))
	err := h.Units.Run(ctx, host.JobStart, "x-masked.service")
	if err == nil || errors.Is(err, host.ErrNoUnit) || !strings.Contains(err.Error(), "x-masked.service is masked") {
		t.Errorf("start of a masked unit: %v", err)
	}
	for _, verb := range []host.JobVerb{host.JobReload, host.JobTryRestart} {
		if err := h.Units.Run(ctx, verb, "x-none.service"); !errors.Is(err, host.ErrNoUnit) {
			t.Errorf("%s of a unit that is not there: %v", verb, err)
		}
	}
	if err := h.Units.Run(ctx, "isolate", "x-none.service"); err == nil || errors.Is(err, host.ErrNoUnit) {
		t.Errorf("a verb that is none: %v", err)
	}
	for _, name := range []string{"no unit name", "", "../x.service", "x@.service"} {
		if u, err := h.Units.Unit(ctx, name); err == nil {
			t.Errorf("unit %q is %+v", name, u)
		}
	}
}

func unitLog(t *testing.T, h host.Host) {
	ctx := t.Context()
	unitFile(t, h, "x-log.service", "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh -c 'for i in 1 2 3 4; do echo line $i of $RUN; done; echo to stderr >&2'\n")
	if log, err := h.Units.Log(ctx, "x-log.service", 5); err != nil || log != nil {
		t.Errorf("before it ran the log is %q (%v)", log, err)
	}
	for _, run := range []string{"first", "second"} {
		shell(t, "systemctl set-environment RUN="+run)
		ok(t, h.Units.Run(ctx, host.JobRestart, "x-log.service"))
	}
	log, err := h.Units.Log(ctx, "x-log.service", 100)
	ok(t, err)
	own := slices.DeleteFunc(slices.Clone(log), func(line string) bool { return strings.Contains(line, "x-log.service") }) // the manager's
	if want := []string{"line 1 of second", "line 2 of second", "line 3 of second", "line 4 of second", "to stderr"}; !slices.Equal(own, want) {
		t.Errorf("the log is %q", log)
	}
	if log, err := h.Units.Log(ctx, "x-log.service", 2); err != nil || len(log) != 2 {
		t.Errorf("two lines are %q (%v)", log, err)
	}
}

func unitProperties(t *testing.T, h host.Host) {
	ctx := t.Context()
	unitFile(t, h, "x-exit.service", "[Unit]\nAfter=x-other.service\nSourcePath=/etc/fstab\n[Service]\nExecStart=/bin/sh -c 'kill -9 $$$$'\nRestart=on-failure\nRestartSec=50ms\n[Install]\nWantedBy=multi-user.target\n")
	ok(t, h.Units.Run(ctx, host.JobStart, "x-exit.service"))
	var u host.UnitState
	eventually(t, "the start limit", func() bool {
		var err error
		u, err = h.Units.Unit(ctx, "x-exit.service")
		return err == nil && u.ActiveState == "failed"
	})
	if u.ExecMainCode != 2 || u.ExecMainStatus != 9 || u.NRestarts < 2 || u.UnitFileState != "disabled" || u.SourcePath != "/etc/fstab" {
		t.Errorf("the unit is %+v", u)
	}
	if u.ConditionChecked == 0 || u.ConditionChecked > h.Clock.Monotonic() {
		t.Errorf("its conditions were checked at %v, it is %v", u.ConditionChecked, h.Clock.Monotonic())
	}
	if u, err := h.Units.Unit(ctx, "-.mount"); err != nil || u.ActiveState != "active" || u.LoadState != "loaded" {
		t.Errorf("the root mount is %+v (%v)", u, err)
	}
}

// ownUnit: this test runs in the unit that the environment names.
func ownUnit(t *testing.T, _ host.Host) {
	if got, want := linux.OwnUnit(), os.Getenv(labUnit); got != want || want == "" {
		t.Errorf("this process is in the unit %q, want %q", got, want)
	}
}

// degraded: C31, a manager in whatever state takes jobs.
func degraded(t *testing.T, h host.Host) {
	unitFile(t, h, "x-broken.service", "[Service]\nType=oneshot\nExecStart=/bin/false\n")
	unitFile(t, h, "x-fine.service", "[Service]\nType=oneshot\nExecStart=/bin/true\n")
	jobError(t, h.Units.Run(t.Context(), host.JobStart, "x-broken.service"), "failed")
	if m, err := h.Units.Manager(t.Context()); err != nil || m.State != "degraded" || m.Version < 240 {
		t.Errorf("the manager is %+v (%v)", m, err)
	}
	ok(t, h.Units.Run(t.Context(), host.JobStart, "x-fine.service"))
}
