package lint_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/lint"
)

// tree writes files below a new directory.
func tree(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func names(t *testing.T, dir string, inputs []lint.Input) (list []string) {
	t.Helper()
	for _, in := range inputs {
		rel, err := filepath.Rel(dir, in.Source.Name())
		if err != nil {
			t.Fatal(err)
		}
		if list = append(list, filepath.ToSlash(rel)); in.Tested {
			list[len(list)-1] += " tested"
		}
	}
	return list
}

func TestFind(t *testing.T) {
	dir := tree(t, map[string]string{
		".git/config":                "",
		".hostler-lint.hcl":          "exclude = [\"testdata\"]\n",
		"site/recipe.hcl":            preamble,
		"site/tests/a.test.hcl":      "test \"a\" {}\n",
		"site/inputs.hcl":            "x = 1\n",
		"site/files/recipe.txt":      "recipe \"no\" {}\n",
		"single.hcl":                 "# one file\n" + preamble,
		"testdata/bad/recipe.hcl":    "",
		".hidden/recipe.hcl":         preamble,
		"strict/.hostler-lint.hcl":   "profile = \"strict\"\n",
		"strict/deep/er/recipe.hcl":  preamble,
		"strict/deep/er/.keep/x.hcl": preamble,
	})
	if err := os.Symlink("nobody@host.1", filepath.Join(dir, "site/.#single.hcl")); err != nil { // as editors lock files
		t.Fatal(err)
	}
	d := &lint.Discovery{}
	inputs, err := d.Find([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"single.hcl", "site/recipe.hcl tested", "strict/deep/er/recipe.hcl"}; !slices.Equal(names(t, dir, inputs), want) {
		t.Errorf("%q", names(t, dir, inputs))
	}
	if inputs[0].Config.Profile != lint.Safe || inputs[2].Config.Profile != lint.Strict {
		t.Errorf("profiles %v and %v", inputs[0].Config.Profile, inputs[2].Config.Profile)
	}
	// As a commit hook names files: what is no recipe is passed over.
	inputs, err = d.Find([]string{filepath.Join(dir, "site/recipe.hcl"), filepath.Join(dir, "site/tests/a.test.hcl"), filepath.Join(dir, ".hostler-lint.hcl"), filepath.Join(dir, "site")})
	if err != nil || !slices.Equal(names(t, dir, inputs), []string{"site/recipe.hcl tested"}) {
		t.Errorf("%q, %v", names(t, dir, inputs), err)
	}
}

func TestFindFaults(t *testing.T) {
	dir := tree(t, map[string]string{".hostler-lint.hcl": "profile = \"nice\"\n", "a/recipe.hcl": preamble, "b/c.txt": ""})
	d := &lint.Discovery{}
	if _, err := d.Find([]string{dir}); !strings.Contains(err.Error(), "profile") {
		t.Errorf("%v", err)
	} else if _, ok := errors.AsType[hcl.Diagnostics](err); !ok {
		t.Errorf("%T", err)
	}
	if _, err := d.Find([]string{filepath.Join(dir, "none")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := d.Find([]string{filepath.Join(dir, "b")}); err == nil || !strings.Contains(err.Error(), "no recipe") {
		t.Errorf("%v", err)
	}
	d = &lint.Discovery{Config: filepath.Join(dir, "none.hcl")}
	if _, err := d.Find([]string{filepath.Join(dir, "a")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestConfigGivenAndOverridden(t *testing.T) {
	dir := tree(t, map[string]string{"other.hcl": "profile = \"basic\"\nexclude = [\"x\"]\n", "a/recipe.hcl": preamble, "x/recipe.hcl": preamble, ".git/x": ""})
	d := &lint.Discovery{Config: filepath.Join(dir, "other.hcl"), Override: func(c *lint.Config) { c.Minimum = lint.Error }}
	inputs, err := d.Find([]string{dir})
	if err != nil || len(inputs) != 1 || inputs[0].Config.Profile != lint.Basic || inputs[0].Config.Minimum != lint.Error {
		t.Errorf("%+v, %v", inputs, err)
	}
}
