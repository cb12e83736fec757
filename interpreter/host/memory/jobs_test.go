package memory_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func TestC27StartLimit(t *testing.T) {
	b := unitBox(t, map[string]string{"a.service": "[Unit]\nStartLimitBurst=2\nStartLimitIntervalSec=120\n" + service})
	for range 2 {
		b.run(host.JobRestart, "a.service")
	}
	if got := b.jobResult(host.JobRestart, "a.service"); got != "failed" {
		t.Errorf("the third restart ends with %q", got)
	}
	if u := b.unit("a.service"); u.Result != "start-limit-hit" || u.ActiveState != "failed" {
		t.Errorf("at the limit the unit is %+v", u)
	}
	if got := b.jobResult(host.JobStart, "a.service"); got != "failed" {
		t.Errorf("a start at the limit ends with %q", got)
	}
	b.ok(b.Units.ResetFailed(t.Context(), "a.service"))
	b.run(host.JobStart, "a.service")
	b.Advance(3 * time.Minute)
	b.run(host.JobRestart, "a.service")
	if b.state("a.service") != "active" {
		t.Error("the limit does not forget")
	}
}

func TestAutomaticRestarts(t *testing.T) {
	tests := map[string]struct {
		rule     string
		out      memory.Outcome
		restarts bool
	}{
		"no":                    {"", memory.Outcome{Ends: true, Status: 1}, false},
		"always after success":  {"Restart=always", memory.Outcome{Ends: true}, true},
		"on-success":            {"Restart=on-success", memory.Outcome{Ends: true}, true},
		"on-success, failed":    {"Restart=on-success", memory.Outcome{Ends: true, Status: 1}, false},
		"on-failure":            {"Restart=on-failure", memory.Outcome{Ends: true, Status: 1}, true},
		"on-failure, succeeded": {"Restart=on-failure", memory.Outcome{Ends: true}, false},
		"on-abnormal":           {"Restart=on-abnormal", memory.Outcome{Ends: true, Signal: 6}, true},
		"on-abort, failed":      {"Restart=on-abort", memory.Outcome{Ends: true, Status: 1}, false},
		"prevented":             {"Restart=always\nRestartPreventExitStatus=69", memory.Outcome{Ends: true, Status: 69}, false},
		"forced":                {"RestartForceExitStatus=133", memory.Outcome{Ends: true, Status: 133}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, memory.Options{
				Files: unitFiles(map[string]string{"a.service": service + tt.rule + "\nRestartSec=1\n"}),
				Scripts: map[string]memory.Script{"a.service": func(n int) memory.Outcome {
					if n == 1 {
						return tt.out
					}
					return memory.Outcome{}
				}},
			})
			b.run(host.JobStart, "a.service")
			b.Advance(500 * time.Millisecond)
			if got := b.unit("a.service").SubState == "auto-restart"; got != tt.restarts {
				t.Errorf("waits for a restart: %v, want %v", got, tt.restarts)
			}
			b.Advance(2 * time.Second)
			u := b.unit("a.service")
			if got := u.ActiveState == "active" && u.NRestarts == 1; got != tt.restarts {
				t.Errorf("after a while the unit is %+v", u)
			}
		})
	}
}

func TestH19CrashLoopEndsAtTheLimitAndRunsOnFailure(t *testing.T) {
	b := unitBox(t, map[string]string{
		"a.service":    "[Unit]\nOnFailure=help.service none.service\n[Service]\nExecStart=/bin/false\nRestart=always\n",
		"help.service": service,
	})
	b.run(host.JobStart, "a.service")
	if b.state("a.service") == "failed" {
		t.Error("a crash loop has failed at once")
	}
	b.Advance(time.Minute)
	u := b.unit("a.service")
	if u.ActiveState != "failed" || u.Result != "start-limit-hit" || u.NRestarts != 5 {
		t.Errorf("after a minute the crash loop is %+v", u)
	}
	if b.state("help.service") != "active" {
		t.Error("OnFailure did not start its unit")
	}
}

func TestC31OtherManagerStates(t *testing.T) {
	b := newBox(t, memory.Options{Units: []memory.Unit{
		{Name: "bad.service", Content: "[Service]\nExecStart=/bin/false\n" + wanted, Enabled: true},
		{Name: "slow.service", Content: "[Service]\nType=oneshot\nExecStart=/bin/sleep infinity\n" + wanted, Enabled: true},
		{Name: "a.service"},
	}})
	state := func() string {
		s, err := b.Units.Manager(t.Context())
		b.ok(err)
		return s.State
	}
	if state() != "starting" {
		t.Errorf("while a job of the boot runs the state is %q", state())
	}
	b.run(host.JobStart, "a.service")
	b.run(host.JobStop, "slow.service")
	b.Advance(time.Second)
	if state() != "degraded" {
		t.Errorf("with a failed unit the state is %q", state())
	}
	b.ok(b.Units.ResetFailed(t.Context(), "bad.service"))
	if state() != "running" {
		t.Errorf("the state is %q", state())
	}
}

func TestC30OrderedAfterOurselves(t *testing.T) {
	b := newBox(t, memory.Options{Units: []memory.Unit{
		{Name: "boot.service", Content: "[Service]\nType=oneshot\nExecStart=/bin/sleep infinity\n" + wanted, Enabled: true},
		{Name: "x.service", Content: "[Unit]\nAfter=boot.service\n" + service},
	}})
	ctx, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer end()
	b.is(b.Units.Run(ctx, host.JobStart, "x.service"), context.DeadlineExceeded)
	if u := b.unit("x.service"); u.JobType != "start" || u.ActiveState != "inactive" {
		t.Errorf("the unit that waits is %+v", u)
	}
	if err := b.Units.Run(context.Background(), host.JobStart, "x.service"); err == nil || !strings.Contains(err.Error(), "never ends") {
		t.Errorf("a wait that nothing ends: %v", err)
	}
	// A queued start goes on once we are done.
	b.run(host.JobStop, "boot.service")
	b.Advance(time.Second)
	if b.state("x.service") != "active" {
		t.Error("the queued start is lost")
	}
}

func TestC32JobResults(t *testing.T) {
	b := unitBox(t, map[string]string{
		"bad.service":  "[Service]\nType=oneshot\nExecStart=/bin/false\n",
		"a.service":    "[Unit]\nRequires=bad.service\nAfter=bad.service\n" + service,
		"slow.service": "[Service]\nType=notify\nExecStart=/bin/sleep infinity\n",
		"fine.service": service,
		"gone.service": "[Unit]\nRequires=fine.service nowhere.service\n" + service,
		"weak.service": "[Unit]\nWants=nowhere.service not/valid bad.service\nRequires=\n" + service,
	})
	err := b.Units.Run(t.Context(), host.JobStart, "a.service")
	if e, ok := errors.AsType[*host.JobError](err); !ok || e.Result != "dependency" || !strings.Contains(e.Detail, "bad.service") {
		t.Errorf("a failed dependency: %v", err)
	}
	b.is(b.Units.Run(t.Context(), host.JobStart, "gone.service"), host.ErrNoUnit)
	b.Advance(time.Second)
	if b.state("fine.service") != "inactive" {
		t.Error("a transaction that was refused was carried out in part")
	}
	b.run(host.JobStart, "weak.service")

	b.SetScript("slow.service", func(int) memory.Outcome { return memory.Outcome{Silent: true} })
	stopped := make(chan error)
	b.SetScript("slow.service", func(int) memory.Outcome {
		go func() { stopped <- b.Units.Queue(context.Background(), host.JobStop, "slow.service") }()
		b.ok(<-stopped)
		return memory.Outcome{Silent: true}
	})
	if got := b.jobResult(host.JobStart, "slow.service"); got != "canceled" {
		t.Errorf("a start that was stopped meanwhile ends with %q", got)
	}
	if b.state("slow.service") != "inactive" {
		t.Error("the stop did not win")
	}
}

func TestJobsFailOnRequest(t *testing.T) {
	b := newBox(t, memory.Options{Units: []memory.Unit{{Name: "a.service", Running: true}}})
	for _, verb := range []host.JobVerb{host.JobStop, host.JobRestart} {
		b.FailJob(verb, "a.service", "timeout")
		if got := b.jobResult(verb, "a.service"); got != "timeout" {
			t.Errorf("%s ends with %q", verb, got)
		}
		b.FailJob(verb, "a.service", "")
	}
	if b.state("a.service") != "active" {
		t.Error("a job that failed on request touched the unit")
	}
	b.run(host.JobStop, "a.service")
}

func TestC33ReloadRefused(t *testing.T) {
	b := newBox(t, memory.Options{Units: []memory.Unit{{Name: "a.service", Running: true}}})
	full := errors.New("refusing to reload, not enough space in /run/systemd")
	b.put("/usr/lib/systemd/system/a.service", "[Service]\nExecStart=/bin/false\n")
	b.Refuse(memory.CallReload, full)
	b.is(b.Units.Reload(t.Context()), full)
	b.run(host.JobRestart, "a.service")
	b.Advance(time.Second)
	if u := b.unit("a.service"); u.ActiveState != "active" || !u.NeedDaemonReload {
		t.Errorf("without a reload the old definition runs: %+v", u)
	}
	b.Refuse(memory.CallReload, nil)
	b.ok(b.Units.Reload(t.Context()))
	b.run(host.JobRestart, "a.service")
	b.Advance(time.Second)
	if b.state("a.service") != "failed" {
		t.Error("the new definition does not count")
	}
	denied := errors.New("access denied")
	for _, call := range []memory.Call{memory.CallResetFailed, memory.CallUnit, memory.CallManager} {
		b.Refuse(call, denied)
	}
	b.is(b.Units.ResetFailed(t.Context(), "a.service"), denied)
	_, err := b.Units.Unit(t.Context(), "a.service")
	b.is(err, denied)
	_, err = b.Units.Log(t.Context(), "a.service", 1)
	b.is(err, denied)
	_, err = b.Units.Manager(t.Context())
	b.is(err, denied)
}

// A manager that dies while a job is waited for does not answer any more.
func TestMachineDiesWhileAJobIsWaitedFor(t *testing.T) {
	b := machineBox(t, func(o *memory.Options) {
		o.Scripts = map[string]memory.Script{"kube1/other.service": func(int) memory.Outcome {
			return memory.Outcome{Ends: true, After: time.Hour}
		}}
		o.Machines[0].Units[1].Content = "[Service]\nType=oneshot\nExecStart=/bin/sleep 1\n"
	})
	in := b.within("kube1")
	b.ok(b.Machines.Terminate(t.Context(), "kube1"))
	b.is(in.Units.Run(t.Context(), host.JobStart, "other.service"), host.ErrNoManager)
}
