package rules_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"hostler/builtins"
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/lint/rules"
)

// preamble is the recipe that an example without a recipe block stands in.
const preamble = `recipe "demo" {
  language    = 1
  version     = "1.0.0"
  description = "A demonstration"
  fingerprint = fingerprint({ demo = "1" })

  supports "debian" {
    id         = "debian"
    version_id = ">= 12, < 13"
  }
}
`

// example is a recipe taken from a rule: its files, and what is marked.
type example struct {
	files fstest.MapFS
	marks []mark
}

type mark struct {
	file     string
	from, to int
}

func parseExample(text string) example {
	ex := example{files: fstest.MapFS{}}
	if !strings.Contains(text, "recipe \"") {
		text = preamble + text
	}
	name, body := "recipe.hcl", ""
	flush := func() {
		clean, marks := unmark(name, body)
		ex.files[name] = &fstest.MapFile{Data: []byte(clean)}
		ex.marks = append(ex.marks, marks...)
	}
	for line := range strings.Lines(text) {
		if file, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(file, " --\n") {
			flush()
			name, body = strings.TrimSuffix(file, " --\n"), ""
			continue
		}
		body += line
	}
	flush()
	return ex
}

func unmark(name, text string) (clean string, marks []mark) {
	text = strings.ReplaceAll(text, "␍", "\r")
	for {
		before, rest, ok := strings.Cut(text, "«")
		clean += before
		if !ok {
			return clean, marks
		}
		inner, after, _ := strings.Cut(rest, "»")
		marks = append(marks, mark{name, len(clean), len(clean) + len(inner)})
		clean += inner
		text = after
	}
}

func linter() *lint.Linter {
	return &lint.Linter{Rules: rules.All(), Vocabulary: builtins.Vocabulary(), Loader: eval.StandardLoader{}}
}

func strict() lint.Config {
	c := lint.DefaultConfig(rules.All())
	c.Profile = lint.Strict
	return c
}

func lintExample(ex example) lint.Result {
	_, untested := ex.files["untested"]
	return linter().Lint(lint.Input{Source: eval.Tree("", ex.files, "."), Tested: !untested, Config: strict()})
}

func show(f lint.Finding) string {
	return fmt.Sprintf("%s:%d,%d-%d,%d: %s [%s] %s: %s", f.Range.Filename, f.Range.Start.Line, f.Range.Start.Column, f.Range.End.Line, f.Range.End.Column, f.Severity, f.Rule, f.Summary, f.Detail)
}

// TestExamples holds every rule to its examples.
func TestExamples(t *testing.T) {
	for _, r := range rules.All() {
		t.Run(r.Name, func(t *testing.T) {
			bad, good := parseExample(r.Bad), parseExample(r.Good)
			for _, f := range lintExample(good).Findings {
				t.Errorf("good example: %s", show(f))
			}
			var got []mark
			for _, f := range lintExample(bad).Findings {
				got = append(got, mark{f.Range.Filename, f.Range.Start.Byte, f.Range.End.Byte})
				if f.Rule != r.Name {
					t.Errorf("bad example: another rule: %s", show(f))
				}
				if !slices.Contains(bad.marks, got[len(got)-1]) {
					t.Errorf("bad example: not marked: %s", show(f))
				}
				if f.Detail == "" || !strings.HasSuffix(f.Detail, ".") && !strings.HasSuffix(f.Detail, "?") {
					t.Errorf("the detail is no sentence: %s", show(f))
				}
			}
			for _, m := range bad.marks {
				if !slices.Contains(got, m) {
					text := bad.files[m.file].Data
					t.Errorf("bad example: nothing found at %q", text[m.from:m.to])
				}
			}
			if len(bad.marks) == 0 {
				t.Error("nothing is marked in the bad example")
			}
		})
	}
}

// TestWords holds the texts of the rules to their form.
func TestWords(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		if name := strings.TrimSuffix(f, ".go"); name != "doc" && name != "list_gen" && !strings.HasSuffix(name, "_test") {
			names = append(names, strings.ReplaceAll(name, "_", "-"))
		}
	}
	var got []string
	for _, r := range rules.All() {
		got = append(got, r.Name)
		if n := len(strings.Fields(r.Summary)); n < 2 || n > 5 {
			t.Errorf("%s: the summary %q has %d words", r.Name, r.Summary, n)
		}
		if len(r.Doc) < 60 || !strings.HasSuffix(r.Doc, ".") {
			t.Errorf("%s: its documentation is no text: %q", r.Name, r.Doc)
		}
	}
	if !slices.IsSorted(got) {
		t.Errorf("not in order: %v", got)
	}
	slices.Sort(names)
	if !slices.Equal(names, got) {
		t.Errorf("files %v\nrules %v", names, got)
	}
	if len(got) < 40 {
		t.Errorf("%d rules", len(got))
	}
}

// TestFixes holds every fix to removing what it is for and nothing else.
func TestFixes(t *testing.T) {
	for _, r := range rules.All() {
		bad := parseExample(r.Bad)
		fixable := slices.ContainsFunc(lintExample(bad).Findings, func(f lint.Finding) bool { return f.Fix != nil })
		if fixable != r.Fixes {
			t.Errorf("%s: its example can be fixed: %v; it says %v", r.Name, fixable, r.Fixes)
		}
		if !fixable {
			continue
		}
		in := lint.Input{Source: eval.Tree("", bad.files, "."), Tested: true, Config: strict()}
		fixed, err := linter().Fix(in)
		if err != nil || len(fixed.Refused) > 0 || len(fixed.Applied) == 0 {
			t.Errorf("%s: %v, refused %v", r.Name, err, fixed.Refused)
			continue
		}
		bad.files["recipe.hcl"] = &fstest.MapFile{Data: fixed.After}
		for _, f := range lintExample(bad).Findings {
			t.Errorf("%s: left after the fix: %s\n%s", r.Name, show(f), fixed.After)
		}
	}
}
