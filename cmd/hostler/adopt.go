package main

import (
	"github.com/spf13/cobra"

	"hostler/interpreter"
)

func (a *app) adoptCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "adopt RECIPE", Short: "Take over a host that equals a recipe already",
		Long: "Writes the record for a host on which everything the recipe owns is there already. Nothing else changes; a reset\n" +
			"leaves adopted things.",
		Example: example("hostler adopt ./site --inputs site.hcl"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("adopt needs a recipe: hostler adopt RECIPE")
			}
			return a.change(c, args, nil, (*interpreter.Interpreter).Adopt)
		},
	}
	return a.takes(c, 1, a.rootFlag, a.recipeFlags, a.outputFlags, a.waitFlag)
}
