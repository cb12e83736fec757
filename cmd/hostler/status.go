package main

import (
	"github.com/spf13/cobra"

	"hostler/interpreter"
)

func (a *app) statusCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "status", Short: "Show what is installed and how it is",
		Long:    "Shows the phase, the identity, what was changed behind our back, what is pending, and restarts that are owed.",
		Example: example("hostler status", "hostler status --output json"),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.on(c.Context(), c.Name(), func(in *interpreter.Interpreter) error {
				s, err := in.Status(c.Context(), interpreter.Request{})
				if err != nil {
					return err
				}
				doc := interpreter.StatusDocument(s)
				if a.json() {
					a.document(doc)
					return nil
				}
				a.text().Status(doc)
				return nil
			})
		},
	}
	return a.takes(c, 0, a.rootFlag, a.outputFlags)
}
