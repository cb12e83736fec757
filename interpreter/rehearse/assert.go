package rehearse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter"
	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/report"
)

// desk evaluates expressions on the host of the test as it is now.
func (t *running) desk(ctx context.Context, req interpreter.Request, values map[string]cty.Value) (*eval.Desk, error) {
	in := &interpreter.Interpreter{
		Vocabulary: t.Vocabulary, Host: t.rig.Host(), Rand: rand.NewChaCha8([32]byte{1}), Holder: host.Holder{PID: 1, Command: "hostler test"},
	}
	extra := eval.Extra{Values: values, Functions: map[string]function.Function{"host_file": hostFile(t.rig.Host().Files)}}
	return in.Desk(ctx, req, extra)
}

// holdAsserts evaluates the assertions of a run.
func (t *running) holdAsserts(ctx context.Context, req interpreter.Request, done *ran) {
	if len(done.Asserts) == 0 {
		return
	}
	if req.Recipe == nil {
		r := t.load("")
		req.Recipe, req.Bundle, req.Given = r.Recipe, r.bundle, given(r.Recipe, t.inputs, false)
	}
	desk, err := t.desk(ctx, req, done.values(t))
	if err != nil { // what cannot be evaluated has no variables, and a host all the same
		blank, _ := eval.Load(eval.Blank(), t.Vocabulary, t.Loader, "")
		desk, err = t.desk(ctx, interpreter.Request{Recipe: blank}, done.values(t))
	}
	if err != nil {
		t.fail(done.rng, "Assertions not possible", "%v.", err)
		return
	}
	for _, a := range done.Asserts {
		t.assert(desk, a)
	}
}

func (t *running) assert(desk *eval.Desk, a assertBlock) {
	expr, ok := a.Condition.(hclsyntax.Expression)
	if !ok {
		return // every expression of a test file is one
	}
	v, _, diags := desk.Eval(expr)
	if diags.HasErrors() {
		t.found = append(t.found, diags...)
		return
	}
	rng := expr.Range()
	switch {
	case !v.IsKnown():
		t.fail(rng, "Condition not known", "%s The condition depends on what is not known on this host.", t.message(desk, a))
	case v.IsNull() || v.Type() != cty.Bool:
		t.fail(rng, "Invalid condition", "A condition is true or false. Compare the value with something.")
	case v.False():
		t.fail(rng, "Assertion failed", "%s%s", t.message(desk, a), t.parts(desk, expr))
	}
}

// message is what an assertion says, as a sentence.
func (t *running) message(desk *eval.Desk, a assertBlock) string {
	expr, ok := a.Message.(hclsyntax.Expression)
	if !ok {
		return "The condition does not hold."
	}
	v, sensitive, diags := desk.Eval(expr)
	switch {
	case diags.HasErrors():
		t.found = append(t.found, diags...)
		return "The condition does not hold."
	case sensitive || !v.IsKnown() || v.IsNull() || v.Type() != cty.String:
		return "The condition does not hold; its message is no text that can be shown."
	}
	s := v.AsString()
	if s != "" && strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// parts says what the references and calls in a condition were.
func (t *running) parts(desk *eval.Desk, expr hclsyntax.Expression) string {
	var b strings.Builder
	seen := map[string]bool{}
	_ = hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			t.part(&b, desk, n, seen)
		case *hclsyntax.FunctionCallExpr:
			t.part(&b, desk, n, seen)
		}
		return nil
	})
	return b.String()
}

// maxShown bounds a value in a message, in bytes.
const maxShown = 300

func (t *running) part(b *strings.Builder, desk *eval.Desk, e hclsyntax.Expression, seen map[string]bool) {
	file := t.Sources[e.Range().Filename]
	if file == nil {
		return
	}
	name := string(e.Range().SliceBytes(file.Bytes))
	v, sensitive, diags := desk.Eval(e)
	if seen[name] || diags.HasErrors() {
		return
	}
	seen[name] = true
	text := "(sensitive)"
	if !sensitive {
		text = eval.Literal(v)
	}
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	fmt.Fprintf(b, "\n  %s = %s", name, text)
}

// values are what asserts read beside the recipe: run and output.
func (d *ran) values(t *running) map[string]cty.Value {
	var changed, jobs, warnings []string
	actions := map[string]cty.Value{}
	for _, a := range d.actions {
		if a.changed {
			changed = append(changed, a.address)
		}
		actions[a.address] = cty.StringVal(a.what)
	}
	for _, e := range t.rig.Plan.Log() {
		if verb, ok := strings.CutPrefix(e.Kind, "unit "); ok {
			jobs = append(jobs, strings.TrimPrefix(verb+" "+e.Name, " "))
		}
	}
	for _, w := range d.out.Warnings {
		warnings = append(warnings, w.Summary+": "+w.Detail)
	}
	for _, w := range d.plan.Diagnostics {
		warnings = append(warnings, w.Summary+": "+w.Detail)
	}
	failed := ""
	if d.err != nil {
		failed = strings.TrimSpace(told(d.err))
	}
	outputs := map[string]cty.Value{}
	for _, o := range d.out.Outputs {
		outputs[o.Name] = cty.DynamicVal
		if o.Sensitive {
			outputs[o.Name] = block.MarkSensitive(cty.DynamicVal)
		} else if o.Value != cty.NilVal {
			outputs[o.Name] = o.Value
		}
	}
	return map[string]cty.Value{
		"output": cty.ObjectVal(outputs),
		"run": cty.ObjectVal(map[string]cty.Value{
			"command": cty.StringVal(d.verb), "result": cty.StringVal(d.out.Word), "phase": cty.StringVal(d.out.Phase),
			"changed": texts(changed), "actions": cty.ObjectVal(actions), "jobs": texts(jobs), "warnings": texts(warnings),
			"drift": texts(driftOf(d.plan.Drift)), "pending": texts(pendingOf(d.plan.Pending)), "error": cty.StringVal(failed),
		}),
	}
}

func driftOf(list []report.Drift) (things []string) {
	for _, d := range list {
		things = append(things, d.Thing)
	}
	return things
}

func pendingOf(list []report.Pending) (notes []string) {
	for _, p := range list {
		notes = append(notes, p.Machine+": "+p.Needs)
	}
	return notes
}

func texts(list []string) cty.Value {
	if len(list) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	vals := make([]cty.Value, len(list))
	for i, s := range list {
		vals[i] = cty.StringVal(s)
	}
	return cty.ListVal(vals)
}
