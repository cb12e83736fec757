package interpreter_test

import (
	"flag"
	"fmt"
	"runtime/debug"
	"syscall"
	"testing"

	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
)

// every asks for all points of all recipes, which takes long.
var every = flag.Bool("every", false, "let runs go wrong at every effect in every way, and not at a sample for large recipes")

// errnos are the faults of the kernel that are tried.
var errnos = []error{syscall.EIO, syscall.ENOSPC, syscall.EROFS, syscall.EACCES, syscall.EBUSY, syscall.EINTR}

// TestEveryEffect lets a run go wrong at its every effect, in every way, and
// wants the same host in the end. It says how many points it tried.
func TestEveryEffect(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // there is much to forget
	total := 0
	for _, s := range scenarios(t) {
		if s.crash == 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			m := &misery{TB: t, scenario: s, tried: map[string]int{}}
			m.apply()
			m.update()
			m.repave()
			m.reset()
			t.Logf("%s: %d effects of apply, points tried: %v", s.name, m.effects, m.tried)
			for _, n := range m.tried {
				total += n
			}
		})
	}
	t.Logf("%d points tried", total)
}

// misery lets the runs of a scenario go wrong.
type misery struct {
	testing.TB
	scenario
	tried   map[string]int
	effects int
}

// way is one way in which a run goes wrong at its n-th effect.
type way struct {
	name  string
	every int
	plan  func(r *rig, n int) *fault.Plan
	died  func(r *rig)
	// survived says that the run goes on after the fault.
	survived bool
}

func (m *misery) ways() []way {
	ways := []way{
		{"crash before", m.crash, func(_ *rig, n int) *fault.Plan { return fault.CrashAt(n) }, (*rig).Crash, false},
		{"crash after", m.crash, func(_ *rig, n int) *fault.Plan { return fault.CrashAfter(n) }, (*rig).Crash, false},
		{"power loss, most lost", m.power, powerLoss(memory.LoseMost), nil, false},
		{"power loss, most kept", m.power, powerLoss(memory.KeepMost), nil, false},
		{"power loss, some lost", m.power, powerLoss(some()), nil, false},
	}
	for i, errno := range errnos {
		ways = append(ways,
			way{errno.Error(), m.errno, func(_ *rig, n int) *fault.Plan { return fault.FailAt(n, errno) }, nil, true},
			way{errno.Error() + " from then on", m.errno * len(errnos), func(_ *rig, n int) *fault.Plan { return fault.FailAt(n+i, errno).From() }, nil, true})
	}
	return append(ways, way{"done and EIO", m.errno, func(_ *rig, n int) *fault.Plan { return fault.FailAfter(n, syscall.EIO) }, nil, true})
}

// powerLoss is a plan in which the power goes at the n-th effect.
func powerLoss(choose func(int) int) func(*rig, int) *fault.Plan {
	return func(r *rig, n int) *fault.Plan {
		return fault.HookAt(n, func(e fault.Effect) {
			r.PowerLoss(choose)
			panic(&fault.Crash{Effect: e})
		})
	}
}

// some answers differently from question to question, the same every time.
func some() func(int) int {
	n := 0
	return func(ways int) int {
		n = n*31 + 7
		return (n >> 3 & 0xffff) % ways
	}
}

// each runs a scene for the points of every way, of faults that a run survives
// only every thin-th. Ways begin at different points, so that together they see
// more.
func (m *misery) each(what string, effects, thin int, scene func(w way, n int) string) {
	m.Helper()
	for i, w := range m.ways() {
		step, first := w.every, 1
		if w.survived {
			step *= thin
		}
		if *every {
			step = 1
		}
		if step > 1 {
			first = 1 + i*7%step
		}
		for n := first; n <= effects; n += step {
			m.tried[what]++
			if bad := scene(w, n); bad != "" {
				m.Errorf("%s, %s at %d: %s", what, w.name, n, bad)
				break // the next points will say the same
			}
		}
	}
}

// gowrong runs a command that goes wrong and says where.
func (r *rig) gowrong(w way, n int, do verb, g given) string {
	r.Helper()
	r.plan = w.plan(r, n)
	r.Memory.ResetEffects()
	var err error
	c := fault.Recover(func() { _, err = r.run(do, g) })
	log := r.plan.Log()
	if w.died != nil {
		w.died(r)
	}
	r.plan = fault.Count()
	at := "nowhere"
	if n <= len(log) {
		at = log[n-1].String()
	}
	return fmt.Sprintf("at %s (%v, %v)", at, c != nil, err)
}

// count is the number of effects of a run without faults.
func (r *rig) count(do verb, g given) int {
	r.Helper()
	r.must(do, g)
	return len(r.plan.Log())
}

func (m *misery) apply() {
	clean := m.rig(m)
	m.effects = clean.count(apply, m.v1)
	want := clean.end()
	m.each("apply", m.effects, 1, func(w way, n int) string {
		r := m.rig(m)
		at := r.gowrong(w, n, apply, m.v1)
		if _, err := r.run(ensure, m.v1); err != nil {
			return fmt.Sprintf("%s, then ensure fails: %v", at, err)
		}
		if diff := r.end().differs(want); diff != "" {
			return at + ", in the end: " + diff
		}
		return ""
	})
	m.each("apply, then reset", m.effects, 4, func(w way, n int) string {
		r := m.rig(m)
		at := r.gowrong(w, n, apply, m.v1)
		if _, err := r.run(reset, nothing); err != nil {
			return fmt.Sprintf("%s, then reset fails: %v", at, err)
		}
		if diff := memory.Difference(r.before, r.host()); len(diff) > 0 {
			return fmt.Sprintf("%s, after a reset: %v", at, diff)
		}
		return ""
	})
}

func (m *misery) update() {
	if m.v2 == nil {
		return
	}
	clean := m.rig(m)
	clean.must(apply, m.v1)
	old := clean.end()
	effects := clean.count(apply, *m.v2)
	want := clean.end()
	m.each("update", effects, 2, func(w way, n int) string {
		r := m.rig(m)
		r.must(apply, m.v1)
		before := r.record().Applied
		at := r.gowrong(w, n, apply, *m.v2)
		if _, err := r.run(ensure, *m.v2); err != nil {
			return fmt.Sprintf("%s, then ensure fails: %v", at, err)
		}
		if r.record().Applied == before {
			if diff := r.end().differs(old); diff != "" {
				return at + ", back at the old version: " + diff
			}
			r.must(apply, *m.v2)
		}
		if diff := r.end().differs(want); diff != "" {
			return at + ", in the end: " + diff
		}
		return ""
	})
}

func (m *misery) reset() {
	clean := m.rig(m)
	clean.must(apply, m.v1)
	effects := clean.count(reset, nothing)
	m.each("reset", effects, 1, func(w way, n int) string {
		r := m.rig(m)
		r.must(apply, m.v1)
		at := r.gowrong(w, n, reset, nothing)
		if _, err := r.run(reset, nothing); err != nil {
			return fmt.Sprintf("%s, then reset fails: %v", at, err)
		}
		if diff := memory.Difference(r.before, r.host()); len(diff) > 0 {
			return fmt.Sprintf("%s, in the end: %v", at, diff)
		}
		return ""
	})
}

// repave lets a repave go wrong: the host is at what was applied, or at the new
// target if that was committed, and a second repave gets there.
func (m *misery) repave() {
	if m.moved == nil {
		return
	}
	clean := m.rig(m)
	clean.must(apply, m.v1)
	old := clean.end()
	effects := clean.count(repave, *m.moved)
	want := clean.end()
	m.each("repave", effects, 3, func(w way, n int) string {
		r := m.rig(m)
		r.must(apply, m.v1)
		before := r.record().Applied
		at := r.gowrong(w, n, repave, *m.moved)
		if _, err := r.run(ensure, m.v1); err != nil {
			return fmt.Sprintf("%s, then ensure fails: %v", at, err)
		}
		if r.record().Repave != nil {
			return at + ", in the end: the repave is not settled"
		}
		if r.record().Applied == before {
			if diff := r.end().differs(old); diff != "" {
				return at + ", back at the old machine: " + diff
			}
			r.must(repave, *m.moved)
		}
		if diff := r.end().differs(want); diff != "" {
			return at + ", in the end: " + diff
		}
		return ""
	})
	m.each("repave, then", effects, 6, func(w way, n int) string {
		r := m.rig(m)
		r.must(apply, m.v1)
		at := r.gowrong(w, n, repave, *m.moved)
		if n%2 == 0 { // begun anew at once
			if _, err := r.run(repave, *m.moved); err != nil {
				return fmt.Sprintf("%s, then repave fails: %v", at, err)
			}
		}
		if _, err := r.run(reset, nothing); err != nil {
			return fmt.Sprintf("%s, then reset fails: %v", at, err)
		}
		if diff := memory.Difference(r.before, r.host()); len(diff) > 0 {
			return fmt.Sprintf("%s, after a reset: %v", at, diff)
		}
		return ""
	})
}

// TestEveryPowerLoss takes the power away at every effect of a small run, with
// every state of the disk that a journaled file system may be found in.
func TestEveryPowerLoss(t *testing.T) {
	g := a("write_file_if_changed \"x\" {\n path = \"/etc/x\"\n content = \"one\"\n replaces_foreign = true\n}\n")
	opts := memory.Options{Files: map[string]memory.File{"/etc/x": {Content: "theirs"}}}
	clean := newRig(t, opts)
	effects := clean.count(apply, g)
	want, points := clean.end(), 0
	for n := 1; n <= effects; n++ {
		memory.EveryChoice(func(choose func(int) int) {
			points++
			r := newRig(t, opts)
			w := way{plan: powerLoss(choose)}
			at := r.gowrong(w, n, apply, g)
			if got := r.read("/etc/x"); got != "theirs" && got != "one" {
				t.Fatalf("%s: half a file: %q", at, got)
			}
			if _, err := r.run(ensure, g); err != nil {
				t.Fatalf("%s, then ensure fails: %v", at, err)
			}
			if diff := r.end().differs(want); diff != "" {
				t.Fatalf("%s, in the end: %s", at, diff)
			}
		})
	}
	t.Logf("%d effects, %d states tried", effects, points)
}
