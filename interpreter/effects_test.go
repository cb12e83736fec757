package interpreter_test

import (
	"flag"
	"runtime/debug"
	"testing"

	"hostler/interpreter/host/memory"
	"hostler/interpreter/rehearse/laws"
)

// every asks for all points of all recipes, which takes long.
var every = flag.Bool("every", false, "let runs go wrong at every effect in every way, and not at a sample for large recipes")

// update writes the page that says how many points there are.
var update = flag.Bool("update", false, "write docs/crash-points.md anew")

// TestEveryEffect lets a run go wrong at its every effect, in every way, and
// wants the same host in the end. It says how many points it tried.
func TestEveryEffect(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // there is much to forget
	var page crashPage
	whole := true
	for _, s := range scenarios(t) {
		if s.crash == 0 {
			continue
		}
		whole = t.Run(s.name, func(t *testing.T) {
			m := s.misery(t)
			m.Apply(t.Context())
			m.Update(t.Context())
			m.Repave(t.Context())
			m.Reset(t.Context())
			t.Logf("%s: %d effects of apply, points tried: %v", s.name, m.Effects, m.Tried)
			page = append(page, crashRow{s.name, m.Effects, sum(m.All), sum(m.Tried)})
		}) && whole
	}
	t.Logf("%d points tried", page.tried())
	if all := flag.Lookup("test.run").Value.String() == ""; whole && !*every && (all || *update) {
		page.hold(t)
	}
}

// misery lets the runs of a scenario go wrong in all ways.
func (s scenario) misery(t testing.TB) *laws.Misery {
	return &laws.Misery{
		Scenario: s.law(t), Ways: laws.AllWays(s.crash, s.power, s.errno), Every: *every,
		Report: func(bad string) { t.Error(bad) },
	}
}

// TestEveryPowerLoss takes the power away at every effect of a small run, with
// every state of the disk that a journaled file system may be found in.
func TestEveryPowerLoss(t *testing.T) {
	g := a("write_file_if_changed \"x\" {\n path = \"/etc/x\"\n content = \"one\"\n replaces_foreign = true\n}\n")
	opts := memory.Options{Files: map[string]memory.File{"/etc/x": {Content: "theirs"}}}
	clean := newRig(t, opts)
	clean.must(apply, g)
	effects := len(clean.Plan.Log())
	want, points := clean.end(), 0
	for n := 1; n <= effects; n++ {
		memory.EveryChoice(func(choose func(int) int) {
			points++
			r := newRig(t, opts)
			at := r.GoWrong(laws.PowerLoss("power loss", 1, choose), n, apply, r.request(g))
			if got := r.read("/etc/x"); got != "theirs" && got != "one" {
				t.Fatalf("%s: half a file: %q", at, got)
			}
			if _, err := r.run(ensure, g); err != nil {
				t.Fatalf("%s, then ensure fails: %v", at, err)
			}
			if diff := r.end().Differs(want); len(diff) > 0 {
				t.Fatalf("%s, in the end: %v", at, diff)
			}
		})
	}
	t.Logf("%d effects, %d states tried", effects, points)
}
