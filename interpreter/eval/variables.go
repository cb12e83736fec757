package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/syntax"
)

// Variable is an input that a recipe declares.
type Variable struct {
	Name string
	Type cty.Type
	// TypeText is the type as it is written, "any" where it is not.
	TypeText    string
	Description string
	Sensitive   bool
	Nullable    bool
	// Required is true when there is no default; Default is of Type otherwise.
	Required bool
	Default  cty.Value
	Range    hcl.Range
}

type variable struct {
	Variable
	defaults *typeexpr.Defaults
	checks   []validation
	// typed is false when no type is written: text stays a string then.
	typed bool
	// level is what the values given depend on: variables, or what the
	// expression in the use block does.
	level place
}

// validation is a condition on a variable's value.
type validation struct {
	condition, message hclsyntax.Expression
}

// Variables are the inputs that the recipe declares, in the order written.
func (r *Recipe) Variables() []Variable {
	list := make([]Variable, len(r.variables))
	for i, v := range r.variables {
		list[i] = v.Variable
	}
	return list
}

func (r *Recipe) variable(name string) *variable {
	for _, v := range r.variables {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func (r *Recipe) variableNames() []string {
	names := make([]string, len(r.variables))
	for i, v := range r.variables {
		names[i] = v.Name
	}
	return names
}

func (r *Recipe) readVariable(b *hclsyntax.Block) {
	name, ok := r.oneLabel(b, "variable", "its name")
	if !ok || !r.checkIdentifier(b.LabelRanges[0], name, "variable") {
		return
	}
	if other := r.variable(name); other != nil {
		r.errorf(b.LabelRanges[0], "Duplicate variable", "The variable %q is declared at %s already. Remove or rename one.", name, where(other.Range))
		return
	}
	v := &variable{level: placeIdentity, Variable: Variable{
		Name: name, Type: cty.DynamicPseudoType, TypeText: "any", Nullable: true, Required: true, Default: cty.NilVal, Range: b.DefRange(),
	}}
	r.variables = append(r.variables, v)
	if a := b.Body.Attributes["type"]; a != nil {
		r.readType(v, a)
	}
	r.readVariableArguments(v, b.Body)
	for _, inner := range b.Body.Blocks {
		r.readValidation(v, inner)
	}
}

func (r *Recipe) readType(v *variable, a *hclsyntax.Attribute) {
	ty, defaults, diags := typeexpr.TypeConstraintWithDefaults(a.Expr)
	if diags.HasErrors() {
		for _, d := range diags {
			d.Summary = "Invalid type"
			d.Detail += " Types are string, number, bool, any, list(T), set(T), map(T), tuple([T]) and object({ name = T, other = optional(T, DEFAULT) })."
		}
		r.add(diags...)
		return
	}
	v.Type, v.defaults, v.typed = ty, defaults, true
	v.TypeText = string(a.Expr.Range().SliceBytes(r.file.Bytes))
}

func (r *Recipe) readVariableArguments(v *variable, body *hclsyntax.Body) {
	// The type was read before: its value is no expression.
	untyped := withoutAttribute(body, "type")
	attrs := r.constants(untyped, "type", "default", "description", "sensitive", "nullable")
	if a := attrs["description"]; a != nil {
		v.Description, _ = r.constantString(a)
	}
	if a := attrs["sensitive"]; a != nil {
		v.Sensitive = r.constantBool(a)
	}
	if a := attrs["nullable"]; a != nil {
		v.Nullable = r.constantBool(a)
	}
	if a := attrs["default"]; a != nil {
		r.readDefault(v, a)
	}
}

func (r *Recipe) readDefault(v *variable, a *hclsyntax.Attribute) {
	v.Required = false
	v.Default = cty.NullVal(v.Type.WithoutOptionalAttributesDeep())
	val, ok := r.constant(a)
	if !ok {
		return
	}
	if val.IsNull() && !v.Nullable {
		r.errorf(a.Expr.Range(), "Null default", "The variable %q is not nullable, so null cannot be its default. Leave the default out to require a value.", v.Name)
		return
	}
	fitted, err := v.fit(val)
	if err != nil {
		r.errorf(a.Expr.Range(), "Default of another type", "The default of %q does not fit its type: %s", v.Name, stop(err))
		return
	}
	v.Default = fitted
}

func (r *Recipe) readValidation(v *variable, b *hclsyntax.Block) {
	if b.Type != "validation" {
		r.errorf(b.TypeRange, "Unknown block", "A variable has nested blocks \"validation\" only.%s", didYouMean(b.Type, []string{"validation"}))
		return
	}
	var c validation
	names := []string{"condition", "error_message"}
	for _, a := range b.Body.Attributes {
		switch a.Name {
		case "condition":
			c.condition = a.Expr
		case "error_message":
			c.message = a.Expr
		default:
			r.errorf(a.NameRange, "Unknown argument", "There is no argument %q here; write %s.%s", a.Name, oneOf(names), didYouMean(a.Name, names))
		}
	}
	if c.condition == nil || c.message == nil {
		r.errorf(b.DefRange(), "Incomplete validation", "A validation has a condition, and an error_message that says what to give instead.")
		return
	}
	v.checks = append(v.checks, c)
}

// checkValidations holds the expressions of validations to their place.
func (r *Recipe) checkValidations() {
	for _, v := range r.variables {
		for _, c := range v.checks {
			for name, expr := range map[string]hclsyntax.Expression{"condition": c.condition, "error_message": c.message} {
				s := site{recipe: r, name: name, place: placeIdentity, anyVariable: true}
				s.check(expr)
			}
		}
	}
}

// validate evaluates the conditions on all variables. What depends on an
// unknown value is left out.
func (r *Recipe) validate(f *faults, vars map[string]cty.Value, at func(v *variable) hcl.Range) {
	ctx := syntax.NewBudget().In(&hcl.EvalContext{Functions: r.functions, Variables: map[string]cty.Value{"var": cty.ObjectVal(vars)}})
	for _, v := range r.variables {
		for _, c := range v.checks {
			if !r.faulty[c.condition] && !r.faulty[c.message] {
				r.validateOne(f, ctx, c, at(v))
			}
		}
	}
}

func (r *Recipe) validateOne(f *faults, ctx *hcl.EvalContext, c validation, at hcl.Range) {
	val, diags := evaluate(c.condition, ctx)
	f.add(diags...)
	ok, _ := reveal(val)
	switch {
	case diags.HasErrors() || !ok.IsKnown():
		return
	case ok.IsNull() || ok.Type() != cty.Bool:
		f.errorf(c.condition.Range(), "Invalid condition", "The condition of a validation is true or false. Compare the value with something.")
		return
	case ok.True():
		return
	}
	text := "The value does not meet the condition."
	msg, diags := evaluate(c.message, ctx)
	f.add(diags...)
	raw, s := reveal(msg)
	if !diags.HasErrors() && !s.sensitive && raw.Type() == cty.String && raw.IsKnown() && !raw.IsNull() {
		text = raw.AsString()
	}
	d := fault(at, "Invalid value", "%s (The rule is at %s.)", text, where(c.condition.Range()))
	f.add(d)
}

// fallback is the value of a variable that is given none.
func (v *variable) fallback() cty.Value {
	switch {
	case !v.Required:
		return v.Default
	case v.Sensitive:
		return cty.UnknownVal(v.plainType()).RefineNotNull()
	}
	return cty.UnknownVal(v.plainType())
}

func (v *variable) plainType() cty.Type { return v.Type.WithoutOptionalAttributesDeep() }

// sensitiveNames are the names of the sensitive variables, sorted.
func (r *Recipe) sensitiveNames() []string {
	var names []string
	for _, v := range r.variables {
		if v.Sensitive {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return names
}
