package main

import (
	"time"

	"github.com/spf13/cobra"

	"hostler/interpreter/block"
	"hostler/recipes"
)

// flags are common to the commands that take them.
type flags struct {
	root, prefix, output    string
	inputs, vars            []string
	noColor, quiet, verbose bool
	wait                    time.Duration
}

// takes gives a command its flags and bounds its arguments.
func (a *app) takes(c *cobra.Command, args int, sets ...func(*cobra.Command)) *cobra.Command {
	c.Args = func(c *cobra.Command, given []string) error {
		if len(given) > args {
			return usagef("%s takes at most %d argument(s), not %q; see %s --help", c.Name(), args, given, c.CommandPath())
		}
		return nil
	}
	c.PreRunE = func(c *cobra.Command, _ []string) error { return a.checkFlags(c) }
	for _, set := range sets {
		set(c)
	}
	return c
}

// checkFlags refuses values that no command can use. An empty --root would
// work on the running host, which nobody who wrote it meant.
func (a *app) checkFlags(c *cobra.Command) error {
	f := &a.flags
	switch {
	case f.output != "" && f.output != "text" && f.output != "json":
		return usagef("--output is text or json, not %q", f.output)
	case c.Flags().Changed("root") && f.root == "":
		return usagef("--root is empty; name the root directory of an offline host, or leave it out for the running one")
	case c.Flags().Changed("prefix") && block.CheckPrefix(f.prefix) != nil:
		return usagef("--prefix: %v", block.CheckPrefix(f.prefix))
	case f.quiet && f.verbose:
		return usagef("--quiet and --verbose exclude each other")
	case f.wait < 0:
		return usagef("--wait is a time to wait, not %s", f.wait)
	}
	return nil
}

func (a *app) outputFlag(c *cobra.Command) {
	c.Flags().StringVar(&a.flags.output, "output", "text", "`FORMAT` of the result: text or json")
	c.Flags().BoolVar(&a.flags.noColor, "no-color", false, "no colours")
	complete(c, "output", "text", "json")
}

func (a *app) outputFlags(c *cobra.Command) {
	a.outputFlag(c)
	c.Flags().BoolVar(&a.flags.quiet, "quiet", false, "faults and the summary only")
	c.Flags().BoolVar(&a.flags.verbose, "verbose", false, "steps that need nothing, too")
}

func (a *app) rootFlag(c *cobra.Command) {
	c.Flags().StringVar(&a.flags.root, "root", "", "root directory `DIR` of an offline host; without it, the running host")
	_ = c.MarkFlagDirname("root")
}

// recipeFlags are those of commands that take a RECIPE.
func (a *app) recipeFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&a.flags.inputs, "inputs", nil, "`FILE` with values for variables, HCL or JSON; may be repeated")
	f.StringArrayVar(&a.flags.vars, "var", nil, "value for a variable, `NAME=VALUE`; may be repeated")
	f.StringVar(&a.flags.prefix, "prefix", "", "directory `DIR` of the host in which programs are installed")
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return shippedRecipes(), cobra.ShellCompDirectiveDefault
	}
}

func (a *app) waitFlag(c *cobra.Command) {
	c.Flags().DurationVar(&a.flags.wait, "wait", 0, "how long to wait while another run holds the lock, a `DURATION` such as 30s")
}

// complete offers values for a flag in shell completion.
func complete(c *cobra.Command, flag string, values ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func shippedRecipes() (names []string) {
	for _, name := range recipes.Names() {
		names = append(names, "recipe:"+name)
	}
	return names
}
