package main

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"hostler/interpreter/report"
)

func (a *app) recipesCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "recipes", Short: "List the recipes that are shipped",
		Long:    "Lists the recipes in the binary; each can be given as RECIPE and be used by other recipes.",
		Example: example("hostler recipes", "hostler plan recipe:debian/12/nspawn-worker --inputs site.hcl"),
		RunE: func(*cobra.Command, []string) error {
			list := report.Recipes{FormatVersion: report.FormatVersion, Recipes: []report.Recipe{}}
			var faults hcl.Diagnostics
			for _, name := range shippedRecipes() {
				r, _, diags := a.load(name)
				faults = append(faults, diags...)
				if !diags.HasErrors() {
					h := r.Header()
					list.Recipes = append(list.Recipes, report.Recipe{Name: name, Version: h.Version, Description: h.Description})
				}
			}
			a.showRecipes(list)
			if faults.HasErrors() {
				return faults
			}
			return nil
		},
	}
	return a.takes(c, 0, a.outputFlag)
}

func (a *app) showRecipes(list report.Recipes) {
	if a.json() {
		a.document(list)
		return
	}
	for _, r := range list.Recipes {
		fmt.Fprintf(a.out.W, "%-40s %-8s %s\n", r.Name, r.Version, r.Description)
	}
}
