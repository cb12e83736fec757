package functions

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter/block"
	"hostler/interpreter/syntax"
)

// templateFile renders a file of the recipe as a template. Templates may call
// the functions given; templatefile is not among them, so that they end.
func templateFile(assets block.Assets, functions map[string]function.Function) function.Function {
	read := func(name string) (hclsyntax.Expression, error) { return readTemplate(assets, name) }
	return templated("Renders a file of the recipe as a template, with ${…} and %{…} as in strings.", param("path", aFile), functions, read)
}

// templateString renders a text as a template.
func templateString(functions map[string]function.Function) function.Function {
	return templated("Renders a text as a template, with ${…} and %{…} as in strings; in a recipe they are written $${…} and %%{…}.",
		param("template", "The template."), functions, func(text string) (hclsyntax.Expression, error) {
			return parseTemplate("the template", text)
		})
}

// templated is a function that renders what read makes of its first argument.
func templated(doc string, first function.Parameter, functions map[string]function.Function, read func(string) (hclsyntax.Expression, error)) function.Function {
	vars := anyValue("vars", "An object or map with the variables of the template.")
	vars.AllowNull = false
	return function.New(&function.Spec{
		Description: doc,
		Params:      []function.Parameter{first, vars},
		Type: func(args []cty.Value) (cty.Type, error) {
			if ty := args[1].Type(); ty != cty.DynamicPseudoType && !ty.IsObjectType() && !ty.IsMapType() {
				return cty.NilType, function.NewArgErrorf(1, "must be an object or map, not a %s", ty.FriendlyName())
			}
			return cty.String, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			given, marks := args[1].Unmark()
			if !given.IsKnown() {
				return cty.UnknownVal(cty.String).WithMarks(marks), nil
			}
			expr, err := read(args[0].AsString())
			if err != nil {
				return cty.NilVal, err
			}
			out, err := render(expr, &hcl.EvalContext{Variables: given.AsValueMap(), Functions: functions})
			if err != nil {
				return cty.NilVal, err
			}
			return out.WithMarks(marks), nil
		},
	})
}

func readTemplate(assets block.Assets, name string) (hclsyntax.Expression, error) {
	source, err := readText(assets, name)
	if err != nil {
		return nil, err
	}
	return parseTemplate(name, source)
}

func parseTemplate(name, source string) (hclsyntax.Expression, error) {
	expr, diags := syntax.ParseTemplate(name, []byte(source))
	if diags.HasErrors() {
		return nil, function.NewArgError(0, explained(diags))
	}
	return expr, nil
}

func render(expr hclsyntax.Expression, ctx *hcl.EvalContext) (cty.Value, error) {
	for _, t := range expr.Variables() {
		root := t.RootName()
		if _, ok := ctx.Variables[root]; !ok {
			return cty.NilVal, function.NewArgErrorf(1, "the template uses the variable %s, at %s, which is not given",
				root, t.SourceRange())
		}
	}
	syntax.Meter(expr)
	v, diags := expr.Value(syntax.NewBudget().In(ctx))
	if diags.HasErrors() {
		return cty.NilVal, function.NewArgError(0, explained(diags))
	}
	out, err := convert.Convert(v, cty.String)
	if err != nil || out.IsNull() {
		return cty.NilVal, function.NewArgErrorf(0, "the template does not give a text")
	}
	return out, nil
}

// explained is an error that lists diagnostics with their places.
func explained(diags hcl.Diagnostics) error {
	var lines []string
	for _, d := range diags.Errs() {
		lines = append(lines, strings.TrimSpace(d.Error()))
	}
	return fmt.Errorf("%s", strings.Join(lines, "; "))
}
