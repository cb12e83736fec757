package main

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"hostler/interpreter/graph"
)

func (a *app) graphCommand() *cobra.Command {
	form := graph.Names()[0]
	c := &cobra.Command{
		Use: "graph RECIPE", Short: "Draw the steps of a recipe",
		Long:    "Draws the steps in their order, grouped by stage and machine, and which watch which. Steps that are off with the inputs given are dashed.",
		Example: example("hostler graph ./site", "hostler graph --format svg ./site > site.svg", "hostler graph --format dot ./site | dot -Tpng > site.png"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("graph needs a recipe: hostler graph RECIPE")
			}
			if !slices.Contains(graph.Names(), form) {
				return usagef("--format is %s, not %q", strings.Join(graph.Names(), ", "), form)
			}
			return a.draw(args[0], form)
		},
	}
	c.Flags().StringVar(&form, "format", form, "`FORMAT` of the drawing: "+strings.Join(graph.Names(), ", "))
	complete(c, "format", graph.Names()...)
	return a.takes(c, 1, a.recipeFlags)
}

func (a *app) draw(name, form string) error {
	given, err := a.given()
	if err != nil {
		return err
	}
	r, _, diags := a.load(name)
	if diags.HasErrors() {
		return diags
	}
	inputs, diags := r.Inputs(given)
	if diags.HasErrors() {
		return diags
	}
	g, diags := graph.Of(r, inputs)
	if g == nil || diags.HasErrors() {
		return append(hcl.Diagnostics{}, diags...)
	}
	return g.Write(a.out.W, form)
}
