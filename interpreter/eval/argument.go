package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"hostler/interpreter/block"
)

// evaluation evaluates the arguments of one instance.
type evaluation struct {
	bench
	// inside says that the step is in a machine.
	inside bool
	// slots are the names of the machine's slots, the active one being self.
	slots []string
	// holes are sensitive values that are not there, stored those that stand
	// in plain data for every sensitive value.
	holes, stored map[string]block.Hole
	secret        map[string]bool
	ranges        map[string]hcl.Range
	needs         []string
	// unknown says why the step cannot be made now, "" if it can.
	unknown string
	failed  bool
}

func newEvaluation(b bench) *evaluation {
	return &evaluation{
		bench: b, holes: map[string]block.Hole{}, stored: map[string]block.Hole{},
		secret: map[string]bool{}, ranges: map[string]hcl.Range{},
	}
}

// fail reports a fault and marks the evaluation as failed.
func (e *evaluation) fail(rng hcl.Range, summary, format string, args ...any) {
	e.failed = true
	e.frame.run.errorf(rng, summary, format, args...)
}

// postpone notes why the step cannot be made now; the first cause stays.
func (e *evaluation) postpone(cause string) {
	if e.unknown == "" {
		e.unknown = cause
	}
}

// attr evaluates one attribute. The value has the attribute's type and no
// marks; holes are null.
func (e *evaluation) attr(at *block.Attr, a *hclsyntax.Attribute, header hcl.Range, path string) cty.Value {
	if a == nil {
		return e.fallback(at, header)
	}
	e.ranges[path] = a.Expr.Range()
	if at.Refs {
		return e.refs(at, a)
	}
	v, ok := e.eval(a.Expr)
	if !ok {
		e.failed = true
		return cty.UnknownVal(at.Type)
	}
	raw, s := reveal(v)
	if s.sensitive && (!at.Sensitive || at.Owned) {
		e.refuseSensitive(at, a)
		return cty.UnknownVal(at.Type)
	}
	if s.prefix && at.Owned && e.inside {
		e.fail(a.Expr.Range(), "Prefix inside a machine", "The install prefix says where things are on the host; what is inside a machine is in the same place on every host. Write %s without it, for example \"/usr/local/bin/tool\".", at.Name)
		return cty.UnknownVal(at.Type)
	}
	if raw.IsKnown() && raw.IsNull() {
		return e.fallback(at, a.Expr.Range())
	}
	if !raw.IsWhollyKnown() {
		return e.notKnown(at, a, path, raw, s)
	}
	return e.known(at, a, path, raw, s)
}

func (e *evaluation) refuseSensitive(at *block.Attr, a *hclsyntax.Attribute) {
	if at.Owned {
		e.fail(a.Expr.Range(), "Sensitive value here", "An owned thing is named after %s, and names are shown. Of a sensitive value it may only ask whether it is null: x == null, x != null.", at.Name)
		return
	}
	e.fail(a.Expr.Range(), "Sensitive value here", "%s is stored and shown, so it cannot hold a sensitive value. Move the secret into an argument that may, such as the content of a file.", at.Name)
}

// fallback is the value of an attribute that is not written or null.
func (e *evaluation) fallback(at *block.Attr, rng hcl.Range) cty.Value {
	if at.Required {
		e.fail(rng, "Missing required argument", "%s is null, and it is required.%s", at.Name, sentence(at.Doc))
		return cty.UnknownVal(at.Type)
	}
	if at.Default == cty.NilVal {
		return cty.NullVal(at.Type)
	}
	v, err := convert.Convert(at.Default, at.Type)
	if err != nil {
		e.fail(rng, "Invalid default", "The default of %s does not fit its type: %s.", at.Name, err)
		return cty.UnknownVal(at.Type)
	}
	return v
}

// notKnown takes a value that is not known: a hole where only a missing secret
// keeps it from being so.
func (e *evaluation) notKnown(at *block.Attr, a *hclsyntax.Attribute, path string, raw cty.Value, s secret) cty.Value {
	if s.sensitive && len(s.missing) > 0 {
		hole := block.Hole{Vars: s.vars}
		e.holes[path], e.stored[path], e.secret[path] = hole, hole, true
		for _, name := range s.missing {
			e.frame.run.needed[name] = true
			if !slices.Contains(e.needs, name) {
				e.needs = append(e.needs, name)
			}
		}
		if e.frame.run.env.DeferSensitive {
			e.postpone(at.Name + " is sensitive")
		}
		return cty.NullVal(at.Type)
	}
	if at.Convert == nil {
		if _, err := convert.Convert(raw, at.Type); err != nil {
			e.fail(a.Expr.Range(), "Value of another type", "%s does not fit (%s): %s", at.Name, grammar(at), stop(convertError(err)))
		}
	}
	e.postpone(e.cause(at.Name, a.Expr))
	return cty.UnknownVal(at.Type)
}

// known converts and checks a value.
func (e *evaluation) known(at *block.Attr, a *hclsyntax.Attribute, path string, raw cty.Value, s secret) cty.Value {
	if at.Grammar == "mode" && raw.Type() == cty.Number {
		e.bareMode(at, a, raw)
		return cty.UnknownVal(at.Type)
	}
	v, err := fitAttr(at, raw)
	if err == nil {
		err = checkAttr(at, v)
	}
	if err == nil && at.Asset {
		err = e.checkAsset(v)
	}
	if err == nil && at.LabelOf != "" {
		err = e.checkLabel(at.LabelOf, v)
	}
	if err != nil {
		e.refuse(at, a, err, s)
		return cty.UnknownVal(at.Type)
	}
	if v.IsNull() {
		return e.fallback(at, a.Expr.Range())
	}
	if s.sensitive {
		e.keep(path, v, s)
		if e.frame.run.env.DeferSensitive {
			e.postpone(at.Name + " is sensitive")
		}
	}
	return v
}

// keep notes a sensitive value that is there: plain data get a hole for it.
func (e *evaluation) keep(path string, v cty.Value, s secret) {
	text := []byte{}
	if v.Type() == cty.String {
		text = []byte(v.AsString())
	} else if json, err := canonical(v); err == nil {
		text = json
	}
	hole := block.Hole{Size: int64(len(text)), Vars: s.vars}
	if keyed := e.frame.run.env.Keyed; keyed != nil {
		hole.Keyed = keyed(digest(text))
	}
	e.stored[path], e.secret[path] = hole, true
}

func (e *evaluation) refuse(at *block.Attr, a *hclsyntax.Attribute, err error, s secret) {
	_, mismatch := err.(typeError)
	switch {
	case s.sensitive:
		e.fail(a.Expr.Range(), "Invalid value", "%s does not fit (%s). The value is sensitive and not shown.", at.Name, grammar(at))
	case mismatch:
		e.fail(a.Expr.Range(), "Value of another type", "%s", err)
	default:
		e.fail(a.Expr.Range(), "Invalid value", "%s", capital(stop(err)))
	}
}

// typeError is a value that does not fit an attribute's type.
type typeError struct{ text string }

func (e typeError) Error() string { return e.text }

func fitAttr(at *block.Attr, raw cty.Value) (cty.Value, error) {
	if at.Convert != nil {
		v, err := at.Convert(raw)
		if err != nil {
			return cty.NilVal, err
		}
		raw = v
	}
	if err := extraAttributes(raw, at.Type, "", 0); err != nil {
		return cty.NilVal, err
	}
	v, err := converted(raw, at.Type)
	if err != nil {
		return cty.NilVal, typeError{fmt.Sprintf("%s does not fit (%s): %s", at.Name, grammar(at), stop(err))}
	}
	return v, nil
}

func grammar(at *block.Attr) string {
	if at.Grammar != "" {
		return at.Grammar
	}
	return at.Type.FriendlyName()
}

func checkAttr(at *block.Attr, v cty.Value) error {
	if v.IsNull() {
		return nil
	}
	if at.Check != nil {
		return at.Check(v)
	}
	if len(at.OneOf) > 0 && v.Type() == cty.String && !slices.Contains(at.OneOf, v.AsString()) {
		return fmt.Errorf("%q is none of the values; write %s.%s", v.AsString(), oneOf(at.OneOf), didYouMean(v.AsString(), at.OneOf))
	}
	return nil
}

// checkAsset says whether the recipe has the file.
func (e *evaluation) checkAsset(v cty.Value) error {
	if v.IsNull() || v.Type() != cty.String {
		return nil
	}
	if _, err := e.frame.recipe.source.ReadFile(v.AsString()); err != nil {
		if cause, ok := errors.AsType[*fs.PathError](err); ok {
			err = fmt.Errorf("%s: %w", v.AsString(), cause.Err)
		}
		return fmt.Errorf("The recipe has no such file: %w.", err)
	}
	return nil
}

// checkLabel says whether the recipe, or one it is part of, has a step of that
// type and label.
func (e *evaluation) checkLabel(typ string, v cty.Value) error {
	if v.IsNull() || v.Type() != cty.String {
		return nil
	}
	var labels []string
	e.frame.run.root.eachRecipe(func(r *Recipe) { labels = append(labels, r.scope.labels(typ)...) })
	if slices.Contains(labels, v.AsString()) {
		return nil
	}
	return fmt.Errorf("The recipe has no %s %q; write the label of one.%s", typ, v.AsString(), didYouMean(v.AsString(), labels))
}
