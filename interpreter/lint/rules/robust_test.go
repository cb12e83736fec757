package rules_test

import (
	"bytes"
	"testing"
	"testing/fstest"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/lint/rules"
	"hostler/interpreter/syntax"
)

// TestDamagedRecipes lints every example with each of its lines left out, and
// cut off after each: nothing may panic, and a place is in its text.
func TestDamagedRecipes(t *testing.T) {
	l := linter()
	for _, r := range rules.All() {
		ex := parseExample(r.Bad)
		src := ex.files["recipe.hcl"].Data
		lines := bytes.SplitAfter(src, []byte("\n"))
		skip := 0
		if bytes.HasPrefix(src, []byte(preamble)) {
			skip = bytes.Count([]byte(preamble), []byte("\n"))
		}
		for i := skip; i < len(lines); i++ {
			without := bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil)
			for _, text := range [][]byte{without, bytes.Join(lines[:i], nil)} {
				files := fstest.MapFS{}
				for name, f := range ex.files {
					files[name] = f
				}
				files["recipe.hcl"] = &fstest.MapFile{Data: text}
				res := l.Lint(lint.Input{Source: eval.Tree("", files, "."), Config: strict()})
				for _, f := range res.Findings {
					if src, ok := res.Texts[f.Range.Filename]; ok && (f.Range.Start.Byte > f.Range.End.Byte || f.Range.End.Byte > len(src)) {
						t.Fatalf("%s without line %d: out of the text: %s", r.Name, i+1, show(f))
					}
				}
			}
		}
	}
}

// TestExamplesAreFormatted: what people copy is as hostler fmt writes it.
func TestExamplesAreFormatted(t *testing.T) {
	for _, r := range rules.All() {
		for _, text := range []string{r.Bad, r.Good} {
			src := parseExample(text).files["recipe.hcl"].Data
			out, diags := syntax.Format("recipe.hcl", src)
			if !diags.HasErrors() && !bytes.Equal(out, src) {
				t.Errorf("%s:\n%s", r.Name, out)
			}
		}
	}
}
