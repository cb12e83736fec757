package lint_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"hostler/builtins"
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

const preamble = "recipe \"demo\" {\n  language = 1\n  version  = \"1.0.0\"\n  supports \"debian\" {\n    id = \"debian\"\n  }\n}\n"

// files are a recipe's, by their names; "recipe.hcl" stands below the preamble.
type files map[string]string

func (f files) source() eval.Source {
	fsys := fstest.MapFS{}
	for name, text := range f {
		if name == "recipe.hcl" {
			text = preamble + text
		}
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return eval.Tree("", fsys, ".")
}

func linter(rules ...*lint.Rule) *lint.Linter {
	return &lint.Linter{Rules: rules, Vocabulary: builtins.Vocabulary(), Loader: eval.StandardLoader{}}
}

// run lints with rules, in their default configuration.
func run(f files, rules ...*lint.Rule) lint.Result {
	return linter(rules...).Lint(lint.Input{Source: f.source(), Config: lint.DefaultConfig(rules)})
}

// look hands the pass of a recipe to fn.
func look(t *testing.T, f files, fn func(p *lint.Pass)) {
	t.Helper()
	called := false
	res := run(f, &lint.Rule{Name: "look", Check: func(p *lint.Pass) { called = true; fn(p) }})
	for _, found := range res.Findings {
		t.Errorf("%s", show(found))
	}
	if !called {
		t.Error("the recipe was not looked at")
	}
}

func show(f lint.Finding) string {
	return fmt.Sprintf("%s:%d,%d-%d,%d: %s %s: %s", f.Range.Filename, f.Range.Start.Line, f.Range.Start.Column, f.Range.End.Line, f.Range.End.Column, f.Severity, f.Rule, f.Detail)
}

// words finds every mention of a word in the recipe's text.
func words(name, word string) *lint.Rule {
	return &lint.Rule{Name: name, Summary: "A word found", Profile: lint.Basic, Check: func(p *lint.Pass) {
		text := string(p.File.Bytes)
		for at := 0; ; {
			n := strings.Index(text[at:], word)
			if n < 0 {
				return
			}
			p.Reportf(p.Span(at+n, at+n+len(word)), "There is %s.", word)
			at += n + 1
		}
	}}
}
