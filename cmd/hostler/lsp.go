package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"hostler/builtins"
	"hostler/interpreter/editor"
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/lint/rules"
	"hostler/interpreter/report"
	"hostler/recipes"
)

func (a *app) lspCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "lsp", Short: "Serve an editor",
		Long: "Speaks the Language Server Protocol on standard input and output: findings of lint as you type, completion, hover,\n" +
			"definitions, references, rename, formatting and fixes. An editor starts it; examples/editors says how for three of them.",
		Example: example("hostler lsp"),
	}
	// Clients say how they talk to a server; this one knows one way.
	c.Flags().Bool("stdio", true, "talk over standard input and output, which is always so")
	a.takes(c, 0)
	c.RunE = func(c *cobra.Command, _ []string) error {
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
		service := &editor.Service{
			Linter: &lint.Linter{Rules: rules.All(), Vocabulary: builtins.Vocabulary(), Loader: eval.StandardLoader{Shipped: recipes.Open}, Version: version},
			Block:  report.BlockPage,
			Log:    func(text string) { fmt.Fprintln(a.err.W, text) },
		}
		return service.Serve(c.Context(), a.in, a.out.W)
	}
	return c
}

// gcPercent trades memory for the time from a keystroke to its findings: each
// check makes much that is garbage right after.
const gcPercent = 400
