package main

import (
	"github.com/spf13/cobra"

	"hostler/interpreter"
)

func (a *app) resetCommand() *cobra.Command {
	var plan, discard, force bool
	c := &cobra.Command{
		Use: "reset [RECIPE]", Short: "Undo the installation",
		Long: "Undoes everything that was claimed, last thing first, and puts originals back. It refuses when something was edited\n" +
			"since it was written. RECIPE helps where the record is lost.",
		Example: example("hostler reset --plan", "hostler reset --root /mnt/image"),
		RunE: func(c *cobra.Command, args []string) error {
			ask := func(req *interpreter.Request) { req.DiscardEdits, req.Force = discard, force }
			if !plan {
				return a.change(c, args, ask, (*interpreter.Interpreter).Reset)
			}
			req, err := a.request(args)
			if err != nil {
				return err
			}
			ask(&req)
			_, err = a.foresee(c, req, (*interpreter.Interpreter).PlanReset, a.text().Plan)
			return err
		},
	}
	c.Flags().BoolVar(&plan, "plan", false, "show what will go and what is left alone; change nothing")
	c.Flags().BoolVar(&discard, "discard-edits", false, "undo also what was edited since it was written")
	c.Flags().BoolVar(&force, "force", false, "go on where an original is lost, and leave that thing as it is; without a record: remove also what cannot be proved to be ours")
	return a.takes(c, 1, a.rootFlag, a.recipeFlags, a.outputFlags, a.waitFlag)
}
