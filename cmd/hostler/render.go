package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hostler/interpreter/deliver"
)

func (a *app) renderCommand() *cobra.Command {
	r := &rendering{}
	c := &cobra.Command{
		Use: "render FORMAT RECIPE", Short: "Write what a host gets before its first boot",
		Long: "Writes user data that delivers the program, a recipe, its inputs and the unit that runs them at every boot. " +
			"FORMAT is what the host understands:\n" + formatLines() +
			"Inputs, secrets too, become part of the text: who may read user data may read them. --credential leaves them on the host.",
		Example: example(
			"hostler render ignition ./site --inputs site.hcl --prefix /opt/hostler \\",
			"  --interpreter-url https://files.example/hostler --interpreter-sha256 \"$(cat hostler.sha256)\" > site.ign"),
		RunE: func(_ *cobra.Command, args []string) error { return a.render(r, args) },
	}
	r.flags(a, c)
	a.takes(c, 2, a.recipeFlags)
	recipes := c.ValidArgsFunction
	c.ValidArgsFunction = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return formatNames(), cobra.ShellCompDirectiveNoFileComp
		}
		return recipes(c, args, word)
	}
	return c
}

func (a *app) render(r *rendering, args []string) error {
	if len(args) == 0 {
		return usagef("render needs a format (%s) and a recipe", strings.Join(formatNames(), ", "))
	}
	i := slices.IndexFunc(deliver.Formats(), func(f deliver.Format) bool { return f.Name == args[0] })
	if i < 0 {
		return usagef("there is no format %q.%s Formats are %s", args[0], didYouMean("", args[0], formatNames()), strings.Join(formatNames(), ", "))
	}
	f := deliver.Formats()[i]
	text, warnings, err := a.rendered(f, r, args[1:])
	if err != nil {
		return deliveryFault(err)
	}
	a.diagnose(a.found)
	for _, w := range warnings {
		fmt.Fprintf(a.err.W, "hostler: warning: %s\n", w)
	}
	if !a.flags.quiet {
		fmt.Fprintf(a.err.W, "hostler: %d bytes; the host needs %s\n", len(text), f.Needs)
	}
	_, err = a.out.W.Write(text)
	return err
}
