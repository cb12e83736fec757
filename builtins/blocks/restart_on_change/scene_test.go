package restartonchange

import (
	"context"
	"slices"
	"testing"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

var background = context.Background()

const body = "name = \"a.service\"\nwatch = [\"write_file_if_changed.x\", \"systemd_unit.y\"]\n"

// scene is a host with a unit and the restarts that are owed.
type scene struct {
	t     *testing.T
	m     *memory.Memory
	h     host.Host
	debts []block.Debt
	own   string
	warns []block.Warning
	jobs  *[]string
}

// noting notes jobs and cleared failures.
type noting struct {
	host.Units
	jobs *[]string
}

func (n noting) Run(ctx context.Context, verb host.JobVerb, name string) error {
	*n.jobs = append(*n.jobs, string(verb))
	return n.Units.Run(ctx, verb, name)
}

func (n noting) Queue(ctx context.Context, verb host.JobVerb, name string) error {
	*n.jobs = append(*n.jobs, "queue "+string(verb))
	return n.Units.Queue(ctx, verb, name)
}

func (n noting) ResetFailed(ctx context.Context, name string) error {
	*n.jobs = append(*n.jobs, "reset-failed")
	return n.Units.ResetFailed(ctx, name)
}

func newScene(t *testing.T, o memory.Options) *scene {
	m := memory.New(o)
	s := &scene{t: t, m: m, h: m.Host(), jobs: &[]string{}}
	s.h.Units = noting{s.h.Units, s.jobs}
	return s
}

func running(script memory.Script) memory.Options {
	return memory.Options{
		Units:   []memory.Unit{{Name: "a.service", Content: "[Service]\nExecStart=/usr/bin/sleep infinity\nExecReload=/usr/bin/true\n", Running: true}},
		Scripts: map[string]memory.Script{"a.service": script},
	}
}

func stays(int) memory.Outcome { return memory.Outcome{} }

func (s *scene) unit() host.UnitState {
	s.t.Helper()
	u, err := s.h.Units.Unit(background, "a.service")
	if err != nil {
		s.t.Fatal(err)
	}
	return u
}

// owe notes a debt as the walk does: before a change that is then in place.
func (s *scene) owe(cause, reason string) {
	s.t.Helper()
	inv := s.unit().InvocationID
	must(s.t, s.h.Clock.Sleep(background, time.Second))
	s.debts = append(s.debts, block.Debt{Step: "restart_on_change.a", Cause: cause, Reason: reason, Unit: "a.service", Invocation: inv, InPlace: s.h.Clock.Monotonic()})
	must(s.t, s.h.Clock.Sleep(background, time.Second))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *scene) look() block.Look {
	return block.Look{View: s.h.View(), Outer: s.h.View(), Debts: s.debts, OwnUnit: s.own}
}

func (s *scene) do() block.Do {
	return block.Do{Look: s.look(), Host: s.h, OuterHost: s.h, Progress: func(block.Progress) {},
		Warn: func(w block.Warning) { s.warns = append(s.warns, w) }}
}

func (s *scene) check(body string) block.Change {
	s.t.Helper()
	change, err := blocktest.Step(s.t, Type(), body).Check(background, s.look())
	if err != nil {
		s.t.Fatal(err)
	}
	return change
}

func (s *scene) apply(body string) error {
	s.t.Helper()
	return blocktest.Step(s.t, Type(), body).Apply(background, s.do())
}

// wantJobs tells which jobs were asked for since the last time.
func (s *scene) wantJobs(want ...string) {
	s.t.Helper()
	if !slices.Equal(*s.jobs, want) {
		s.t.Errorf("jobs %q, want %q", *s.jobs, want)
	}
	*s.jobs = nil
}
