package main

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"hostler/interpreter/report"
)

func (a *app) recipesCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "recipes [list | show NAME | copy NAME DIR]", Short: "List, show and copy the recipes that are shipped",
		Long: "Lists the recipes in the binary; each can be given as RECIPE and be used by other recipes.\n" +
			"  list           names, versions and what they are for\n" +
			"  show NAME      supported hosts, inputs, outputs and steps\n" +
			"  copy NAME DIR  starts a recipe of your own: the files of the recipe in a new directory. Its name and what\n" +
			"                 makes its identity are kept, so that a host goes over to it without a reset",
		Example: example("hostler recipes", "hostler recipes show debian/12/kubernetes-worker", "hostler recipes copy debian/12/kubernetes-worker ./site"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.recipes(args) },
	}
	c.ValidArgsFunction = completeRecipes
	return a.takes(c, 3, a.outputFlag)
}

// recipes does what the first argument says.
func (a *app) recipes(args []string) error {
	verbs := []string{"list", "show", "copy"}
	switch {
	case len(args) == 0, len(args) == 1 && args[0] == "list":
		return a.listRecipes()
	case len(args) == 2 && args[0] == "show":
		return a.showRecipe(args[1])
	case len(args) == 3 && args[0] == "copy":
		return a.copyRecipe(args[1], args[2])
	case args[0] == "list" || args[0] == "show" || args[0] == "copy":
		return usagef("write recipes list, recipes show NAME, or recipes copy NAME DIR")
	}
	return usagef("recipes has no %q.%s Write recipes list, recipes show NAME, or recipes copy NAME DIR", args[0], didYouMean("", args[0], verbs))
}

func (a *app) listRecipes() error {
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
	if a.json() {
		a.document(list)
	} else {
		for _, r := range list.Recipes {
			fmt.Fprintf(a.out.W, "%-48s %-8s %s\n", r.Name, r.Version, r.Description)
		}
	}
	if faults.HasErrors() {
		return faults
	}
	return nil
}
