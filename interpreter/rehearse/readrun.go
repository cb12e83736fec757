package rehearse

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"hostler/interpreter"
	"hostler/interpreter/rehearse/laws"
	"hostler/interpreter/rehearse/scene"
)

// runBlock is a command on the host of a test and what is expected of it.
type runBlock struct {
	Description     string         `hcl:"description,optional"`
	Recipe          string         `hcl:"recipe,optional"`
	Inputs          *hcl.Attribute `hcl:"inputs,optional"`
	Prefix          string         `hcl:"prefix,optional"`
	Installed       bool           `hcl:"installed,optional"`
	Previous        bool           `hcl:"previous,optional"`
	DiscardEdits    bool           `hcl:"discard_edits,optional"`
	AllowDestroy    bool           `hcl:"allow_destroy,optional"`
	Force           bool           `hcl:"force,optional"`
	Golden          string         `hcl:"golden,optional"`
	ExpectChanged   *hcl.Attribute `hcl:"expect_changed,optional"`
	ExpectUnchanged *hcl.Attribute `hcl:"expect_unchanged,optional"`
	Failures        []failureBlock `hcl:"expect_failure,block"`
	Asserts         []assertBlock  `hcl:"assert,block"`
	Faults          []scene.Fault  `hcl:"fault,block"`

	verb     string
	rng      hcl.Range
	inputs   map[string][]byte
	inputsAt hcl.Range
	changed  expectation
	same     expectation
	failure  *failureBlock
}

// failureBlock matches how a run fails.
type failureBlock struct {
	Message  string `hcl:"message,optional"`
	Address  string `hcl:"address,optional"`
	ExitCode int    `hcl:"exit_code,optional"`
}

type assertBlock struct {
	Condition hcl.Expression `hcl:"condition"`
	Message   hcl.Expression `hcl:"message"`
}

// expectation is a list of addresses, or all of them.
type expectation struct {
	all       bool
	addresses []string
	rng       hcl.Range
}

// verbs are the commands that a run block names.
func verbs() map[string]laws.Verb {
	return map[string]laws.Verb{
		"apply": (*interpreter.Interpreter).Apply, "ensure": (*interpreter.Interpreter).Ensure, "verify": (*interpreter.Interpreter).Verify,
		"reset": (*interpreter.Interpreter).Reset, "plan": (*interpreter.Interpreter).Plan, "adopt": (*interpreter.Interpreter).Adopt,
		"preflight": nil, // has another result
	}
}

func (r *reading) run(b *hclsyntax.Block) *runBlock {
	names := slices.Sorted(maps.Keys(verbs()))
	if len(b.Labels) != 1 || !slices.Contains(names, b.Labels[0]) {
		r.add(b.DefRange(), "Unknown command", "A run names a command: %s.", quoted(names))
		return nil
	}
	run := &runBlock{verb: b.Labels[0], rng: b.DefRange()}
	diags := gohcl.DecodeBody(withoutFailureText(b.Body), r.ctx, run)
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() {
		return nil
	}
	run.inputs, run.inputsAt = r.inputs(run.Inputs)
	run.changed, run.same = r.expectation(run.ExpectChanged), r.expectation(run.ExpectUnchanged)
	r.failure(run, b.Body)
	for i := range run.Faults {
		if err := run.Faults[i].CheckOfRun(); err != nil {
			r.add(run.rng, "Fault not possible", "%v.", err)
		}
	}
	if run.Golden != "" && run.verb != "plan" {
		r.add(run.rng, "No plan", "golden is the file of a plan; write it in run \"plan\".")
	}
	return run
}

// withoutFailureText leaves out what gohcl cannot tell from the block of the
// same name.
func withoutFailureText(body *hclsyntax.Body) *hclsyntax.Body {
	out := *body
	out.Attributes = maps.Clone(body.Attributes)
	delete(out.Attributes, "expect_failure")
	return &out
}

// failure reads expect_failure, a text or a block.
func (r *reading) failure(run *runBlock, body *hclsyntax.Body) {
	a := body.Attributes["expect_failure"]
	switch {
	case a != nil && len(run.Failures) > 0, len(run.Failures) > 1:
		r.add(run.rng, "Second expect_failure", "A run fails in one way; write expect_failure once.")
	case a != nil:
		var text string
		r.diags = append(r.diags, gohcl.DecodeExpression(a.Expr, r.ctx, &text)...)
		run.failure = &failureBlock{Message: text}
	case len(run.Failures) == 1:
		run.failure = &run.Failures[0]
	}
}

// expectation reads true or a list of addresses.
func (r *reading) expectation(a *hcl.Attribute) (e expectation) {
	if a == nil {
		return e
	}
	v, diags := a.Expr.Value(r.ctx)
	r.diags = append(r.diags, diags...)
	e.rng = a.Expr.Range()
	switch {
	case diags.HasErrors():
	case v.Type() == cty.Bool && v.IsKnown() && !v.IsNull() && v.True():
		e.all = true
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			_, el := it.Element()
			if el.Type() != cty.String || el.IsNull() || !el.IsKnown() {
				r.add(e.rng, "Not an address", "Write the addresses of steps as strings, such as \"write_file_if_changed.conf\".")
				return e
			}
			e.addresses = append(e.addresses, el.AsString())
		}
	default:
		r.add(e.rng, "Not an expectation", "Write true, or a list of the addresses of steps.")
	}
	return e
}

// inputs evaluates inputs to texts of JSON.
func (r *reading) inputs(a *hcl.Attribute) (map[string][]byte, hcl.Range) {
	if a == nil {
		return nil, hcl.Range{}
	}
	at := a.Expr.Range()
	v, diags := a.Expr.Value(r.ctx)
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() {
		return nil, at
	}
	v, _ = v.UnmarkDeep()
	if v.IsNull() || !v.IsWhollyKnown() || !v.Type().IsObjectType() && !v.Type().IsMapType() {
		r.add(at, "Not inputs", "Write inputs = { NAME = VALUE, … }.")
		return nil, at
	}
	values := map[string][]byte{}
	for name, el := range v.AsValueMap() {
		text, err := ctyjson.Marshal(el, el.Type())
		if err != nil {
			r.add(at, "Not inputs", "%s: %v.", name, err)
		}
		values[name] = text
	}
	return values, at
}
