package laws

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hostler/interpreter"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

// The names of the laws.
const (
	AgainIsNothing = "again-is-nothing"
	CrashConverges = "crash-converges"
	ResetRestores  = "reset-restores"
	PlanIsApply    = "plan-is-apply"
	UpgradePrunes  = "upgrade-prunes"
)

// Names are the names of the laws, in the order of the language reference.
func Names() []string {
	return []string{AgainIsNothing, CrashConverges, ResetRestores, PlanIsApply, UpgradePrunes}
}

// Scenario is a recipe on a host.
type Scenario struct {
	// Rig makes the host anew.
	Rig func() *Rig
	// V1 is the recipe given with its inputs; V2 its next version, nil if
	// there is none.
	V1 interpreter.Request
	V2 *interpreter.Request
	// Moved is what a repave of V1 goes to, nil when it has no second slot.
	Moved *interpreter.Request
	// Every tries crashes at every effect, and not at a sample where there are
	// many.
	Every bool
}

// Check tries a law and returns in what it is broken. Installations and resets
// die at every effect, or at a sample of about crashPoints of them; where many
// points are tried, that ends with ctx.
func (s Scenario) Check(ctx context.Context, law string) []string {
	switch law {
	case AgainIsNothing:
		return s.againIsNothing()
	case CrashConverges:
		return s.crashConverges(ctx)
	case ResetRestores:
		return s.resetRestores()
	case PlanIsApply:
		return s.planIsApply()
	case UpgradePrunes:
		return s.upgradePrunes()
	}
	return []string{"there is no law " + law}
}

// fail is a run that was not to fail.
func fail(what string, err error) []string { return []string{fmt.Sprintf("%s fails: %v", what, err)} }

func (s Scenario) againIsNothing() []string {
	r := s.Rig()
	if _, err := r.Run(apply, s.V1); err != nil {
		return fail("apply", err)
	}
	return r.Quiet(s.V1)
}

// Quiet runs a recipe again: nothing may happen.
func (r *Rig) Quiet(req interpreter.Request) (bad []string) {
	before := r.inode(record.File)
	for _, v := range []struct {
		name string
		do   Verb
	}{{"apply", apply}, {"ensure", ensure}} {
		if _, err := r.Run(v.do, req); err != nil {
			return append(bad, fail("a second run, "+v.name+",", err)...)
		}
		for _, e := range r.Effects() {
			bad = append(bad, fmt.Sprintf("a second run, %s, has an effect: %s", v.name, e))
		}
		for _, c := range r.Changed() {
			bad = append(bad, fmt.Sprintf("a second run, %s, changes something: %s", v.name, c))
		}
	}
	if r.inode(record.File) != before {
		bad = append(bad, "a second run writes the record again")
	}
	out, err := r.Run(verify, installed)
	if err != nil {
		return append(bad, fail("verify", err)...)
	}
	for _, d := range out.Drift {
		bad = append(bad, fmt.Sprintf("verify finds drift in what was just applied: %s", d.Thing))
	}
	for _, c := range r.Changed() {
		bad = append(bad, "verify finds something to do after apply: "+c)
	}
	return bad
}

func (s Scenario) planIsApply() []string {
	r := s.Rig()
	bad := r.Planned(s.V1)
	if s.V2 != nil && len(bad) == 0 {
		bad = r.Planned(*s.V2)
	}
	return bad
}

// Planned plans, applies, and compares what was done with what was foreseen.
func (r *Rig) Planned(req interpreter.Request) (bad []string) {
	if _, err := r.Run(plan, req); err != nil {
		return fail("plan", err)
	}
	for _, e := range r.Plan.Log() {
		bad = append(bad, "a plan has an effect: "+e.String())
	}
	planned := actions(r.Events)
	if _, err := r.Run(apply, req); err != nil {
		return append(bad, fail("apply", err)...)
	}
	done := actions(r.Events)
	for _, address := range slices.Sorted(maps.Keys(planned)) {
		action := planned[address]
		if done[address] == "" {
			bad = append(bad, fmt.Sprintf("%s: %q was foreseen and nothing done", short(address), action))
		} else if action != "unknown" && done[address] != action {
			bad = append(bad, fmt.Sprintf("%s: %q was foreseen and %q was done", short(address), action, done[address]))
		}
	}
	for _, address := range slices.Sorted(maps.Keys(done)) {
		if planned[address] == "" {
			bad = append(bad, fmt.Sprintf("%s: %q was done and nothing foreseen", short(address), done[address]))
		}
	}
	return bad
}

// actions are what the steps of a walk did, by place in the order and address.
func actions(events []walk.Event) map[string]string {
	all := map[string]string{}
	for _, e := range events {
		if e.Kind == walk.StepFinished {
			all[fmt.Sprintf("%05d %s", len(all), e.Address)] = string(e.Change.Action)
		}
	}
	return all
}

// short is an address without its place in the order.
func short(placed string) string {
	_, address, _ := strings.Cut(placed, " ")
	return address
}

func (s Scenario) resetRestores() []string {
	r := s.Rig()
	if _, err := r.Run(apply, s.V1); err != nil {
		return fail("apply", err)
	}
	for _, what := range []string{"reset", "a second reset"} {
		if _, err := r.Run(reset, installed); err != nil {
			return fail(what, err)
		}
		if bad := r.Left(); len(bad) > 0 {
			return bad
		}
	}
	return nil
}

// Left lists in what the host differs from how it was when the rig was made.
func (r *Rig) Left() (bad []string) {
	for _, diff := range memory.Difference(r.Before, r.Standing()) {
		name := diff[1:]
		switch diff[0] {
		case '+':
			bad = append(bad, "left behind: "+name)
		case '-':
			bad = append(bad, "gone: "+name)
		default:
			bad = append(bad, "not as it was: "+name)
		}
	}
	return bad
}

// upgradePrunes compares an upgraded host with a fresh one.
func (s Scenario) upgradePrunes() []string {
	if s.V2 == nil {
		return nil
	}
	fresh := s.Rig()
	if _, err := fresh.Run(apply, *s.V2); err != nil {
		return fail("apply on a fresh host", err)
	}
	want, err := fresh.End()
	if err != nil {
		return fail("reading the record", err)
	}
	r := s.Rig()
	if _, err := r.Run(apply, s.V1); err != nil {
		return fail("apply of the previous version", err)
	}
	if _, err := r.Run(apply, *s.V2); err != nil {
		return fail("the upgrade", err)
	}
	got, err := r.End()
	if err != nil {
		return fail("reading the record", err)
	}
	bad := got.DiffersFresh(want)
	for i := range bad {
		bad[i] = "the upgraded host differs from a fresh one: " + bad[i]
	}
	if _, err := r.Run(reset, installed); err != nil {
		return append(bad, fail("reset after the upgrade", err)...)
	}
	return append(bad, r.Left()...)
}
