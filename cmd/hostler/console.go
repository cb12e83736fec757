package main

import (
	"github.com/spf13/cobra"

	"hostler/builtins"
	"hostler/interpreter/eval"
	"hostler/interpreter/rehearse"
	"hostler/recipes"
)

func (a *app) consoleCommand() *cobra.Command {
	facts := ""
	c := &cobra.Command{
		Use: "console [RECIPE]", Short: "Try expressions against facts and inputs",
		Long: "Evaluates expressions that are typed, on a host in memory: a Debian 12, or the one whose facts are given. With a recipe, its variables,\n" +
			"locals and steps can be used. What is not closed yet goes on in the next line; on a terminal there are history and completion.",
		Example: example("hostler console ./site --var site=west-2", "echo 'upper(host.os.id)' | hostler console --facts images/acl.facts.json"),
		RunE: func(c *cobra.Command, args []string) error {
			subject := rehearse.Subject{}
			if len(args) > 0 {
				list, err := a.subjects(args)
				if err != nil {
					return err
				}
				subject = list[0]
			}
			img := rehearse.Image{}
			if facts != "" {
				images, err := findImages([]string{facts}, nil)
				if err != nil {
					return usagef("%w", err)
				}
				img = images[0]
			}
			lang := rehearse.Language{Vocabulary: builtins.Vocabulary(), Loader: eval.StandardLoader{Shipped: recipes.Open}, Version: version}
			console, err := rehearse.NewConsole(c.Context(), lang, subject, img)
			if err != nil {
				return err
			}
			return a.converse(console)
		},
	}
	c.Flags().StringVar(&facts, "facts", "", "`FILE` with the facts of the host, recorded or an os-release")
	return a.takes(c, 1, a.recipeFlags)
}
