package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hostler/builtins"
	"hostler/interpreter/editor"
	"hostler/interpreter/eval"
	"hostler/interpreter/lint/rules"
)

func (a *app) listVocabulary() {
	vocab := builtins.Vocabulary()
	top, step := editor.Words()
	fmt.Fprintln(a.out.W, "Around the steps:")
	for _, n := range top {
		fmt.Fprintf(a.out.W, "  %-24s %s\n", n.Name, n.Doc)
	}
	fmt.Fprintln(a.out.W, "\nIn every step:")
	for _, attr := range step.Attrs {
		fmt.Fprintf(a.out.W, "  %-24s %s\n", attr.Name, attr.Doc)
	}
	for _, n := range step.Blocks {
		fmt.Fprintf(a.out.W, "  %-24s %s\n", n.Name, n.Doc)
	}
	fmt.Fprintln(a.out.W, "\nBlock types:")
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
	top, step := editor.Words()
	for _, n := range slices.Concat(top, step.Blocks) {
		names = append(names, n.Name)
	}
	for _, attr := range step.Attrs {
		names = append(names, attr.Name)
	}
	return names
}
