package rehearse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/rehearse/scene"
	"hostler/interpreter/report"
	"hostler/interpreter/syntax"
	"hostler/interpreter/walk"
)

// ran is what a run did.
type ran struct {
	*runBlock
	out interpreter.Outcome
	err error
	// died says that the program died or the power was lost.
	died bool
	// actions are what was done to each step and undone thing, in order.
	actions []action
	plan    report.Plan
}

type action struct {
	address, what string
	changed       bool
}

// command runs one run of the test and holds it to what is expected.
func (t *running) command(ctx context.Context, run *runBlock) {
	req, err := t.request(run)
	if err != nil {
		t.unexpected(run, err)
		return
	}
	if req.Recipe != nil && run.Recipe == "" {
		t.look(ctx, req)
	}
	done := t.do(ctx, run, req)
	for _, e := range t.rig.Events {
		if e.Kind == walk.StepFinished {
			done.actions = append(done.actions, action{e.Address, string(e.Change.Action), e.Change.Needed() && e.Err == nil})
		}
	}
	done.plan = report.NewPlan(t.rig.Events)
	if run.verb == "verify" && done.err == nil && done.plan.Differs() {
		done.err = &driftError{done.differing()}
	}
	t.holdFailure(done)
	if len(t.found) > 0 {
		return // the rest would say the same in other words
	}
	t.holdChanged(done)
	if run.Golden != "" && done.err == nil {
		t.holdGolden(run, done.plan)
	}
	t.holdAsserts(ctx, req, done)
}

// driftError is what verify found.
type driftError struct{ addresses []string }

func (e *driftError) Error() string {
	return "verify found that these differ: " + strings.Join(e.addresses, ", ")
}

// exitDrift is the exit status of a verify that found drift.
const exitDrift = 2

// code is the exit status of a command that ends with an error.
func (t *running) code(err error) int {
	if _, ok := errors.AsType[*driftError](err); ok {
		return exitDrift
	}
	return t.opts.Code(err)
}

func (d *ran) differing() (list []string) {
	for _, a := range d.plan.Actions {
		if a.Action != "none" {
			list = append(list, a.Address)
		}
	}
	for _, drift := range d.plan.Drift {
		if !slices.Contains(list, drift.Address) {
			list = append(list, drift.Address)
		}
	}
	return list
}

// look notes what the recipe is on this host, for the coverage.
func (t *running) look(ctx context.Context, req interpreter.Request) {
	if desk, err := t.desk(ctx, req, nil); err == nil {
		t.cover.evaluated(desk)
	}
	inputs, _ := req.Recipe.Inputs(req.Given)
	t.cover.inputs(req.Recipe, inputs)
}

// do runs the command with the faults of the run.
func (t *running) do(ctx context.Context, run *runBlock, req interpreter.Request) *ran {
	done := &ran{runBlock: run}
	for _, f := range run.Faults {
		f.Begin(t.rig.Memory)
		if f.Effectful() {
			t.rig.Plan = t.faulty(f)
		}
	}
	if run.verb == "preflight" {
		_, done.err = t.rig.Interpreter().Preflight(ctx, req)
		done.out.Word, done.out.Phase = "ok", t.phase(ctx)
	} else {
		done.out, done.err = t.rig.Run(verbs()[run.verb], req)
	}
	if done.err != nil {
		done.out.Word = "failed"
	}
	for _, f := range run.Faults {
		f.End(t.rig.Memory)
	}
	t.dead(done)
	return done
}

// dead looks whether the program died in a run, and lets go of what it held.
func (t *running) dead(done *ran) {
	fatal := func(kind string) bool {
		return slices.ContainsFunc(done.Faults, func(f scene.Fault) bool { return f.Kind == kind })
	}
	switch {
	case t.rig.Plan.Died():
		if fatal("crash") {
			t.rig.Crash()
		}
		done.died, done.err, done.out.Word = true, nil, "crashed"
		done.out.Phase = t.phase(context.Background())
	case fatal("crash") || fatal("power_loss"):
		t.fail(done.rng, "No such effect", "The run ended before the effect at which it was to end; it had %d effects.", len(t.rig.Plan.Log()))
	}
}

// phase is that of the installation on the host.
func (t *running) phase(ctx context.Context) string {
	rec, err := t.rig.Store().Load(ctx)
	if err != nil {
		return "absent"
	}
	return string(rec.Phase)
}

// faulty is the plan of a fault of an effect.
func (t *running) faulty(f scene.Fault) *fault.Plan {
	at := max(f.At, 1)
	var p *fault.Plan
	switch f.Kind {
	case "crash":
		p = fault.CrashAt(at).Gently()
	case "power_loss":
		p = fault.LoseAt(at, func(fault.Effect) { t.rig.PowerLoss(memory.LoseMost) })
	default:
		p = fault.FailAt(at, f.Err())
	}
	if f.Path != "" {
		p = p.Only(func(e fault.Effect) bool { return e.Name == f.Path || e.Name == host.TemporaryName(f.Path) })
	}
	return p
}

// unexpected reports a run that failed; what a recipe's diagnostics say stands
// at their own places.
func (t *running) unexpected(run *runBlock, err error) {
	diags, ok := errors.AsType[hcl.Diagnostics](err)
	if !ok {
		t.fail(run.rng, "Run failed", "%s failed: %v", run.verb, err)
		return
	}
	t.fail(run.rng, "Run failed", "%s failed: the recipe or its inputs are not valid.", run.verb)
	for _, d := range errorsOf(diags) {
		if d.Subject != nil && d.Subject.Filename == inputsFile {
			at := t.inputsAt
			if run.inputs != nil {
				at = run.inputsAt
			}
			moved := *d
			moved.Subject, moved.Context = &at, nil
			d = &moved
		}
		t.found = append(t.found, d)
	}
}

// holdFailure compares how the run ended with what is expected.
func (t *running) holdFailure(done *ran) {
	want := done.failure
	switch {
	case done.died:
		return
	case want == nil && done.err != nil:
		t.unexpected(done.runBlock, done.err)
		return
	case want == nil:
		return
	case done.err == nil:
		t.fail(done.rng, "Run succeeded", "%s was expected to fail, and did not.", done.verb)
		return
	}
	text := told(done.err)
	if !strings.Contains(text, want.Message) {
		t.fail(done.rng, "Another failure", "%s failed, and was expected to say %q. It said: %s", done.verb, want.Message, text)
	}
	step, _ := errors.AsType[*walk.StepError](done.err)
	if want.Address != "" && (step == nil || step.Address != want.Address) && !strings.Contains(text, want.Address+":") {
		t.fail(done.rng, "Another failure", "%s was expected to fail at %s. It said: %s", done.verb, want.Address, text)
	}
	if code := t.code(done.err); want.ExitCode != 0 && code != want.ExitCode {
		t.fail(done.rng, "Another failure", "%s was expected to end with exit status %d and ends with %d. It said: %s", done.verb, want.ExitCode, code, text)
	}
}

// is says whether an address is the one wanted, or an instance of it.
func is(address, want string) bool { return address == want || strings.HasPrefix(address, want+"[") }

func (t *running) holdChanged(done *ran) {
	var changed []string
	for _, a := range done.actions {
		if a.changed {
			changed = append(changed, a.address)
		}
	}
	list := "nothing"
	if len(changed) > 0 {
		list = strings.Join(changed, ", ")
	}
	if done.changed.all && len(changed) == 0 {
		t.fail(done.changed.rng, "Nothing changed", "%s was expected to change something.", done.verb)
	}
	if done.same.all && len(changed) > 0 {
		t.fail(done.same.rng, "Something changed", "%s was expected to change nothing. It changed %s.", done.verb, list)
	}
	for _, want := range done.changed.addresses {
		if t.known(done, done.changed.rng, want) && !slices.ContainsFunc(changed, func(a string) bool { return is(a, want) }) {
			t.fail(done.changed.rng, "Not changed", "%s was expected to change %s. It changed %s.", done.verb, want, list)
		}
	}
	for _, want := range done.same.addresses {
		if t.known(done, done.same.rng, want) && slices.ContainsFunc(changed, func(a string) bool { return is(a, want) }) {
			t.fail(done.same.rng, "Changed", "%s was expected to leave %s as it is, and changed it.", done.verb, want)
		}
	}
}

// known reports an address that no step of the run has.
func (t *running) known(done *ran, rng hcl.Range, want string) bool {
	var names []string
	for _, a := range done.actions {
		if is(a.address, want) {
			return true
		}
		names = append(names, a.address)
	}
	hint := ""
	if near := syntax.Suggest(want, names); near != "" {
		hint = fmt.Sprintf(" Did you mean %q?", near)
	}
	t.fail(rng, "Unknown step", "%s has no step %q.%s", done.verb, want, hint)
	return false
}
