package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hostler/builtins"
	"hostler/interpreter/eval"
	"hostler/interpreter/rehearse"
	"hostler/interpreter/rehearse/format"
	"hostler/recipes"
)

func (a *app) matrixCommand() *cobra.Command {
	var facts []string
	c := &cobra.Command{
		Use: "matrix [RECIPE...]", Short: "Hold recipes against OS images",
		Long: "Makes a table of recipes and images. An image is a file of facts, recorded with hostler facts --record, or an os-release; directories are\n" +
			"searched for *.facts.json, os-release and *.os-release. Of recorded facts, requirements are tried, too. Without a recipe, those that\n" +
			"are shipped are taken; without --facts, what lies in the tests of the recipes.",
		Example: example("hostler matrix ./site --facts images", "hostler matrix --facts images --output html > matrix.html"),
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(format.MatrixNames(), a.flags.output) {
				return usagef("--output is %s, not %q", strings.Join(format.MatrixNames(), ", "), a.flags.output)
			}
			if len(args) == 0 {
				args = shippedRecipes()
			}
			images, err := findImages(facts, args)
			if err != nil {
				return usagef("%w", err)
			}
			subjects, err := a.subjects(args)
			if err != nil {
				return err
			}
			lang := rehearse.Language{Vocabulary: builtins.Vocabulary(), Loader: eval.StandardLoader{Shipped: recipes.Open}, Version: version}
			return format.WriteMatrix(a.out.W, a.flags.output, rehearse.NewMatrix(c.Context(), lang, subjects, images))
		},
	}
	c.Flags().StringArrayVar(&facts, "facts", nil, "`FILE` or directory with facts of images; may be repeated")
	c.Flags().StringVar(&a.flags.output, "output", "text", "`FORMAT` of the result: "+strings.Join(format.MatrixNames(), ", "))
	c.Flags().StringArrayVar(&a.flags.inputs, "inputs", nil, "`FILE` with values for variables, HCL or JSON; may be repeated")
	c.Flags().StringArrayVar(&a.flags.vars, "var", nil, "value for a variable, `NAME=VALUE`; may be repeated")
	complete(c, "output", format.MatrixNames()...)
	return c
}
