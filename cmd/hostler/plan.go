package main

import (
	"github.com/spf13/cobra"

	"hostler/interpreter"
)

func (a *app) planCommand() *cobra.Command {
	var detailed bool
	c := &cobra.Command{
		Use: "plan [RECIPE]", Short: "Show what apply would do",
		Long:    "Runs apply on a shadow of the host: every effect is taken and nothing changes. What cannot be foreseen is shown as unknown.",
		Example: example("hostler plan ./site --inputs site.hcl", "hostler plan ./site --root /mnt/image --detailed-exitcode"),
		RunE: func(c *cobra.Command, args []string) error {
			req, err := a.request(args)
			if err != nil {
				return err
			}
			p, err := a.foresee(c, req, (*interpreter.Interpreter).Plan, a.text().Plan)
			if err == nil && detailed && p.Summary.Changes() {
				return &codeError{code: exitChanges}
			}
			return err
		},
	}
	c.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit 2 when there is something to do")
	return a.takes(c, 1, a.rootFlag, a.recipeFlags, a.outputFlags)
}
