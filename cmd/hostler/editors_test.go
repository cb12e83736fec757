package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

const editorsDir = "../../examples/editors"

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(editorsDir, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestEditorExtension: the manifest of the extension names files that are there,
// the language it declares is the one that its code asks for, and what it starts
// is a command of this program.
func TestEditorExtension(t *testing.T) {
	var manifest struct {
		Name, Version, Publisher, Main string
		Engines, Dependencies, Scripts map[string]string
		Contributes                    struct {
			Languages []struct {
				ID, Configuration, FirstLine string
				Filenames                    []string
			}
			Grammars []struct{ Language, ScopeName, Path string }
		}
	}
	readJSON(t, "vscode/package.json", &manifest)
	language := manifest.Contributes.Languages[0]
	for _, name := range []string{manifest.Main, language.Configuration, manifest.Contributes.Grammars[0].Path, "LICENSE", "README.md"} {
		if !exists(filepath.Join(editorsDir, "vscode", name)) {
			t.Errorf("there is no %s", name)
		}
	}
	if manifest.Name == "" || manifest.Version == "" || manifest.Publisher == "" || manifest.Engines["vscode"] == "" || manifest.Dependencies["vscode-languageclient"] == "" || manifest.Scripts["package"] == "" {
		t.Errorf("the manifest is incomplete: %+v", manifest)
	}
	if manifest.Contributes.Grammars[0].Language != language.ID || !slices.Contains(language.Filenames, "recipe.hcl") || !regexp.MustCompile(language.FirstLine).MatchString(`recipe "a" {`) {
		t.Errorf("the language is %+v", language)
	}
	code, err := os.ReadFile(filepath.Join(editorsDir, "vscode", manifest.Main))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(code), `language: "`+language.ID+`"`) || !strings.Contains(string(code), `args: ["lsp"]`) {
		t.Errorf("the extension does not start hostler lsp for %s", language.ID)
	}
	var configuration struct {
		Comments struct{ LineComment string }
	}
	readJSON(t, "vscode/language-configuration.json", &configuration)
	if configuration.Comments.LineComment != "#" {
		t.Errorf("%+v", configuration)
	}
}

// pattern is a rule of the grammar.
type pattern struct {
	Include, Match, Begin, End string
	Patterns                   []pattern
}

// TestEditorGrammar: every expression of the grammar is one, and every rule that
// it includes is there.
func TestEditorGrammar(t *testing.T) {
	var grammar struct {
		ScopeName  string
		Patterns   []pattern
		Repository map[string]pattern
	}
	readJSON(t, "vscode/hostler.tmLanguage.json", &grammar)
	if grammar.ScopeName != "source.hostler" || len(grammar.Patterns) == 0 {
		t.Errorf("%+v", grammar)
	}
	var check func(p pattern)
	check = func(p pattern) {
		for _, expr := range []string{p.Match, p.Begin, strings.ReplaceAll(p.End, `\1`, "EOT")} {
			if _, err := regexp.Compile(expr); err != nil {
				t.Error(err)
			}
		}
		if name, ok := strings.CutPrefix(p.Include, "#"); ok {
			if _, known := grammar.Repository[name]; !known {
				t.Errorf("there is no rule %s", name)
			}
		}
		for _, inner := range p.Patterns {
			check(inner)
		}
	}
	check(pattern{Patterns: grammar.Patterns})
	for _, p := range grammar.Repository {
		check(p)
	}
}

// TestEditorSettings: what the other settings start is a command of this
// program.
func TestEditorSettings(t *testing.T) {
	var helix struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `toml:"language-server"`
		Language []struct {
			Name    string
			Servers []string `toml:"language-servers"`
		}
	}
	if _, err := toml.DecodeFile(filepath.Join(editorsDir, "helix/languages.toml"), &helix); err != nil {
		t.Fatal(err)
	}
	if s := helix.Servers["hostler"]; s.Command != "hostler" || !slices.Equal(s.Args, []string{"lsp"}) || helix.Language[0].Servers[0] != "hostler" {
		t.Errorf("%+v", helix)
	}
	lua, err := os.ReadFile(filepath.Join(editorsDir, "neovim/hostler.lua"))
	if err != nil || !strings.Contains(string(lua), `cmd = { "hostler", "lsp" }`) {
		t.Errorf("%s, %v", lua, err)
	}
	if c, _, err := (&app{}).command().Find([]string{"lsp"}); err != nil || c.Name() != "lsp" {
		t.Errorf("there is no command lsp: %v", err)
	}
}
