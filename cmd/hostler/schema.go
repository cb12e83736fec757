package main

import (
	"github.com/spf13/cobra"

	"hostler/builtins"
	"hostler/interpreter/eval"
	"hostler/interpreter/report"
)

func (a *app) schemaCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "schema", Short: "Write the language as JSON, for tools",
		Long:    "Writes all block types with their arguments, all functions and the facts of hosts as one JSON document, for editors and generators.",
		Example: example("hostler schema > schema.json", "hostler schema | jq -r '.blocks[].name'"),
		RunE: func(*cobra.Command, []string) error {
			vocab := builtins.Vocabulary()
			a.document(report.NewVocabulary(eval.LanguageVersion, vocab.Types, eval.Functions(vocab), eval.FactNames()))
			return nil
		},
	}
	return a.takes(c, 0)
}
