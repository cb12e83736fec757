package report

import (
	"fmt"
	"strings"

	"hostler/interpreter/block"
)

// Plan writes a plan.
func (t *Text) Plan(p Plan) {
	t.actions(p)
	if p.cut {
		t.Out.printf("Plan, as far as it goes: %s.\n", p.Summary.orNothing())
		return
	}
	t.Out.printf("%s\n", p.Summary.sentence())
}

// Verification writes a plan as what was found when the host was compared
// with what was applied.
func (t *Text) Verification(p Plan) {
	t.actions(p)
	if p.cut {
		t.Out.printf("The host, as far as it was compared: %s.\n", p.Summary.orNothing())
		return
	}
	if !p.Differs() {
		t.Out.printf("The host is as it was applied: %s.\n", counted(p.Summary.None, "step", "steps"))
		return
	}
	t.Out.printf("The host differs from what was applied: %s.\n", p.Summary.parts())
}

func (t *Text) actions(p Plan) {
	for _, a := range p.Actions {
		if t.Quiet || a.Action == string(block.ActionNone) && !t.Verbose {
			continue
		}
		t.enter(a.Stage)
		t.step(a, "")
		t.Out.diff(a.Diff)
	}
	if !t.Quiet {
		t.waiting(p)
	}
	for _, d := range p.Diagnostics {
		t.Warning(d)
	}
}

// waiting writes what a run would leave to later, and what it found edited.
func (t *Text) waiting(p Plan) {
	if len(p.Deferred)+len(p.Pending)+len(p.Drift) > 0 {
		t.head("beside that")
	}
	for _, n := range p.Deferred {
		t.wait("later", n.Address, n.Text)
	}
	for _, n := range p.Pending {
		t.wait("pending", n.Address, n.sentence())
	}
	for _, d := range p.Drift {
		t.Out.printf("  %s %-7s %s: %s is %s (on_drift = %q)\n", t.Out.paint(yellow, "≠"), "drift", d.Address, d.Thing, d.Found, d.OnDrift)
	}
}

// sentence says a plan's summary in one line.
func (s Summary) sentence() string {
	if !s.Changes() {
		return nothingToDo(s.None) + "."
	}
	return "Plan: " + s.parts() + "."
}

func (s Summary) orNothing() string {
	if parts := s.parts(); parts != "" {
		return parts
	}
	return "nothing"
}

func (s Summary) parts() string {
	var parts []string
	for _, part := range []struct {
		n    int
		word string
	}{
		{s.Create, "create"}, {s.Update, "update"}, {s.Replace, "replace"}, {s.Delete, "delete"},
		{s.Restart, "restart"}, {s.Run, "run"}, {s.Unknown, "unknown"}, {s.None, "unchanged"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	return strings.Join(parts, ", ")
}
