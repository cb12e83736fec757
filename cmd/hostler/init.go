package main

import (
	"strings"

	"github.com/spf13/cobra"

	"hostler/interpreter/scaffold"
)

func (a *app) initCommand() *cobra.Command {
	answers := scaffold.Answers{}
	defaults := false
	c := &cobra.Command{
		Use: "init [DIR]", Short: "Begin a recipe, with tests and CI",
		Long: "Writes a recipe that works, its tests, and what runs them in CI, into a directory that has no recipe. What the flags leave open is\n" +
			"asked; --defaults answers for you.",
		Example: example("hostler init ./site", "hostler init ./site --name site --os debian --kind service --ci github"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return a.begin(dir, answers, defaults)
		},
	}
	f := c.Flags()
	f.StringVar(&answers.Name, "name", "", "`NAME` of the recipe")
	f.StringVar(&answers.OS, "os", "", "`SYSTEM` that it supports: "+strings.Join(scaffold.Systems(), ", "))
	f.StringVar(&answers.Kind, "kind", "", "what it begins with, a `KIND`: "+strings.Join(scaffold.Kinds(), ", "))
	f.StringVar(&answers.CI, "ci", "", "what runs its tests, a `SERVICE`: "+strings.Join(scaffold.CIs(), ", "))
	f.BoolVar(&defaults, "defaults", false, "take the defaults for what the flags leave open")
	complete(c, "os", scaffold.Systems()...)
	complete(c, "kind", scaffold.Kinds()...)
	complete(c, "ci", scaffold.CIs()...)
	return a.takes(c, 1)
}
