package main

import (
	"github.com/spf13/cobra"

	"hostler/interpreter"
)

func (a *app) applyCommand() *cobra.Command {
	var previous, destroy bool
	c := &cobra.Command{
		Use: "apply [RECIPE]", Short: "Change the host to what a recipe says",
		Long: "Installs a recipe on a clean host, continues an unfinished installation, or updates a complete one.\n" +
			"What a newer recipe does not name any more is undone.",
		Example: example("hostler apply ./site --inputs site.hcl", "hostler apply ./site --root /mnt/image"),
		RunE: func(c *cobra.Command, args []string) error {
			ask := func(req *interpreter.Request) { req.Previous, req.AllowDestroy = previous, destroy }
			return a.change(c, args, ask, (*interpreter.Interpreter).Apply)
		},
	}
	c.Flags().BoolVar(&previous, "previous", false, "go back to what was there before the last target")
	c.Flags().BoolVar(&destroy, "allow-destroy", false, "stop and remove machines that the recipe does not name any more")
	return a.takes(c, 1, a.rootFlag, a.recipeFlags, a.outputFlags, a.waitFlag)
}
