package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"hostler/interpreter/eval"
	"hostler/interpreter/report"
	"hostler/recipes"
)

func (a *app) showRecipe(name string) error {
	d, err := a.detail(shippedName(name))
	switch {
	case err != nil:
		return err
	case a.json():
		a.document(d)
		return nil
	}
	fmt.Fprintf(a.out.W, "%s %s\n%s\n\nSupported hosts:\n", d.Name, d.Version, d.Description)
	for _, s := range d.Supports {
		words := slices.DeleteFunc([]string{s.ID, s.IDLike, s.VariantID, s.VersionID}, func(w string) bool { return w == "" })
		fmt.Fprintf(a.out.W, "  %s: %s\n", s.Name, strings.Join(words, " "))
	}
	fmt.Fprint(a.out.W, "\nInputs:\n")
	for _, in := range d.Inputs {
		what := "default " + string(in.Default)
		switch {
		case in.Required:
			what = "required"
		case len(in.Default) > 80:
			what = "has a default"
		}
		if in.Sensitive {
			what += ", sensitive"
		}
		kind, _, more := strings.Cut(in.Type, "\n")
		if more {
			kind = strings.TrimRight(kind, "({[") + "(…)"
		}
		fmt.Fprintf(a.out.W, "  %s (%s; %s)\n      %s\n", in.Name, kind, what, in.Description)
	}
	fmt.Fprint(a.out.W, "\nOutputs:\n")
	for _, o := range d.Outputs {
		fmt.Fprintf(a.out.W, "  %s  %s\n", o.Name, o.Description)
	}
	fmt.Fprint(a.out.W, "\nSteps:\n")
	for _, s := range d.Steps {
		fmt.Fprintf(a.out.W, "  %s\n", s.Address)
	}
	return nil
}

// shippedName is the name of a shipped recipe, with or without recipe:.
func shippedName(name string) string { return "recipe:" + strings.TrimPrefix(name, "recipe:") }

// detail is what there is to say about a recipe.
func (a *app) detail(name string) (d report.RecipeDetail, err error) {
	r, _, diags := a.load(name)
	if diags.HasErrors() {
		return d, diags
	}
	h := r.Header()
	d = report.RecipeDetail{
		FormatVersion: report.FormatVersion, Recipe: report.Recipe{Name: name, Version: h.Version, Description: h.Description},
		Interpreter: h.Interpreter, Supports: []report.RecipeSupport{}, Inputs: []report.RecipeInput{}, Outputs: []report.RecipeOutput{}, Steps: []report.RecipeStep{},
	}
	for _, s := range h.Supports {
		d.Supports = append(d.Supports, report.RecipeSupport(s))
	}
	for _, v := range r.Variables() {
		d.Inputs = append(d.Inputs, input(v))
	}
	for _, o := range r.Outputs() {
		d.Outputs = append(d.Outputs, report.RecipeOutput{Name: o.Name, Description: o.Description})
	}
	seen, diags := r.Inspect(eval.Inputs{})
	if diags.HasErrors() {
		return d, diags
	}
	for _, s := range seen.Steps {
		address, _, _ := strings.Cut(s.Address, "[\"")
		if strings.HasPrefix(s.Address[len(address):], "[\""+s.Label+"\"]") {
			address = s.Address // the label is no identifier
		}
		step := report.RecipeStep{Address: address, Stage: s.Stage}
		if !slices.Contains(d.Steps, step) {
			d.Steps = append(d.Steps, step)
		}
	}
	return d, nil
}

func input(v eval.Variable) report.RecipeInput {
	in := report.RecipeInput{Name: v.Name, Type: unindented(v.TypeText), Required: v.Required, Sensitive: v.Sensitive, Description: v.Description}
	if !v.Required {
		// A default is known as a whole.
		in.Default, _ = ctyjson.Marshal(v.Default, v.Default.Type())
	}
	return in
}

// unindented is a type as if it stood at the left margin.
func unindented(text string) string { return strings.ReplaceAll(text, "\n  ", "\n") }

// completeRecipes completes the arguments of recipes.
func completeRecipes(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return []string{"list", "show", "copy"}, cobra.ShellCompDirectiveNoFileComp
	case 1:
		return recipes.Names(), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}
