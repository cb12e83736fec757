package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"hostler/testdata/demo/fixture"
)

// TestReadmeRecipe: the recipe in the README is valid and does something.
func TestReadmeRecipe(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(readme), "```hcl\n")
	recipe, _, _ = strings.Cut(recipe, "```")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"site/recipe.hcl": recipe, "site/files/site.service": "[Service]\nExecStart=/usr/bin/site\n[Install]\nWantedBy=multi-user.target\n",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(dir, "host")
	if err := fixture.Debian(root); err != nil {
		t.Fatal(err)
	}
	out := must(t, "plan", filepath.Join(dir, "site"), "--root", root, "--var", "name=a")
	if !strings.Contains(out, "Plan: 2 create, 1 unchanged.") {
		t.Error(out)
	}
}

// TestGuideIsTheScript: the recipe and the commands of the guide are those
// that its script runs.
func TestGuideIsTheScript(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guides/getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := txtar.ParseFile("../../testdata/script/getting-started.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(guide), "```hcl\n")
	recipe, _, _ = strings.Cut(recipe, "```")
	at := slices.IndexFunc(script.Files, func(f txtar.File) bool { return f.Name == "site/recipe.hcl" })
	if at < 0 || string(script.Files[at].Data) != recipe {
		t.Errorf("the guide's recipe is another one than the script's:\n%s", recipe)
	}
	rest := string(script.Comment)
	for line := range strings.Lines(string(guide)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ hostler ")
		if !ok {
			continue
		}
		_, after, ok := strings.Cut(rest, "hostler "+command+"\n")
		if !ok {
			t.Errorf("the script does not run, in this order: hostler %s", command)
			continue
		}
		rest = after
	}
}
