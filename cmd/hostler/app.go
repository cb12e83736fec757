package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"hostler/interpreter/eval"
	"hostler/interpreter/report"
)

// app is one run of the program.
type app struct {
	streams
	flags flags
	// recipe is the recipe that was loaded, for snippets; files are inputs
	// that diagnostics may be about.
	recipe *eval.Recipe
	files  map[string]*hcl.File
	// found are warnings about the recipe that was loaded.
	found hcl.Diagnostics
	// misnamed is the fault of a help that was asked for a command that does
	// not exist.
	misnamed error
	// changes says that the command changes a host.
	changes bool
	// reported says that the fault was part of what the command wrote.
	reported bool
}

// The groups of commands, as --help lists them.
const (
	authoring  = "authoring"
	reading    = "reading"
	changing   = "changing"
	delivering = "delivery"
)

// command is the program's command tree.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "hostler COMMAND [RECIPE] [flags]",
		Short: "Apply host recipes",
		Long: "hostler turns a Linux host into what a recipe says, at every boot, and can undo it.\n" +
			"RECIPE is a directory with recipe.hcl, a .hcl file, or recipe:NAME for one that is shipped.",
		Example: example("hostler plan ./site --inputs site.hcl", "hostler apply ./site --inputs site.hcl", "hostler reset --plan"),
		Version: version, SilenceErrors: true, SilenceUsage: true,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			return c.Help()
		},
	}
	root.SetHelpFunc(a.helpOr(root.HelpFunc()))
	root.SetOut(a.out.W)
	root.SetErr(a.err.W)
	root.SetFlagErrorFunc(flagFault)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetUsageFunc(withoutSubcommandLine(root.UsageFunc()))
	root.SetHelpCommand(a.helpCommand(root))
	a.addCommands(root)
	return root
}

// withoutSubcommandLine takes a line out of the usage that says again what the
// one before it says. A template of our own would link text/template in, with
// which the linker keeps every exported method of the program.
func withoutSubcommandLine(usage func(*cobra.Command) error) func(*cobra.Command) error {
	return func(c *cobra.Command) error {
		var text strings.Builder
		out := c.OutOrStderr()
		c.SetOut(&text)
		err := usage(c)
		c.SetOut(out)
		_, writing := io.WriteString(out, strings.Replace(text.String(), "\n  "+c.CommandPath()+" [command]", "", 1))
		return errors.Join(err, writing)
	}
}

// helpOr shows help, but for a command that does not exist.
func (a *app) helpOr(help func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(c *cobra.Command, args []string) {
		if name := c.Flags().Arg(0); !c.HasParent() && name != "" {
			a.misnamed = unknownCommand(c, name)
			return
		}
		help(c, args)
	}
}

func (a *app) addCommands(root *cobra.Command) {
	for _, group := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{authoring, "Write recipes:", []*cobra.Command{a.initCommand(), a.validateCommand(), a.fmtCommand(), a.lintCommand(), a.testCommand(), a.matrixCommand(), a.graphCommand(), a.consoleCommand(), a.schemaCommand(), a.lspCommand(), a.explainCommand()}},
		{reading, "Read a host:", []*cobra.Command{a.factsCommand(), a.preflightCommand(), a.planCommand(), a.verifyCommand(), a.statusCommand(),
			a.whyCommand(), a.historyCommand(), a.reportCommand(), a.supportCommand()}},
		{changing, "Change a host:", []*cobra.Command{a.ensureCommand(), a.applyCommand(), a.repaveCommand(), a.adoptCommand(), a.resetCommand(), a.upgradeCommand(), a.daemonCommand()}},
		{delivering, "Deliver:", []*cobra.Command{a.recipesCommand(), a.renderCommand()}},
		{"", "", []*cobra.Command{a.versionCommand(), a.completionCommand(), a.docsCommand()}},
	} {
		if group.id != "" {
			root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		}
		for _, c := range group.commands {
			c.GroupID = group.id
			root.AddCommand(c)
		}
	}
}

// helpCommand is "hostler help [COMMAND]".
func (a *app) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show the help of a command", Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			c, _, err := root.Find(args)
			if err != nil || c == root {
				return unknownCommand(root, args[0])
			}
			return c.Help()
		},
	}
}

func (a *app) json() bool { return a.flags.output == "json" }

func (a *app) text() *report.Text {
	return &report.Text{Out: a.pen(a.out), Notes: a.pen(a.err), Quiet: a.flags.quiet, Verbose: a.flags.verbose}
}

// notes writes what an operator should know.
func (a *app) notes(all []string) {
	for _, text := range all {
		a.text().Warning(report.Diagnostic{Severity: "warning", Summary: text})
	}
}

// pen is p as the flags want it.
func (a *app) pen(p report.Pen) report.Pen {
	p.Color = p.Color && !a.flags.noColor
	return p
}

// document writes one JSON document.
func (a *app) document(v any) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		fmt.Fprintf(a.err.W, "hostler: make the result: %v\n", err)
	}
	_, _ = a.out.W.Write(text.Bytes()) // the program's end tells of a fault
}

// sources are the texts that diagnostics may be about.
func (a *app) sources() map[string]*hcl.File {
	files := map[string]*hcl.File{}
	if a.recipe != nil {
		files = a.recipe.Files()
	}
	for name, file := range a.files {
		files[name] = file
	}
	return files
}

func example(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }
