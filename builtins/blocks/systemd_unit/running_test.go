package systemdunit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

// TestC31: an unrelated failed unit, or a system that is still starting, hinders
// nothing.
func TestC31DegradedSystem(t *testing.T) {
	s := newScene(t, memory.Options{
		Units:   []memory.Unit{{Name: "bad.service", Content: "[Service]\nType=oneshot\nExecStart=/usr/bin/false\n"}},
		Scripts: map[string]memory.Script{"bad.service": func(int) memory.Outcome { return memory.Outcome{Ends: true, Status: 1} }},
	})
	if err := s.Host.Units.Run(context.Background(), host.JobStart, "bad.service"); err == nil {
		t.Fatal("the dummy did not fail")
	}
	if m, err := s.Host.Units.Manager(context.Background()); err != nil || m.State != "degraded" {
		t.Fatalf("the system is %q, %v", m.State, err)
	}
	s.MustApply(t, s.step("name = \"a.service\"\nenable = true\nstate = \"started\"\n"+heredoc))
	if !s.unit("a.service").Running() {
		t.Error("the unit does not run")
	}
}

// TestNotThereYet: what an earlier step has still to bring is unknown to check
// and an error of apply; stopping or disabling it is nothing to do.
func TestNotThereYet(t *testing.T) {
	s := newScene(t, memory.Options{})
	for _, body := range []string{"name = \"gone.service\"\nstate = \"started\"\n", "name = \"gone.service\"\nenable = true\n"} {
		step := s.step(body)
		if change := s.MustCheck(t, step); change.Action != block.ActionUnknown || !strings.Contains(change.Reason, "gone.service") {
			t.Errorf("%s: %+v", body, change)
		}
		s.fails(step, "no such unit")
	}
	s.MustHold(t, s.step("name = \"gone.service\"\nstate = \"stopped\"\nenable = false\n"))
}

func TestStop(t *testing.T) {
	s := newScene(t, withForeign(true))
	refuse := errors.New("refused")
	stop := func(extra string) block.Step { return s.step("name = \"f.service\"\nstate = \"stopped\"\n" + extra) }
	s.Host.Units = failing{s.Host.Units, host.JobStop, refuse}
	if err := s.Apply(stop("")); !errors.Is(err, refuse) || !strings.Contains(err.Error(), "f.service") {
		t.Errorf("a failing stop: %v", err)
	}
	if err := s.Apply(stop("on_stop_failure = \"warn\"\n")); err != nil || len(s.Warnings) != 1 {
		t.Errorf("a failing stop that only warns: %v, %v", err, s.Warnings)
	}
	s.Host.Units = s.Host.Units.(failing).Units
	s.MustApply(t, stop(""))
	s.MustReset(t, stop(""))
	if !s.unit("f.service").Running() {
		t.Error("reset did not start it again")
	}
}

// failing refuses one kind of job.
type failing struct {
	host.Units
	verb host.JobVerb
	err  error
}

func (f failing) Run(ctx context.Context, verb host.JobVerb, name string) error {
	if verb == f.verb {
		return f.err
	}
	return f.Units.Run(ctx, verb, name)
}

// TestStartFaults: what "done" hides is an error with the unit's log.
func TestStartFaults(t *testing.T) {
	service := func(lines ...string) string {
		return `content = "[Service]\nExecStart=/usr/bin/sleep 1\n` + strings.Join(lines, `\n`) + `\n"` + "\n"
	}
	ends := func(after time.Duration, status int) memory.Script {
		return func(int) memory.Outcome {
			return memory.Outcome{Ends: true, After: after, Status: status, Log: []string{"cannot bind"}}
		}
	}
	cases := map[string]struct {
		body   string
		script memory.Script
		want   string
	}{
		"missing binary": {body: `content = "[Service]\nExecStart=/nowhere\n"` + "\n", want: "status 203"},
		"dies soon":      {service(), ends(200*time.Millisecond, 3), "status 3"},
		"ends by itself": {service(), ends(200*time.Millisecond, 0), "ended by itself"},
		"crash loop":     {service("Restart=always", "RestartSec=5s"), ends(10*time.Millisecond, 1), "does not stay up"},
		"start limit":    {service("Restart=always", "RestartSec=100ms"), ends(time.Millisecond, 1), "start-limit-hit"},
		"endless loop":   {service("Restart=always", "RestartSec=300ms", "[Unit]", "StartLimitIntervalSec=0"), ends(50*time.Millisecond, 1), "does not"},
		"oneshot fails":  {service("Type=oneshot"), ends(0, 4), "status 4"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := memory.Options{Scripts: map[string]memory.Script{}}
			if c.script != nil {
				o.Scripts["a.service"] = c.script
			}
			s := newScene(t, o)
			err := s.Apply(s.step("name = \"a.service\"\nstate = \"started\"\n" + c.body))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "a.service") {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if c.script != nil && name != "start limit" && name != "ends by itself" && !strings.Contains(err.Error(), "cannot bind") {
				t.Errorf("the log is not in the error: %v", err)
			}
		})
	}
}

// TestOneshot: one that has run with success is started; again is nothing.
func TestOneshot(t *testing.T) {
	runs := 0
	s := newScene(t, memory.Options{Scripts: map[string]memory.Script{"a.service": func(int) memory.Outcome {
		runs++
		return memory.Outcome{Ends: true}
	}}})
	step := s.step("name = \"a.service\"\nstate = \"started\"\ncontent = \"[Service]\\nType=oneshot\\nExecStart=/usr/bin/true\\n\"\n")
	s.MustApply(t, step)
	s.MustApply(t, step)
	if runs != 1 {
		t.Errorf("it ran %d times", runs)
	}
	s.m.Reboot()
	if change := s.MustCheck(t, step); !change.Needed() {
		t.Error("after a reboot it has not run")
	}
}

// TestConditions: a oneshot unit whose condition is not met need not run; one
// that should keep running does not run then, which is an error.
func TestConditions(t *testing.T) {
	body := "name = \"a.service\"\nstate = \"started\"\nenable = true\ncontent = \"[Unit]\\nConditionPathExists=/nowhere\\n[Service]\\nType=%s\\nExecStart=/usr/bin/sleep 1\\n[Install]\\nWantedBy=multi-user.target\\n\"\n"
	s := newScene(t, memory.Options{})
	once := s.step(strings.Replace(body, "%s", "oneshot", 1))
	s.MustApply(t, once)
	s.MustApply(t, once)
	s = newScene(t, memory.Options{})
	simple := strings.Replace(body, "%s", "simple", 1)
	s.fails(s.step(simple), "condition of it (Condition")
	s = newScene(t, memory.Options{})
	s.fails(s.step(strings.Replace(simple, "enable = true\n", "", 1)), "a condition of it is not met, or it ended at once")
}

// TestR111: reset-failed precedes a start, and a refusal of it is tolerated.
func TestR111StartLimit(t *testing.T) {
	broken := true
	s := newScene(t, memory.Options{Scripts: map[string]memory.Script{"a.service": func(int) memory.Outcome {
		return memory.Outcome{Ends: broken, Status: 1}
	}}})
	step := s.step("name = \"a.service\"\nstate = \"started\"\ncontent = \"[Service]\\nExecStart=/usr/bin/sleep 1\\nRestart=always\\n\"\n")
	s.fails(step, "start-limit-hit")
	broken = false
	s.m.Refuse(memory.CallResetFailed, errors.New("denied"))
	s.fails(step, "start-limit-hit")
	s.m.Refuse(memory.CallResetFailed, nil)
	s.MustApply(t, step)
}

func TestStartUnless(t *testing.T) {
	options := memory.Options{Machines: []memory.Machine{{Name: "kube1", Running: true}}}
	body := "name = \"a.service\"\nstate = \"started\"\nstart_unless {\n machines = [\"kube1\", \"kube2\"]\n}\n" + heredoc
	s := newScene(t, options)
	s.MustApply(t, s.step(body))
	if s.unit("a.service").Running() {
		t.Error("it was started although kube1 is registered")
	}
	options.Machines[0].Running = false
	s = newScene(t, options)
	s.MustApply(t, s.step(body))
	if !s.unit("a.service").Running() {
		t.Error("it was not started although no machine is registered")
	}
	s = newScene(t, memory.Options{NoSystemdContainer: true})
	s.complains(s.step(body), host.ErrNoMachined.Error())
	s = newScene(t, memory.Options{})
	s.m.Refuse(memory.CallRegistered, errors.New("timed out"))
	s.complains(s.step(body), "the machines cannot be listed: timed out")
	s = newScene(t, memory.Options{Offline: true})
	if change := s.MustCheck(t, s.step(body)); len(change.Deferred) != 1 {
		t.Errorf("offline: %+v", change)
	}
}

// TestForeignRestart: a foreign unit that runs is restarted when the files that
// the step gave it are gone, and once only.
func TestForeignRestart(t *testing.T) {
	s := newScene(t, withForeign(true))
	step := s.step("name = \"f.service\"\ndrop_in \"10-x.conf\" {\n content = \"[Service]\\nNice=1\\n\"\n}\ndrop_in \"20-y.conf\" {\n content = \"[Service]\\nNice=2\\n\"\n}\n")
	first := s.unit("f.service").InvocationID
	s.MustApply(t, step)
	if s.unit("f.service").InvocationID != first {
		t.Error("apply restarted it")
	}
	var jobs []string
	s.Host.Units = counting{s.Host.Units, &jobs}
	s.MustReset(t, step)
	if !slices.Equal(jobs, []string{"restart f.service"}) || s.unit("f.service").InvocationID == first {
		t.Errorf("jobs on reset: %q", jobs)
	}
}

// counting notes the jobs.
type counting struct {
	host.Units
	jobs *[]string
}

func (c counting) Run(ctx context.Context, verb host.JobVerb, name string) error {
	*c.jobs = append(*c.jobs, string(verb)+" "+name)
	return c.Units.Run(ctx, verb, name)
}

func (c counting) Queue(ctx context.Context, verb host.JobVerb, name string) error {
	*c.jobs = append(*c.jobs, "queue "+string(verb)+" "+name)
	return c.Units.Queue(ctx, verb, name)
}

// TestRunningWithoutStep: a unit whose content goes is stopped though no step
// manages its state (C80).
func TestC80RunningUnitWithoutFile(t *testing.T) {
	s := newScene(t, memory.Options{})
	step := s.step("name = \"a.service\"\n" + heredoc)
	s.MustApply(t, step)
	if err := s.Host.Units.Run(context.Background(), host.JobStart, "a.service"); err != nil {
		t.Fatal(err)
	}
	s.MustReset(t, step)
	if s.unit("a.service").Running() {
		t.Error("it still runs without a file")
	}
}

// TestOwnUnitIsNotWaitedFor: neither the unit we run in nor one ordered after
// it is waited for.
func TestC30OrderedAfterOurselves(t *testing.T) {
	s := newScene(t, memory.Options{Files: map[string]memory.File{
		"/usr/lib/systemd/system/late.target":  {Content: "[Unit]\nAfter=hostler.service\n"},
		"/usr/lib/systemd/system/late.service": {Content: "[Unit]\nAfter=late.target\n" + plain},
		"/usr/lib/systemd/system/free.service": {Content: plain},
	}})
	var jobs []string
	s.Host.Units = counting{s.Host.Units, &jobs}
	for _, name := range []string{"late", "free"} {
		do := s.Do()
		do.OwnUnit = "hostler.service"
		if err := s.step("name = \""+name+".service\"\nstate = \"started\"\n").Apply(context.Background(), do); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(jobs, []string{"queue start late.service", "start free.service"}) || len(s.Warnings) != 1 {
		t.Errorf("jobs %q, warnings %v", jobs, s.Warnings)
	}
	do := s.Do()
	do.OwnUnit = "free.service"
	stop := s.step("name = \"free.service\"\nstate = \"stopped\"\n")
	if err := stop.Apply(context.Background(), do); err != nil {
		t.Fatal(err)
	}
	start := s.step("name = \"free.service\"\nstate = \"started\"\n")
	if err := start.Reset(context.Background(), do, start.Owns()[0].Thing, thing.Origin{Kind: thing.OriginAbsent}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(jobs[2:], []string{"queue stop free.service", "queue stop free.service"}) {
		t.Errorf("jobs %q", jobs)
	}
}

// TestQueuedStartIsEnough: a start that waits for us is not asked for again.
func TestQueuedStartIsEnough(t *testing.T) {
	s := newScene(t, withForeign(false))
	s.Host.Units = waiting{s.Host.Units}
	step := s.step("name = \"f.service\"\nstate = \"started\"\n")
	look := s.Do().Look
	look.OwnUnit = "hostler.service"
	change, err := step.Check(context.Background(), look)
	if err != nil || change.Needed() {
		t.Errorf("%+v, %v", change, err)
	}
}

// waiting has a start job for every unit, after ours.
type waiting struct{ host.Units }

func (w waiting) Unit(ctx context.Context, name string) (host.UnitState, error) {
	u, err := w.Units.Unit(ctx, name)
	u.JobType, u.After = "start", []string{"hostler.service"}
	return u, err
}

// TestStartingAtBootIsWaitedFor: a start that the boot has queued is no drift
// that has to be repaired; one that fails is.
func TestStartingAtBootIsWaitedFor(t *testing.T) {
	s := newScene(t, memory.Options{Units: []memory.Unit{
		{Name: "slow.service", Content: "[Service]\nType=oneshot\nExecStart=/bin/sleep infinity\n"},
		{Name: "late.service", Content: "[Unit]\nRequires=slow.service\nAfter=slow.service\n[Service]\nExecStart=/bin/sleep infinity\n"},
	}})
	if err := s.Host.Units.Queue(context.Background(), host.JobStart, "late.service"); err != nil {
		t.Fatal(err)
	}
	if u := s.unit("late.service"); u.JobType != "start" || u.Running() {
		t.Fatalf("no start is queued: %+v", u)
	}
	started := s.step("name = \"late.service\"\nstate = \"started\"\n")
	if c := s.MustCheck(t, started); !c.Needed() || c.Wait != startTime {
		t.Errorf("while its start is queued: %+v", c)
	}
	if err := s.Host.Units.Run(context.Background(), host.JobStop, "late.service"); err != nil {
		t.Fatal(err)
	}
	if c := s.MustCheck(t, started); !c.Needed() || c.Wait != 0 {
		t.Errorf("without a start: %+v", c)
	}
	changed := s.step("name = \"late.service\"\nstate = \"started\"\nrestart = \"never\"\ndrop_in \"a.conf\" {\n content = \"[Unit]\\n\"\n}\n")
	if err := s.Host.Units.Queue(context.Background(), host.JobStart, "late.service"); err != nil {
		t.Fatal(err)
	}
	if c := s.MustCheck(t, changed); !c.Needed() || c.Wait != 0 {
		t.Errorf("with a file to write: %+v", c)
	}
}
