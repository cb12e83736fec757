package main

import (
	"time"

	"github.com/spf13/cobra"

	"hostler/interpreter"
)

func (a *app) repaveCommand() *cobra.Command {
	var plan bool
	var asked interpreter.Request
	c := &cobra.Command{
		Use: "repave [RECIPE]", Short: "Build the machines anew and move to them",
		Long: "Builds the machines of a recipe anew, of the one installed when none is given, and may move the identity of the\n" +
			"installation. A machine with slots is built in the other slot; the old one stops only for it, and comes back by itself\n" +
			"when the new one does not become ready, or is not confirmed in time.",
		Example: example("hostler repave ./site --inputs site.hcl --confirm-within 10m", "hostler repave --confirm"),
		RunE: func(c *cobra.Command, args []string) error {
			if asked.Confirm && (len(args) > 0 || plan || asked.Previous || asked.ConfirmWithin != 0) {
				return usagef("--confirm keeps what the last repave brought and goes with no recipe or other flag of repave")
			}
			if asked.ConfirmWithin < 0 || asked.ConfirmWithin > 0 && asked.ConfirmWithin < time.Second {
				return usagef("--confirm-within is a time such as 10m, of one second or more")
			}
			ask := func(req *interpreter.Request) {
				req.Confirm, req.ConfirmWithin, req.Previous = asked.Confirm, asked.ConfirmWithin, asked.Previous
			}
			if !plan {
				return a.change(c, args, ask, (*interpreter.Interpreter).Repave)
			}
			req, err := a.request(args)
			if err != nil {
				return err
			}
			ask(&req)
			_, err = a.foresee(c, req, (*interpreter.Interpreter).PlanRepave, a.text().Plan)
			return err
		},
	}
	c.Flags().BoolVar(&plan, "plan", false, "show what would be done; change nothing")
	c.Flags().BoolVar(&asked.Confirm, "confirm", false, "keep what a repave with --confirm-within brought")
	c.Flags().DurationVar(&asked.ConfirmWithin, "confirm-within", 0, "go back unless confirmed in that time, and wait for it")
	c.Flags().BoolVar(&asked.Previous, "previous", false, "go back to what was there before the last repave")
	return a.takes(c, 1, a.rootFlag, a.recipeFlags, a.outputFlags, a.waitFlag)
}
