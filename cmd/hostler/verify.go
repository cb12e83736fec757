package main

import (
	"github.com/spf13/cobra"

	"hostler/interpreter"
)

func (a *app) verifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "verify", Short: "Find out what was changed behind our back",
		Long:    "Compares the host with what was applied and changes nothing. Exit status 2 says that something differs.",
		Example: example("hostler verify", "hostler verify --output json"),
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.foresee(c, interpreter.Request{}, (*interpreter.Interpreter).Verify, a.text().Verification)
			if err == nil && p.Differs() {
				return &codeError{code: exitChanges}
			}
			return err
		},
	}
	return a.takes(c, 0, a.rootFlag, a.outputFlags)
}
