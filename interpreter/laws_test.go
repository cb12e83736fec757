package interpreter_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/rehearse/laws"
)

// scenario is a recipe on a host, and its next version.
type scenario struct {
	name string
	opts func(testing.TB) memory.Options
	v1   given
	v2   *given
	// moved is what a repave of v1 goes to, nil when it has no second slot.
	moved *given
	// every n-th point is tried; 1 is all, 0 none.
	crash, power, errno int
}

func (s scenario) rig(t testing.TB) *rig { return newRig(t, s.opts(t)) }

// law is the scenario as package laws has it.
func (s scenario) law(t testing.TB) laws.Scenario {
	t.Helper()
	l := laws.Scenario{Rig: func() *laws.Rig { return s.rig(t).Rig }, V1: s.rig(t).request(s.v1)}
	if s.v2 != nil {
		next := s.rig(t).request(*s.v2)
		l.V2 = &next
	}
	if s.moved != nil {
		moved := s.rig(t).request(*s.moved)
		l.Moved = &moved
	}
	return l
}

// end is what counts about the host.
func (r *rig) end() laws.Ending {
	r.Helper()
	e, err := r.End()
	r.ok(err)
	return e
}

// TestLaws: a second run changes nothing, a plan is what apply does, an update
// prunes to the same host, and a reset gives the host back.
func TestLaws(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			l := s.law(t)
			for _, law := range laws.Names() {
				if law == laws.CrashConverges {
					continue // TestEveryEffect
				}
				for _, bad := range l.Check(context.Background(), law) {
					t.Errorf("%s: %s", law, bad)
				}
			}
			if s.v2 != nil {
				s.thereAndBack(t)
			}
		})
	}
}

// planned plans and applies, quiet runs again.
func (r *rig) planned(g given) { r.Helper(); r.found(r.Planned(r.request(g))) }
func (r *rig) quiet(g given)   { r.Helper(); r.found(r.Quiet(r.request(g))) }

func (r *rig) found(bad []string) {
	r.Helper()
	for _, b := range bad {
		r.Error(b)
	}
}

// touch is a program that makes a file.
func touch(name string) memory.Program {
	return func(i memory.Invocation) host.CommandResult {
		if err := host.Replace(i.Host.Files, name, host.Content{Mode: 0o644}); err != nil {
			return host.CommandResult{ExitCode: 1, Stderr: []byte(err.Error())}
		}
		return host.CommandResult{}
	}
}

// thereAndBack updates and goes back to the first version, quietly.
func (s scenario) thereAndBack(t *testing.T) {
	r := s.rig(t)
	r.must(apply, s.v1)
	first := r.end()
	for _, g := range []given{*s.v2, s.v1} {
		r.planned(g)
		r.quiet(g)
	}
	if diff := r.end().Differs(first); len(diff) > 0 {
		t.Errorf("there and back again: %v", diff)
	}
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestBrokenLaws: what is wrong with a recipe is found.
func TestBrokenLaws(t *testing.T) {
	const restless = "command \"date\" {\n argv = [\"date\"]\n creates = \"/var/lib/stamp\"\n}\n"
	const leaves = restless + "reset_step \"r\" {\n run { argv = [\"true\"] }\n}\n"
	stamp := memory.Options{Executables: []string{"date"}, Programs: map[string]memory.Program{"date": touch("/var/lib/stamp")}}
	never := memory.Options{Executables: []string{"date"}, Programs: map[string]memory.Program{"date": touch("/var/lib/other")}}
	for _, tt := range []struct {
		name, law, body, want string
		opts                  memory.Options
	}{
		{"a command that never makes what it says", laws.AgainIsNothing, restless, "apply fails", never},
		{"a file that nobody removes", laws.ResetRestores, leaves, "left behind: /var/lib/stamp", stamp},
		{"no such law", "no-law", restless, "there is no law", stamp},
		{"no apply, no crash", laws.CrashConverges, restless, "apply fails", never},
		{"no apply, no plan", laws.PlanIsApply, restless, "apply fails", never},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := scenario{v1: a(tt.body), opts: func(testing.TB) memory.Options { return tt.opts }}
			bad := s.law(t).Check(context.Background(), tt.law)
			if !strings.Contains(strings.Join(bad, "\n"), tt.want) {
				t.Errorf("found %q, want %q", bad, tt.want)
			}
		})
	}
}

// TestEndless: laws are given up when the time is up.
func TestEndless(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("time is up"))
	if bad := small().law(t).Check(ctx, laws.CrashConverges); len(bad) > 0 {
		t.Error(bad)
	}
}
