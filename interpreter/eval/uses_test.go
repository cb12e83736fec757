package eval

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// TestUsesAreBounded: recipes that each use the next twice are a thousand soon,
// and a chain ends as well; what is too much is said once for each place.
func TestUsesAreBounded(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 15 {
		text := minimal
		for _, label := range []string{"a", "b"} {
			text += fmt.Sprintf("use %q { source = \"../r%d\" }\n", label, i+1)
		}
		files[fmt.Sprintf("tree/r%d/recipe.hcl", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	files["tree/r15/recipe.hcl"] = &fstest.MapFile{Data: []byte(minimal)}
	r, diags := Load(Tree("", fsub(files), "r0"), testVocabulary(), StandardLoader{}, "")
	if len(diags) == 0 || len(diags) > 30 {
		t.Errorf("%d diagnostics", len(diags))
	}
	for _, d := range diags {
		if d.Summary != "Too many recipes" || !strings.Contains(d.Detail, "more than 1000 times") {
			t.Errorf("%s: %s", d.Summary, d.Detail)
		}
	}
	read := 0
	r.eachRecipe(func(*Recipe) { read++ })
	if read != maxUses+1 {
		t.Errorf("%d recipes are read", read)
	}
}
