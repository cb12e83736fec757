package eval

import (
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"hostler/interpreter/syntax"
)

// Strength says where an input comes from. A stronger one wins; of equally
// strong ones the later wins.
type Strength int

// Where inputs come from, weakest first.
const (
	FromEnvironment Strength = iota // HOSTLER_VAR_x; undeclared names are not looked at
	FromFile                        // --inputs FILE, HCL or JSON
	FromCredential                  // systemd credential; for sensitive variables only
	FromFlag                        // --var x=…
)

// EnvironmentPrefix starts the names of environment variables with inputs.
const EnvironmentPrefix = "HOSTLER_VAR_"

// Given is an input as it was given.
type Given struct {
	Strength Strength
	// Name is the variable's name; "" for a file.
	Name string
	// Filename is that of a file. What ends in .json is JSON, anything else
	// HCL.
	Filename string
	Text     []byte
}

// Inputs are values for the variables of a recipe, of their types.
type Inputs struct {
	values map[string]cty.Value
	ranges map[string]hcl.Range
	files  map[string]*hcl.File
	// refused are the variables whose values were faulty; unread says that a
	// file was, so that no more can be told about what is missing.
	refused map[string]bool
	unread  bool
}

// Files are the texts that diagnostics about inputs refer to. Those that hold
// a sensitive value are left out.
func (in Inputs) Files() map[string]*hcl.File { return maps.Clone(in.files) }

// Given says whether a value was given for a variable.
func (in Inputs) Given(name string) bool {
	_, ok := in.values[name]
	return ok
}

// taking collects inputs.
type taking struct {
	r  *Recipe
	in Inputs
	// secrets leaves out everything but sensitive variables.
	secrets bool
	*faults
}

// Inputs brings what was given to the types of the recipe's variables and
// checks it against their rules. What is missing is no fault here.
func (r *Recipe) Inputs(given []Given) (Inputs, hcl.Diagnostics) { return r.take(given, false) }

// Secrets is Inputs for sensitive variables alone. What else was given is not
// looked at.
func (r *Recipe) Secrets(given []Given) (Inputs, hcl.Diagnostics) { return r.take(given, true) }

// With is in, with the values of stronger over it.
func (in Inputs) With(stronger Inputs) Inputs {
	all := in
	all.values, all.ranges, all.files = maps.Clone(in.values), maps.Clone(in.ranges), maps.Clone(in.files)
	maps.Copy(all.values, stronger.values)
	maps.Copy(all.ranges, stronger.ranges)
	maps.Copy(all.files, stronger.files)
	return all
}

func (r *Recipe) take(given []Given, secrets bool) (Inputs, hcl.Diagnostics) {
	t := &taking{r: r, secrets: secrets, faults: &faults{}, in: Inputs{
		values: map[string]cty.Value{}, ranges: map[string]hcl.Range{}, files: map[string]*hcl.File{}, refused: map[string]bool{},
	}}
	sorted := slices.Clone(given)
	slices.SortStableFunc(sorted, func(a, b Given) int { return int(a.Strength) - int(b.Strength) })
	for _, g := range sorted {
		if g.Strength == FromFile {
			t.takeFile(g)
			continue
		}
		t.takeText(g)
	}
	if !t.in.unread {
		r.validate(t.faults, r.variableValues(t.in), func(v *variable) hcl.Range {
			if rng, ok := t.in.ranges[v.Name]; ok {
				return rng
			}
			return v.Range
		})
	}
	return t.in, t.sorted()
}

// label names where a single value comes from, as its filename.
func (g Given) label() string {
	switch g.Strength {
	case FromEnvironment:
		return EnvironmentPrefix + g.Name
	case FromCredential:
		return "credential " + g.Name
	}
	return "--var " + g.Name
}

// takeText takes a single value.
func (t *taking) takeText(g Given) {
	name := g.label()
	at := textRange(name, g.Text)
	v := t.r.variable(g.Name)
	if t.skips(v) {
		return
	}
	if v == nil {
		if g.Strength == FromFlag {
			t.undeclared(at, g.Name)
		}
		return
	}
	if g.Strength == FromCredential && !v.Sensitive {
		return
	}
	if !v.Sensitive {
		t.in.files[name] = &hcl.File{Bytes: g.Text}
	} else if g.Strength == FromFlag {
		t.warnf(at, "Secret on command line", "The variable %q is sensitive, and command lines are seen by every process of the machine. Give it in a file, or as a credential.", v.Name)
	}
	val, ok := t.parse(v, at, g.Text)
	if !ok {
		t.in.refused[v.Name] = true
		return
	}
	t.accept(v, val, at)
}

// skips says that a variable, nil for one that is not declared, is not asked
// for.
func (t *taking) skips(v *variable) bool { return t.secrets && (v == nil || !v.Sensitive) }

// parse reads a single value: text as it is for strings, numbers and bools, an
// expression for everything else.
func (t *taking) parse(v *variable, at hcl.Range, text []byte) (cty.Value, bool) {
	if !v.typed || v.Type.IsPrimitiveType() {
		if !utf8.Valid(text) {
			t.errorf(at, "Value is not text", "The value of %q is not UTF-8 text. Give it in base64 and decode it in the recipe.", v.Name)
			return cty.NilVal, false
		}
		return cty.StringVal(string(text)), true
	}
	expr, diags := syntax.ParseExpression(at.Filename, text)
	if !diags.HasErrors() {
		val, more := expr.Value(nil)
		if diags = append(diags, more...); !diags.HasErrors() {
			return val, true
		}
	}
	if v.Sensitive {
		t.errorf(at, "Invalid value", "The value of %q is no expression of its type, %s.", v.Name, v.plainType().FriendlyNameForConstraint())
		return cty.NilVal, false
	}
	for _, d := range diags {
		d.Expression, d.EvalContext = nil, nil
	}
	t.add(diags...)
	return cty.NilVal, false
}

func textRange(name string, text []byte) hcl.Range {
	line := slices.Index(text, '\n')
	if line < 0 {
		line = len(text)
	}
	end := hcl.Pos{Line: 1, Column: 1 + utf8.RuneCount(text[:line]), Byte: line}
	return hcl.Range{Filename: name, Start: hcl.InitialPos, End: end}
}

func (t *taking) undeclared(at hcl.Range, name string) {
	hint := didYouMean(name, t.r.variableNames())
	if hint == "" {
		hint = " Remove it, or declare it in the recipe."
	}
	t.errorf(at, "Unknown variable", "The recipe has no variable %q.%s", name, hint)
}

// accept stores a value of the variable's type.
func (t *taking) accept(v *variable, val cty.Value, at hcl.Range) {
	fitted, use, d := v.take(val, at)
	if d != nil {
		t.add(d)
		t.in.refused[v.Name] = true
		return
	}
	delete(t.in.values, v.Name)
	delete(t.in.ranges, v.Name)
	if use {
		t.in.values[v.Name], t.in.ranges[v.Name] = fitted, at
	}
}

// take brings a value to the variable's type. use is false where the default
// stands in for null.
func (v *variable) take(val cty.Value, at hcl.Range) (fitted cty.Value, use bool, d *hcl.Diagnostic) {
	plain, _ := val.Unmark()
	if plain.IsKnown() && plain.IsNull() {
		if v.Required {
			return cty.NilVal, false, fault(at, "Value required", "The variable %q has no default, and null is no value. Give it one.", v.Name)
		}
		return cty.NullVal(v.plainType()).WithSameMarks(val), v.Nullable, nil
	}
	fitted, err := v.fit(val)
	if err != nil {
		return cty.NilVal, false, fault(at, "Value of another type", "The value of %q does not fit its type, %s: %s", v.Name, v.plainType().FriendlyNameForConstraint(), stop(err))
	}
	return fitted, true, nil
}

// variableValues are the values of all variables as expressions see them: what
// was given, else the default, else unknown, as is what was refused or may stand
// in a file that could not be read; sensitive ones are marked.
func (r *Recipe) variableValues(in Inputs) map[string]cty.Value {
	vals := map[string]cty.Value{}
	for _, v := range r.variables {
		val, given := in.values[v.Name]
		switch {
		case in.refused[v.Name], in.unread && !given:
			val = cty.UnknownVal(v.plainType())
		case !given:
			val = v.fallback()
		}
		if v.Sensitive {
			val = conceal(val, v.Name, !given && v.Required)
		}
		vals[v.Name] = val
	}
	return vals
}

// Plain are the values that were given for variables that are not sensitive,
// as JSON: what may be stored.
func (r *Recipe) Plain(in Inputs) map[string]json.RawMessage {
	plain := map[string]json.RawMessage{}
	for _, v := range r.variables {
		val, ok := in.values[v.Name]
		if !ok || v.Sensitive || !val.IsWhollyKnown() {
			continue
		}
		if text, err := ctyjson.Marshal(val, val.Type()); err == nil {
			plain[v.Name] = text
		}
	}
	return plain
}
