package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"hostler/builtins"
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

// TestGuidesAreScripts: the recipes and the commands of a guide are those that
// its script runs.
func TestGuidesAreScripts(t *testing.T) {
	for _, name := range []string{"getting-started", "preparing-a-host", "writing-a-site-recipe", "first-boot"} {
		guide := string(read(t, "../../docs/guides/"+name+".md"))
		script, err := txtar.ParseFile("../../testdata/script/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split(guide, "```hcl\n")[1:] {
			text, _, _ = strings.Cut(text, "```")
			if !slices.ContainsFunc(script.Files, func(f txtar.File) bool { return string(f.Data) == text }) && !strings.HasPrefix(text, "write_file") {
				t.Errorf("%s: the guide's recipe is another one than the script's:\n%s", name, text)
			}
		}
		rest := string(script.Comment)
		for line := range strings.Lines(guide) {
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ hostler ")
			if !ok {
				continue
			}
			_, after, ok := strings.Cut(rest, "hostler "+command+"\n")
			if !ok {
				t.Errorf("%s: the script does not run, in this order: hostler %s", name, command)
				continue
			}
			rest = after
		}
	}
}

// partHeader makes a recipe of a part of one.
const partHeader = "recipe \"part\" {\n  language    = 1\n  version     = \"1.0.0\"\n  fingerprint = fingerprint({ part = \"1\" })\n\n  supports \"debian\" {\n    id         = \"debian\"\n    version_id = \">= 12, < 14\"\n  }\n}\n\n"

// TestDocsCommands: a command that the documentation names is one.
func TestDocsCommands(t *testing.T) {
	root := (&app{}).command()
	named := regexp.MustCompile("`hostler ([a-z-]+)")
	err := filepath.WalkDir("../../docs", func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".md" || strings.Contains(name, "decisions") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			if c, _, err := root.Find(m[1:2]); err != nil || c == root {
				t.Errorf("%s names hostler %s, which is no command", name, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDocsContents: every guide is in the README and in the table of contents,
// and the README names every command.
func TestDocsContents(t *testing.T) {
	guides, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(guides) == 0 {
		t.Fatalf("%d guides, %v", len(guides), err)
	}
	readme := string(read(t, "../../README.md"))
	for page, text := range map[string]string{"README.md": readme, "docs/README.md": string(read(t, "../../docs/README.md"))} {
		for _, name := range guides {
			if link := "guides/" + filepath.Base(name) + ")"; !strings.Contains(text, link) {
				t.Errorf("%s does not link to docs/guides/%s", page, filepath.Base(name))
			}
		}
	}
	_, table, _ := strings.Cut(readme, "| command | does |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, c := range commands((&app{}).command()) {
		if !strings.Contains(table, "`"+c.Name()+"`") {
			t.Errorf("README.md does not name hostler %s", c.Name())
		}
	}
}

// TestDocsRecipes: the recipes in the book, and the parts of recipes, are valid,
// laid out, and the linter finds nothing in them.
func TestDocsRecipes(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	guides, err := filepath.Glob("../../docs/coming-from/*.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, page := range append(pages, guides...) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split(string(text), "```hcl\n")[1:] {
			n++
			part, _, _ = strings.Cut(part, "```")
			if !strings.Contains(part, "recipe \"") {
				part = partHeader + part
			}
			file := filepath.Join(t.TempDir(), "recipe.hcl")
			if err := os.WriteFile(file, []byte(part), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, command := range []string{"validate", "lint", "fmt -check"} {
				if out, notes, code := runProgram(append(strings.Fields(command), file)...); code != exitDone {
					t.Errorf("%s, part %d: hostler %s: exit status %d\n%s%s", page, i+1, command, code, out, notes)
				}
			}
		}
	}
	if n < 7 {
		t.Errorf("looked at %d recipes only", n)
	}
}

// TestBlockExamples: the example of every block type is a part of a recipe that
// is valid, that the linter finds nothing in, and that plans on a host.
func TestBlockExamples(t *testing.T) {
	for _, typ := range builtins.Vocabulary().Types {
		t.Run(typ.Name, func(t *testing.T) {
			dir := t.TempDir()
			host, file := filepath.Join(dir, "host"), filepath.Join(dir, "recipe.hcl")
			text := partHeader + strings.TrimSpace(typ.Example) + "\n"
			if err := errors.Join(fixture.Debian(host), os.WriteFile(file, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
			for _, command := range []string{"validate", "fmt -check", "lint", "plan --root " + host} {
				out, notes, code := runProgram(append(strings.Fields(command), file)...)
				if code != exitDone {
					t.Errorf("hostler %s: exit status %d\n%s%s", command, code, out, notes)
				}
			}
		})
	}
}
