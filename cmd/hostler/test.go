package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hostler/interpreter/rehearse"
	"hostler/interpreter/rehearse/format"
)

// rehearsal is what test is asked to do.
type rehearsal struct {
	rehearse.Options
	run      string
	coverage bool
}

func (a *app) testCommand() *cobra.Command {
	t := &rehearsal{}
	c := &cobra.Command{
		Use: "test [PATH...]", Short: "Run recipes on hosts in memory",
		Long: "Runs the tests of recipes, tests/*.test.hcl, in directories with everything below them. Hosts, services, machines and the network\n" +
			"are in memory. With the host of each test the laws are tried, too: again-is-nothing, crash-converges, reset-restores,\n" +
			"plan-is-apply, and upgrade-prunes from the recipes in tests/previous. Exits 1 when something fails.",
		Example: example("hostler test ./site", "hostler test --coverage --output junit . > tests.xml", "hostler test --run upgrade --update ./site"),
		RunE:    func(c *cobra.Command, args []string) error { return a.test(c, t, args) },
	}
	f := c.Flags()
	f.StringVar(&a.flags.output, "output", "text", "`FORMAT` of the result: "+strings.Join(format.Names(), ", "))
	f.StringVar(&t.run, "run", "", "run tests whose name holds `TEXT`")
	f.BoolVar(&t.coverage, "coverage", false, "say which steps, answers of when, and variables no test saw")
	f.BoolVar(&t.Update, "update", false, "write golden plans as they are")
	f.BoolVar(&t.Every, "every", false, "let runs die at every effect, and not at a sample of large recipes")
	f.BoolVar(&t.NoLaws, "no-laws", false, "leave out the laws")
	f.IntVar(&t.Parallel, "parallel", 0, "how many `TESTS` run at a time; 0 is one for each processor")
	f.BoolVar(&a.flags.noColor, "no-color", false, "no colours")
	f.BoolVar(&a.flags.quiet, "quiet", false, "failures only")
	f.BoolVar(&a.flags.verbose, "verbose", false, "name the tests that pass")
	complete(c, "output", format.Names()...)
	return c
}

func (a *app) test(c *cobra.Command, t *rehearsal, args []string) error {
	if !slices.Contains(format.Names(), a.flags.output) {
		return usagef("--output is %s, not %q", strings.Join(format.Names(), ", "), a.flags.output)
	}
	if t.Parallel < 0 {
		return usagef("--parallel is 0 or more, not %d", t.Parallel)
	}
	if len(args) == 0 {
		args = []string{"."}
	}
	places, err := findTests(args)
	if err != nil {
		return usagef("%w", err)
	}
	return a.rehearse(c.Context(), t, places)
}
