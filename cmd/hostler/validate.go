package main

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"hostler/interpreter/eval"
	"hostler/interpreter/report"
)

func (a *app) validateCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "validate RECIPE", Short: "Check a recipe without a host",
		Long:    "Reports every fault that can be found without a host, and without values for variables that were not given.",
		Example: example("hostler validate ./site", "hostler validate ./site --output json"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("validate needs a recipe: hostler validate RECIPE")
			}
			return a.validate(args[0])
		},
	}
	return a.takes(c, 1, a.recipeFlags, a.outputFlags)
}

func (a *app) validate(name string) error {
	given, err := a.given()
	if has[*codeError](err) {
		return err
	}
	r, _, diags := a.load(name)
	if r != nil {
		diags = append(diags, a.validateInputs(r, given, err)...)
	}
	switch {
	case a.json():
		a.document(report.NewValidation(diags, a.sources()))
	case len(diags) > 0:
		a.diagnose(diags)
	}
	if diags.HasErrors() {
		return &codeError{code: exitInvalid}
	}
	if !a.json() && !a.flags.quiet {
		fmt.Fprintf(a.out.W, "Recipe %s %s is valid.\n", r.Header().Name, r.Header().Version)
	}
	return nil
}

// validateInputs checks the recipe with the inputs given, or without any when
// some, which unreadable names, could not be read.
func (a *app) validateInputs(r *eval.Recipe, given []eval.Given, unreadable error) hcl.Diagnostics {
	if unread, ok := unreadable.(hcl.Diagnostics); ok {
		return append(unread, r.Validate(eval.Inputs{})...)
	}
	inputs, diags := r.Inputs(given)
	a.files = inputs.Files()
	return append(diags, r.Validate(inputs)...)
}
