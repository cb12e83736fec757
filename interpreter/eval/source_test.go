package eval

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"hostler/interpreter/syntax"
)

func TestC07UTF16(t *testing.T) {
	text := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(minimal)) {
		text = append(text, byte(u), byte(u>>8))
	}
	files := fstest.MapFS{"tree/recipe.hcl": {Data: text}}
	r, diags := Load(Tree("", fsub(files), "."), testVocabulary(), nil, "")
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "UTF-8") {
		t.Errorf("%s", diagnosticsText(diags))
	}
	program, more := r.Evaluate(Inputs{}, live())
	sum, _ := r.Fingerprint(Inputs{}, "")
	if len(more) != 0 || len(program.Steps) != 0 || sum != "" || len(r.Validate(Inputs{})) != 0 {
		t.Errorf("a text that is no recipe gave %v, %v, %q", program.Steps, more, sum)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return full
	}
	main := write("a/recipe.hcl", "# a")
	write("a/files/x", "x")
	write("b/other.hcl", "# b")
	write("secret", "s")
	text := write("a/notes.txt", "")
	if err := os.Symlink("../secret", filepath.Join(dir, "a/link")); err != nil {
		t.Fatal(err)
	}
	a, err := Open(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	name, src, err := a.Main()
	if name != main || name != a.Name() || string(src) != "# a" || err != nil {
		t.Errorf("main: %s, %q, %v", name, src, err)
	}
	if b, err := a.ReadFile("files/x"); string(b) != "x" || err != nil {
		t.Errorf("asset: %q, %v", b, err)
	}
	for _, bad := range []string{"link", "../secret", "/etc/passwd", "files/../files/x", "", ".", "nope", "files"} {
		if b, err := a.ReadFile(bad); err == nil {
			t.Errorf("%q gave %q", bad, b)
		}
	}
	one, err := Open(filepath.Join(dir, "b/other.hcl"))
	if err != nil || one.Name() != filepath.Join(dir, "b/other.hcl") {
		t.Errorf("%v, %v", one, err)
	}
	for _, bad := range []string{text, filepath.Join(dir, "none")} {
		if _, err := Open(bad); err == nil {
			t.Errorf("%s is taken for a recipe", bad)
		}
	}
	for ref, want := range map[string]string{"../b/other.hcl": "b/other.hcl", "./": "a/recipe.hcl"} {
		got, err := StandardLoader{}.Open(a, ref)
		if err != nil || got.Name() != filepath.Join(dir, want) {
			t.Errorf("%s: %v, %v", ref, got, err)
		}
	}
}

func TestStandardLoader(t *testing.T) {
	files := fstest.MapFS{"x/a/recipe.hcl": {Data: []byte("# a")}, "x/b/one.hcl": {Data: []byte("# b")}}
	from := Tree("recipe:", files, "x/a")
	if from.Name() != "recipe:x/a/recipe.hcl" {
		t.Errorf("name %s", from.Name())
	}
	got, err := StandardLoader{}.Open(from, "../b/one.hcl")
	if err != nil {
		t.Fatal(err)
	}
	if name, src, err := got.Main(); name != "recipe:x/b/one.hcl" || string(src) != "# b" || err != nil {
		t.Errorf("%s, %q, %v", name, src, err)
	}
	for _, ref := range []string{"../../../out", "recipe:x", "oci://x", "x", "/x", "", "http://x"} {
		if got, err := (StandardLoader{}).Open(from, ref); err == nil {
			t.Errorf("%q opened %s", ref, got.Name())
		}
	}
	if _, err := (StandardLoader{}).Open(wrapped{from}, "./x"); err == nil || !strings.Contains(err.Error(), "recipe:x/a") {
		t.Errorf("a source without a directory: %v", err)
	}
}

type wrapped struct{ Source }

// TestLoadWithoutLoader says where recipes cannot be used.
func TestLoadWithoutLoader(t *testing.T) {
	files := fstest.MapFS{"tree/recipe.hcl": {Data: []byte(minimal + "use \"a\" { source = \"./a\" }\n")}}
	_, diags := Load(Tree("", fsub(files), "."), testVocabulary(), nil, "")
	if len(diags) != 1 || diags[0].Summary != "Unreadable source" {
		t.Error(diagnosticsText(diags))
	}
	_, diags = Load(Tree("", fsub(files), "none"), testVocabulary(), nil, "")
	if len(diags) != 1 || diags[0].Summary != "Recipe not found" || diags[0].Subject != nil {
		t.Error(diagnosticsText(diags))
	}
}

// TestMainIsReadNoFurther: a text of any length is refused by it, and not read.
func TestMainIsReadNoFurther(t *testing.T) {
	name := filepath.Join(t.TempDir(), "recipe.hcl")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(file.Truncate(1<<40), file.Close()); err != nil {
		t.Fatal(err)
	}
	src, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, text, err := src.Main(); err != nil || len(text) != syntax.MaxFileSize+1 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, diags := Load(src, testVocabulary(), nil, ""); len(diags) != 1 || diags[0].Summary != "File too large" {
		t.Error(diagnosticsText(diags))
	}
}

// TestLinksOutOfTheRecipe are named for what they are.
func TestLinksOutOfTheRecipe(t *testing.T) {
	dir := t.TempDir()
	for name, to := range map[string]string{"recipe.hcl": "/etc/passwd", "lost": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	src, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := src.Main(); err == nil || !strings.Contains(err.Error(), "recipe.hcl is a link that leads out of the recipe's directory") {
		t.Error(err)
	}
	if _, err := src.ReadFile("lost"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
