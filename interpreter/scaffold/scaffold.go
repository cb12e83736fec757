// Package scaffold makes the first files of a recipe: the recipe, its tests,
// and what runs them in CI.
package scaffold

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed kinds ci
var files embed.FS

// Answers are what the files are made of.
type Answers struct {
	// Name is the recipe's, OS the system that it supports, Kind what it
	// begins with and CI what runs its tests, "none" for nothing.
	Name, OS, Kind, CI string
}

// System is a system that a recipe can be begun for.
type System struct{ ID, VersionID, Title, Release string }

// systems are by the names that OS takes.
func systems() map[string]System {
	return map[string]System{
		"debian": {"debian", ">= 12, < 13", "Debian 12", "ID=debian\\nVERSION_ID=12\\n"},
		"ubuntu": {"ubuntu", ">= 24.04, < 24.05", "Ubuntu 24.04", "ID=ubuntu\\nVERSION_ID=\\\"24.04\\\"\\n"},
		"fedora": {"fedora", ">= 42", "Fedora", "ID=fedora\\nVERSION_ID=42\\n"},
	}
}

// Systems, Kinds and CIs are the answers that there are, the default first.
func Systems() []string { return []string{"debian", "fedora", "ubuntu"} }

// Kinds are what a recipe can begin with.
func Kinds() []string { return []string{"service", "file", "machine"} }

// CIs are what can run the tests of a recipe.
func CIs() []string { return []string{"github", "gitlab", "none"} }

// Defaults are the answers to questions that nobody answers.
func Defaults() Answers {
	return Answers{Name: "site", OS: Systems()[0], Kind: Kinds()[0], CI: CIs()[0]}
}

// Check says what is wrong with an answer.
func (a Answers) Check() error {
	switch {
	case !regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}$`).MatchString(a.Name):
		return fmt.Errorf("the name %q is none: it is made of small letters, digits and _, and starts with a letter", a.Name)
	case !slices.Contains(Systems(), a.OS):
		return fmt.Errorf("the system is %s, not %q", strings.Join(Systems(), ", "), a.OS)
	case !slices.Contains(Kinds(), a.Kind):
		return fmt.Errorf("the kind is %s, not %q", strings.Join(Kinds(), ", "), a.Kind)
	case !slices.Contains(CIs(), a.CI):
		return fmt.Errorf("the CI is %s, not %q", strings.Join(CIs(), ", "), a.CI)
	}
	return nil
}

// Files makes the files, by names below the recipe's directory.
func (a Answers) Files() (map[string][]byte, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	names := []string{"kinds/" + a.Kind + ".txtar"}
	if a.CI != "none" {
		names = append(names, "ci/"+a.CI+".txtar")
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, f := range txtar.Parse([]byte(a.fillIn().Replace(string(text)))).Files {
			all[f.Name] = f.Data
		}
	}
	return all, nil
}

// fillIn puts answers in the place of their names in double brackets.
func (a Answers) fillIn() *strings.Replacer {
	os := systems()[a.OS]
	return strings.NewReplacer("[[.Name]]", a.Name, "[[.Unit]]", strings.ReplaceAll(a.Name, "_", "-"),
		"[[.OS.ID]]", os.ID, "[[.OS.VersionID]]", os.VersionID, "[[.OS.Title]]", os.Title, "[[.OS.Release]]", os.Release)
}
