package eval

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"testing"
)

// TestOverlay: files read as they are not saved yet, those of used recipes that
// the loader opens from there too.
func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/recipe.hcl", "a/files/x", "b/recipe.hcl"} {
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte("saved"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	src, err := Open(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{path.Join(dir, "a/recipe.hcl"): "main", path.Join(dir, "a/files/x"): "x"}
	over := Overlay(src, func(name string) ([]byte, bool) {
		text, ok := texts[name]
		return []byte(text), ok
	})
	main, text, err := over.Main()
	if main != src.Name() || string(text) != "main" || err != nil {
		t.Errorf("main is %s: %q, %v", main, text, err)
	}
	if text, err := over.ReadFile("files/x"); string(text) != "x" || err != nil {
		t.Errorf("asset: %q, %v", text, err)
	}
	if text, err := over.ReadFile("files/../files/x"); err == nil {
		t.Errorf("a name that is not clean gave %q", text)
	}
	clear(texts)
	if _, text, err := over.Main(); string(text) != "saved" || err != nil {
		t.Errorf("main without a text over it: %q, %v", text, err)
	}
	used, err := StandardLoader{}.Open(over, "../b")
	if err != nil || used.Name() != path.Join(dir, "b/recipe.hcl") {
		t.Errorf("a recipe beside it: %v, %v", used, err)
	}
}
