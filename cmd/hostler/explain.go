package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"hostler/builtins"
	"hostler/interpreter/editor"
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/lint/rules"
	"hostler/interpreter/report"
)

func (a *app) explainCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "explain [BLOCK|ARGUMENT|FUNCTION|RULE]", Short: "Show the documentation of a block, a function or a rule",
		Long:    "Without a name it lists the words of the language: blocks, arguments of every step, functions, and the rules of lint.",
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
	text := explanation(name)
	if text == "" {
		return usagef("there is no block, argument, function or rule %q.%s hostler explain lists them", name, didYouMean("", name, vocabularyNames()))
	}
	_, err := io.WriteString(a.out.W, text)
	return err
}

// explanation documents a name, "" for one that is not known.
func explanation(name string) string {
	vocab := builtins.Vocabulary()
	if t := vocab.Type(name); t != nil {
		return report.BlockPage(t)
	}
	if f, ok := eval.Functions(vocab)[name]; ok {
		return report.FunctionText(name, f)
	}
	for _, r := range rules.All() {
		if r.Name == name {
			return lint.RulePage(r)
		}
	}
	top, step := editor.Words()
	for _, n := range slices.Concat(top, step.Blocks) {
		if n.Name == name {
			return report.BlockText(n)
		}
	}
	for _, attr := range step.Attrs {
		if attr.Name == name {
			return report.ArgumentText(attr)
		}
	}
	return ""
}
