package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hostler/builtins"
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/lint/rules"
	"hostler/interpreter/report"
)

func (a *app) explainCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "explain [BLOCK|FUNCTION|RULE]", Short: "Show the documentation of a block type, a function or a rule",
		Long:    "Without a name it lists the block types, the functions, and the rules of lint.",
		Example: example("hostler explain write_file_if_changed", "hostler explain trimprefix", "hostler explain bare-mode"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				a.listVocabulary()
				return nil
			}
			return a.explain(args[0])
		},
	}
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return vocabularyNames(), cobra.ShellCompDirectiveNoFileComp
	}
	return a.takes(c, 1)
}

func (a *app) explain(name string) error {
	vocab := builtins.Vocabulary()
	if t := vocab.Type(name); t != nil {
		_, err := io.WriteString(a.out.W, report.BlockPage(t))
		return err
	}
	if f, ok := eval.Functions(vocab)[name]; ok {
		_, err := io.WriteString(a.out.W, report.FunctionText(name, f))
		return err
	}
	for _, r := range rules.All() {
		if r.Name == name {
			_, err := io.WriteString(a.out.W, lint.RulePage(r))
			return err
		}
	}
	return usagef("there is no block type, function or rule %q.%s hostler explain lists them", name, didYouMean("", name, vocabularyNames()))
}

func (a *app) listVocabulary() {
	vocab := builtins.Vocabulary()
	fmt.Fprintln(a.out.W, "Block types:")
	for _, t := range vocab.Types {
		fmt.Fprintf(a.out.W, "  %-24s %s\n", t.Name, t.Doc.Summary)
	}
	fmt.Fprintln(a.out.W, "\nFunctions:")
	functions := eval.Functions(vocab)
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		summary, _, _ := strings.Cut(functions[name].Description(), "\n")
		fmt.Fprintf(a.out.W, "  %-24s %s\n", name, summary)
	}
	fmt.Fprintln(a.out.W, "\nRules of lint:")
	for _, r := range rules.All() {
		fmt.Fprintf(a.out.W, "  %-24s %s.\n", r.Name, r.Summary)
	}
}

func vocabularyNames() (names []string) {
	vocab := builtins.Vocabulary()
	for _, t := range vocab.Types {
		names = append(names, t.Name)
	}
	names = append(names, slices.Sorted(maps.Keys(eval.Functions(vocab)))...)
	for _, r := range rules.All() {
		names = append(names, r.Name)
	}
	return names
}
