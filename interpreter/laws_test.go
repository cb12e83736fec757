package interpreter_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
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

func (s scenario) rig(t testing.TB) *rig {
	return newRig(t, s.opts(t))
}

// final is what counts about a host in the end: files, claims with their
// origins, and what runs.
type final struct {
	files  map[string]memory.Entry
	claims []string
	phase  string
}

// end looks at a host. What is remembered of the way there is left out.
func (r *rig) end() (f final) {
	f.files = r.Snapshot("/run", "/proc", "/sys", "/dev", record.Dir, "/var/lib/machines/kube1/run", "/var/lib/machines/kube2/run")
	rec, err := r.store().Load(context.Background())
	if errors.Is(err, record.ErrAbsent) {
		f.phase = "absent"
		return f
	}
	r.ok(err)
	f.phase = string(rec.Phase)
	for _, c := range rec.Claims {
		if !record.HoldsRecord(c.Thing) {
			f.claims = append(f.claims, fmt.Sprintf("%s %s %s %v", c.Thing, c.Origin.Kind, c.Origin.Backup, c.Origin.State))
		}
	}
	for _, name := range []string{rec.Applied, rec.Target} {
		if _, err := r.store().LoadState(context.Background(), name); err != nil {
			f.claims = append(f.claims, "state "+err.Error())
		}
	}
	return f
}

// differs says in what two hosts differ, "" if they do not.
func (f final) differs(g final) string {
	var list []string
	if f.phase != g.phase {
		list = append(list, "phase "+f.phase+", want "+g.phase)
	}
	list = append(list, memory.Difference(g.files, f.files)...)
	for _, c := range f.claims {
		if !slices.Contains(g.claims, c) {
			list = append(list, "claim "+c)
		}
	}
	for _, c := range g.claims {
		if !slices.Contains(f.claims, c) {
			list = append(list, "no claim "+c)
		}
	}
	return strings.Join(list, ", ")
}

// TestLaws: a second run changes nothing, a plan is what apply does, an update
// prunes to the same host, and a reset gives the host back.
func TestLaws(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			r := s.rig(t)
			r.planned(s.v1)
			r.quiet(s.v1)
			first := r.end()
			if s.v2 != nil {
				r.planned(*s.v2)
				r.quiet(*s.v2)
				r.planned(s.v1)
				if diff := r.end().differs(first); diff != "" {
					t.Errorf("there and back again: %s", diff)
				}
			}
			r.must(plan, s.v1)
			r.must(reset, nothing)
			r.same(r.before)
			r.must(reset, nothing) // H33
			r.same(r.before)
		})
	}
}

// planned plans, applies, and compares what was done with what was foreseen.
func (r *rig) planned(g given) {
	r.Helper()
	r.must(plan, g)
	if len(r.plan.Log()) > 0 {
		r.Errorf("a plan has effects: %v", r.plan.Log())
	}
	planned := actions(r.events)
	r.must(apply, g)
	done := actions(r.events)
	for address, action := range planned {
		if action != "unknown" && done[address] != action {
			r.Errorf("%s: %q was foreseen and %q was done", address, action, done[address])
		}
	}
	for address, action := range done {
		if planned[address] == "" {
			r.Errorf("%s: %q was done and nothing foreseen", address, action)
		}
	}
	if before, after := order(planned), order(done); len(before) != len(after) {
		r.Errorf("foreseen %v, done %v", before, after)
	}
}

// actions are what the steps of a walk did, by address and place in the order.
func actions(events []walk.Event) map[string]string {
	all := map[string]string{}
	for _, e := range events {
		if e.Kind == walk.StepFinished {
			all[fmt.Sprintf("%03d %s", len(all), e.Address)] = string(e.Change.Action)
		}
	}
	return all
}

func order(actions map[string]string) []string { return slices.Sorted(maps.Keys(actions)) }

// quiet runs a recipe again: nothing may happen.
func (r *rig) quiet(g given) {
	r.Helper()
	before := r.inode(record.File)
	for _, do := range []verb{apply, ensure} {
		r.must(do, g)
		if list := r.effects(); len(list) > 0 {
			r.Errorf("a second run has effects: %v", list)
		}
		if list := r.changed(); len(list) > 0 {
			r.Errorf("a second run changes %v", list)
		}
	}
	if after := r.inode(record.File); after != before {
		r.Error("the record was written again")
	}
	out := r.must(verify, nothing)
	if len(out.Drift) > 0 || len(r.changed()) > 0 {
		r.Errorf("there is drift: %v, %v", out.Drift, r.changed())
	}
}
