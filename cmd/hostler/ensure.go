package main

import (
	"github.com/spf13/cobra"

	"hostler/interpreter"
)

func (a *app) ensureCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "ensure [RECIPE]", Short: "Install, continue, or verify and repair",
		Long: "What the boot unit runs. A complete host is driven to what was applied, whatever recipe and inputs say now;\n" +
			"a healthy one gets no write and needs no network.",
		Example: example("hostler ensure recipe:debian/12/nspawn-worker --inputs /etc/hostler/inputs.hcl"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.handOver(c); err != nil {
				return err
			}
			return a.change(c, args, nil, (*interpreter.Interpreter).Ensure)
		},
	}
	return a.takes(c, 1, a.rootFlag, a.recipeFlags, a.outputFlags, a.waitFlag)
}
