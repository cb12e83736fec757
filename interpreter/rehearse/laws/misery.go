package laws

import (
	"context"
	"fmt"
	"strings"

	"hostler/interpreter"
)

// Misery lets the runs of a scenario go wrong at their effects, and wants the
// same host in the end.
type Misery struct {
	Scenario
	Ways []Way
	// Every tries all points, whatever the ways say.
	Every bool
	// Points bounds how many points are tried with each way and scene, spread
	// over all effects; 0 is no bound.
	Points int
	// Report takes what is wrong.
	Report func(string)
	// Tried counts the points that were tried, All those there are, and Effects
	// the effects of apply.
	Tried, All map[string]int
	Effects    int
}

func (s Scenario) crashConverges(ctx context.Context) (bad []string) {
	m := &Misery{Scenario: s, Ways: Crashes(1), Every: s.Every, Points: crashPoints, Report: func(text string) { bad = append(bad, text) }}
	m.Apply(ctx)
	m.Reset(ctx)
	return bad
}

// crashPoints is at how many effects of each scene and way a recipe's law is
// tried, unless all are asked for.
const crashPoints = 10

// each runs a scene for the points of every way, of faults that a run survives
// only every thin-th. Ways begin at different points, so that together they see
// more.
func (m *Misery) each(ctx context.Context, what string, effects, thin int, scene func(w Way, n int) string) {
	if m.Tried == nil {
		m.Tried, m.All = map[string]int{}, map[string]int{}
	}
	m.All[what] += effects * len(m.Ways)
	for i, w := range m.Ways {
		step, first := w.Every, 1
		if w.Survived {
			step *= thin
		}
		if m.Points > 0 {
			step = max(step, (effects+m.Points-1)/m.Points)
		}
		if m.Every {
			step = 1
		}
		if step > 1 {
			first = 1 + i*7%step
		}
		for n := first; n <= effects && ctx.Err() == nil; n += step {
			m.Tried[what]++
			if bad := scene(w, n); bad != "" {
				m.Report(fmt.Sprintf("%s, %s %s", what, w.Name, bad))
				break // the next points will say the same
			}
		}
	}
}

// count runs a command without faults and counts its effects.
func (m *Misery) count(r *Rig, what string, do Verb, req interpreter.Request) (n int, ok bool) {
	if _, err := r.Run(do, req); err != nil {
		m.Report(what + " fails without any fault: " + err.Error())
		return 0, false
	}
	return len(r.Plan.Log()), true
}

// ended compares the end of a host with what is wanted.
func ended(r *Rig, want Ending) string {
	got, err := r.End()
	if err != nil {
		return "in the end the record is damaged: " + err.Error()
	}
	if diff := got.Differs(want); len(diff) > 0 {
		return fmt.Sprintf("in the end it differs: %s", strings.Join(diff, ", "))
	}
	return ""
}

// Apply lets installations go wrong; ensure must then complete them, and reset
// undo them.
func (m *Misery) Apply(ctx context.Context) {
	clean := m.Rig()
	effects, ok := m.count(clean, "apply", apply, m.V1)
	if m.Effects = effects; !ok {
		return
	}
	want, err := clean.End()
	if err != nil {
		m.Report("apply leaves a damaged record: " + err.Error())
		return
	}
	m.each(ctx, "apply", effects, 1, func(w Way, n int) string {
		r := m.Rig()
		at := r.GoWrong(w, n, apply, m.V1)
		if _, err := r.Run(ensure, m.V1); err != nil {
			return fmt.Sprintf("%s, then ensure fails: %v", at, err)
		}
		if bad := ended(r, want); bad != "" {
			return at + ", " + bad
		}
		return ""
	})
	m.each(ctx, "apply, then reset", effects, 4, func(w Way, n int) string {
		r := m.Rig()
		return r.undone(r.GoWrong(w, n, apply, m.V1))
	})
}

// undone resets a host and wants what was there before.
func (r *Rig) undone(at string) string {
	if _, err := r.Run(reset, installed); err != nil {
		return fmt.Sprintf("%s, then reset fails: %v", at, err)
	}
	if left := r.Left(); len(left) > 0 {
		return fmt.Sprintf("%s, after a reset: %v", at, left)
	}
	return ""
}

// Reset lets resets go wrong; the next one must complete them.
func (m *Misery) Reset(ctx context.Context) {
	clean := m.Rig()
	if _, ok := m.count(clean, "apply", apply, m.V1); !ok {
		return
	}
	effects, ok := m.count(clean, "reset", reset, installed)
	if !ok {
		return
	}
	m.each(ctx, "reset", effects, 1, func(w Way, n int) string {
		r := m.Rig()
		if _, err := r.Run(apply, m.V1); err != nil {
			return "cannot be tried: " + err.Error()
		}
		return r.undone(r.GoWrong(w, n, reset, installed))
	})
}

// Update lets updates from V1 to V2 go wrong; ensure must then complete them or
// go back, and what follows must come to the same end.
func (m *Misery) Update(ctx context.Context) {
	if m.V2 == nil {
		return
	}
	clean := m.Rig()
	if _, ok := m.count(clean, "apply", apply, m.V1); !ok {
		return
	}
	old, err := clean.End()
	effects, ok := m.count(clean, "update", apply, *m.V2)
	want, err2 := clean.End()
	if err != nil || err2 != nil || !ok {
		m.Report(fmt.Sprintf("an update leaves a damaged record: %v, %v", err, err2))
		return
	}
	m.each(ctx, "update", effects, 2, func(w Way, n int) string { return m.update(w, n, old, want) })
}

func (m *Misery) update(w Way, n int, old, want Ending) string {
	r := m.Rig()
	if _, err := r.Run(apply, m.V1); err != nil {
		return "cannot be tried: " + err.Error()
	}
	before := r.applied()
	at := r.GoWrong(w, n, apply, *m.V2)
	if _, err := r.Run(ensure, *m.V2); err != nil {
		return fmt.Sprintf("%s, then ensure fails: %v", at, err)
	}
	if r.applied() == before {
		if bad := ended(r, old); bad != "" {
			return at + ", back at the old version, " + bad
		}
		if _, err := r.Run(apply, *m.V2); err != nil {
			return fmt.Sprintf("%s, then apply fails: %v", at, err)
		}
	}
	if bad := ended(r, want); bad != "" {
		return at + ", " + bad
	}
	return ""
}

// applied names what the host was driven to, "" when the record is not
// readable.
func (r *Rig) applied() string {
	rec, err := r.Store().Load(context.Background())
	if err != nil {
		return ""
	}
	return rec.Applied
}
