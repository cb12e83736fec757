package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hostler/builtins"
	"hostler/interpreter/eval"
	"hostler/interpreter/history"
	"hostler/interpreter/lint"
	"hostler/interpreter/lint/format"
	"hostler/interpreter/lint/rules"
	"hostler/interpreter/operate"
	testformat "hostler/interpreter/rehearse/format"
	"hostler/interpreter/report"
	"hostler/interpreter/sink"
)

//go:generate go run . docs ../../docs/reference

// docsCommand writes the reference that is generated from the code.
func (a *app) docsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "docs DIR", Short: "Write the reference pages and man pages", Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("docs needs a directory")
			}
			pages, err := referencePages(c.Root())
			if err != nil {
				return err
			}
			return writePages(args[0], pages)
		},
	}
	return a.takes(c, 1)
}

// documents are the JSON documents that packages other than report write.
func documents() []report.Page {
	return []report.Page{
		{Title: "lint", Value: format.Document{}}, {Title: "facts", Value: factsDocument{}}, {Title: "test", Value: testformat.Document{}}, {Title: "matrix", Value: testformat.MatrixDocument{}}, {Title: "why", Value: operate.Why{}},
		{Title: "history", Value: history.Document{}}, {Title: "history show", Value: history.Run{}},
		{Title: "What status sinks are told", Name: "sink", Value: sink.Status{}},
	}
}

// referencePages are all generated pages by their names below docs/reference.
func referencePages(root *cobra.Command) (map[string]string, error) {
	vocab := builtins.Vocabulary()
	schema, err := report.JSONSchema(documents()...)
	if err != nil {
		return nil, err
	}
	pages := map[string]string{
		"functions.md":  report.FunctionsPage(eval.Functions(vocab)),
		"exit-codes.md": exitCodesPage(),
		"events.md":     report.EventsPage(documents()...),
		"schema.json":   string(schema),
		"commands.md":   commandsPage(root),
	}
	var index strings.Builder
	index.WriteString("# Reference\n\nGenerated from the code.\n\n* [Commands](commands.md)\n* [Functions](functions.md)\n* [Exit codes](exit-codes.md)\n* [JSON documents and events](events.md), and their [schema](schema.json)\n\n## Block types\n\n")
	for _, t := range vocab.Types {
		pages["blocks/"+t.Name+".md"] = report.BlockPage(t)
		fmt.Fprintf(&index, "* [%s](blocks/%s.md): %s\n", t.Name, t.Name, t.Doc.Summary)
	}
	index.WriteString("\n## Shipped recipes\n\n")
	if err := recipePages(pages, &index); err != nil {
		return nil, err
	}
	index.WriteString("\n## Rules\n\n* [Rules of the linter](rules/README.md)\n")
	pages["rules/README.md"] = lint.RulesPage(rules.All())
	for _, r := range rules.All() {
		pages["rules/"+r.Name+".md"] = lint.RulePage(r)
	}
	pages["README.md"] = index.String()
	for _, c := range commands(root) {
		pages["man/hostler-"+c.Name()+".1"] = manPage(c)
	}
	pages["man/hostler.1"] = manPage(root)
	return pages, nil
}

func writePages(dir string, pages map[string]string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, text := range pages {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// commands are the visible commands in the order in which they are listed.
func commands(root *cobra.Command) (visible []*cobra.Command) {
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" {
			visible = append(visible, c)
		}
	}
	return visible
}

func commandsPage(root *cobra.Command) string {
	var out strings.Builder
	out.WriteString("# Commands\n\n| command | does |\n|---|---|\n")
	for _, c := range commands(root) {
		fmt.Fprintf(&out, "| [`%s`](#%s) | %s |\n", c.Name(), c.Name(), c.Short)
	}
	for _, c := range commands(root) {
		fmt.Fprintf(&out, "\n## %s\n\n```\nhostler %s\n```\n\n%s\n\n```console\n%s\n```\n", c.Name(), c.Use, orShort(c), unindent(c.Example))
		if usages := c.LocalFlags().FlagUsages(); usages != "" {
			fmt.Fprintf(&out, "\n```\n%s```\n", usages)
		}
	}
	return out.String()
}

func orShort(c *cobra.Command) string {
	if c.Long != "" {
		return c.Long
	}
	return c.Short + "."
}

func unindent(s string) string { return strings.ReplaceAll(strings.TrimPrefix(s, "  "), "\n  ", "\n") }

func exitCodesPage() string {
	var out strings.Builder
	out.WriteString("# Exit codes\n\nThey are frozen. When several hold, the first of 75, 77, 65, 73, 78 is taken.\n\n| code | meaning |\n|---|---|\n")
	for _, row := range exitMeanings() {
		fmt.Fprintf(&out, "| %d | %s |\n", row.code, row.meaning)
	}
	return out.String()
}

type exitMeaning struct {
	code    int
	meaning string
}

func exitMeanings() []exitMeaning {
	return []exitMeaning{
		{exitDone, "done, or nothing to do"},
		{exitFailed, "failed; findings of `lint` and `fmt -check`"},
		{exitChanges, "`plan --detailed-exitcode` found changes, `verify` found drift"},
		{exitUsage, "usage: an unknown command, flag or argument, or no recipe where one must be named"},
		{exitInvalid, "the recipe or its inputs are invalid"},
		{exitStoodDown, "stood down: an installation is not finished (for units: `SuccessExitStatus=69`, `RestartPreventExitStatus=69`)"},
		{exitRefused, "refused: a reset is needed or unfinished, or foreign things are in the way"},
		{exitLocked, "another run holds the lock"},
		{exitUnprivileged, "not privileged"},
		{exitUnmet, "the host does not meet the recipe's requirements"},
		{exitInterrupt, "interrupted (SIGINT)"},
		{exitTerminated, "interrupted (SIGTERM, SIGHUP)"},
	}
}
