package main

import (
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hostler/builtins"
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/lint/format"
	"hostler/interpreter/lint/rules"
	"hostler/recipes"
)

// lintGCPercent lets twice as much garbage lie as usual: a thousand recipes stay
// far below 100 MB, and are done sooner.
const lintGCPercent = 200

// linting is what lint is asked to do.
type linting struct {
	profile, minimum, config string
	fix                      bool
}

func (a *app) lintCommand() *cobra.Command {
	l := &linting{}
	c := &cobra.Command{
		Use: "lint [PATH...]", Short: "Find what is wrong in valid recipes",
		Long: "Checks recipes, directories with everything below them, with named rules; exits 1 when something is found.\n" +
			"A finding is answered by a comment # hostler:ignore RULE reason; " + lint.ConfigFile + " configures the recipes beside and below it.\n" +
			"hostler explain RULE shows what a rule is about.",
		Example: example("hostler lint ./site", "hostler lint --output sarif . > lint.sarif", "hostler lint --fix ./site"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return a.lint(l, args)
		},
	}
	f := c.Flags()
	f.StringVar(&a.flags.output, "output", "text", "`FORMAT` of the result: "+strings.Join(format.Names(), ", "))
	f.StringVar(&l.profile, "profile", "", "`SET` of rules: basic, safe or strict; overrides the configuration")
	f.StringVar(&l.minimum, "minimum-severity", "", "least `SEVERITY` that is reported: error or warning; overrides the configuration")
	f.StringVar(&l.config, "config", "", "configuration `FILE` for all recipes; without it, "+lint.ConfigFile+" beside or above each")
	f.BoolVar(&l.fix, "fix", false, "remove what can be removed safely, and report the rest")
	f.BoolVar(&a.flags.noColor, "no-color", false, "no colours")
	f.BoolVar(&a.flags.quiet, "quiet", false, "say nothing when nothing is found")
	complete(c, "output", format.Names()...)
	complete(c, "profile", "basic", "safe", "strict")
	complete(c, "minimum-severity", "error", "warning")
	return c
}

func (a *app) lint(l *linting, args []string) error {
	if !slices.Contains(format.Names(), a.flags.output) {
		return usagef("--output is %s, not %q", strings.Join(format.Names(), ", "), a.flags.output)
	}
	override, err := l.override()
	if err != nil {
		return usagef("%v", err)
	}
	inputs, err := findRecipes(lint.Discovery{Rules: rules.All(), Config: l.config, Override: override}, args)
	if err != nil {
		return usagef("%w", err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(lintGCPercent))
	linter := &lint.Linter{Rules: rules.All(), Vocabulary: builtins.Vocabulary(), Loader: eval.StandardLoader{Shipped: recipes.Open}, Version: version}
	report := format.Report{Rules: linter.Rules, Version: version, Color: a.pen(a.out).Color}
	if l.fix {
		if err := fixRecipes(linter, inputs, &report); err != nil {
			return err
		}
	}
	report.Results = linter.All(inputs)
	return a.showFindings(report)
}

func (a *app) showFindings(report format.Report) error {
	found := slices.ContainsFunc(report.Results, func(r lint.Result) bool { return len(r.Findings) > 0 })
	if found || !a.flags.quiet || a.flags.output != "text" {
		if err := format.Write(a.out.W, a.flags.output, report); err != nil {
			return err
		}
	}
	if found {
		return &codeError{code: exitFailed}
	}
	return nil
}
