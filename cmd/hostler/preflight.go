package main

import (
	"errors"

	"github.com/spf13/cobra"

	"hostler/interpreter"
)

func (a *app) preflightCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "preflight [RECIPE]", Short: "Check the host against a recipe's requirements",
		Long:    "Checks every require_capability of the recipe, reports all findings at once, and changes nothing.",
		Example: example("hostler preflight ./site --inputs site.hcl", "hostler preflight ./site --output json"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.handOver(c); err != nil {
				return err
			}
			req, err := a.request(args)
			if err != nil {
				return err
			}
			return a.on(c.Context(), c.Name(), func(in *interpreter.Interpreter) error {
				found, err := in.Preflight(c.Context(), req)
				unmet, ok := errors.AsType[*interpreter.UnmetError](err)
				if err != nil && !ok {
					return err
				}
				doc := interpreter.PreflightDocument(found, unmet)
				if a.json() {
					a.document(doc)
				} else {
					a.text().Preflight(doc)
				}
				if ok {
					return &codeError{code: exitUnmet}
				}
				return nil
			})
		},
	}
	return a.takes(c, 1, a.rootFlag, a.recipeFlags, a.outputFlags)
}
