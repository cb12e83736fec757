package eval

import (
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// common evaluates the arguments that every step accepts.
func (e *evaluation) common(st *step, p *block.Placed) {
	if !st.boundsItself() {
		p.Timeout = e.duration("timeout", st.timeout)
	}
	if p.Timeout == 0 && st.timeout != nil && !st.boundsItself() && !e.failed && e.unknown == "" {
		e.fail(st.timeout.Range(), "Invalid value", "A timeout of nothing would fail at once. Leave timeout out for none.")
	}
	if s, ok := e.text("on_drift", st.onDrift); ok {
		p.OnDrift = e.onDrift(s, st.onDrift.Range())
	}
	if s, ok := e.text("description", st.description); ok {
		p.Description = s
	}
	if s, ok := e.text("failure_reason", st.failureReason); ok {
		if err := block.CheckReason(s); err != nil {
			e.fail(st.failureReason.Range(), "Invalid value", "%s", err)
		}
		p.FailureReason = s
	}
	if st.retry != nil {
		p.Retry = block.Retry{
			Attempts: e.attempts(st.retry.attempts), Delay: e.duration("delay", st.retry.delay), MaxDelay: e.duration("max_delay", st.retry.maxDelay),
		}
	}
}

// boundsItself says that a timeout is the type's own argument: it then says
// itself what had not come about when the time was up.
func (s *step) boundsItself() bool {
	return slices.ContainsFunc(s.typ.Schema.Attrs, func(a block.Attr) bool { return a.Name == "timeout" })
}

func (e *evaluation) onDrift(s string, rng hcl.Range) block.OnDrift {
	values := []string{string(block.DriftRepair), string(block.DriftReport), string(block.DriftHold)}
	for _, v := range values {
		if s == v {
			return block.OnDrift(s)
		}
	}
	e.fail(rng, "Invalid value", "on_drift is %s.%s", oneOf(values), didYouMean(s, values))
	return block.DriftRepair
}

// plain evaluates a common argument; ok is false when it is not written, null
// or not known.
func (e *evaluation) plain(name string, expr hclsyntax.Expression) (cty.Value, bool) {
	if expr == nil {
		return cty.NilVal, false
	}
	v, ok := e.eval(expr)
	if !ok {
		e.failed = true
		return cty.NilVal, false
	}
	raw, s := reveal(v)
	switch {
	case s.sensitive:
		e.fail(expr.Range(), "Sensitive value here", "%s is stored and shown, so it cannot hold a sensitive value.", name)
		return cty.NilVal, false
	case !raw.IsKnown():
		e.postpone(name + " is not known yet")
		return cty.NilVal, false
	}
	return raw, !raw.IsNull()
}

func (e *evaluation) text(name string, expr hclsyntax.Expression) (string, bool) {
	v, ok := e.plain(name, expr)
	if !ok {
		return "", false
	}
	if v.Type() != cty.String {
		e.fail(expr.Range(), "Value of another type", "%s is a string in double quotes.", name)
		return "", false
	}
	return v.AsString(), true
}

func (e *evaluation) duration(name string, expr hclsyntax.Expression) time.Duration {
	v, ok := e.plain(name, expr)
	if !ok {
		return 0
	}
	text := ""
	switch v.Type() {
	case cty.String:
		text = v.AsString()
	case cty.Number:
		text = v.AsBigFloat().Text('f', -1)
	default:
		e.fail(expr.Range(), "Value of another type", "%s is a duration such as \"30s\".", name)
		return 0
	}
	d, err := block.ParseDuration(text)
	if err != nil {
		e.fail(expr.Range(), "Invalid value", "%s", capital(err.Error()))
	}
	return d
}

// maxAttempts bounds what retry may ask for.
const maxAttempts = 1000

func (e *evaluation) attempts(expr hclsyntax.Expression) int {
	v, ok := e.plain("attempts", expr)
	if !ok {
		return 0
	}
	if v.Type() == cty.Number {
		if n, exact := v.AsBigFloat().Int64(); exact == 0 && n >= 1 && n <= maxAttempts {
			return int(n)
		}
	}
	e.fail(expr.Range(), "Invalid value", "attempts is a whole number from 1 to %d.", maxAttempts)
	return 0
}
