//go:generate go run ./generate

// Package recipes holds the recipes that are shipped in the binary. A recipe
// is a folder IMAGE/MAJOR/NAME with recipe.hcl; it is named
// "recipe:IMAGE/MAJOR/NAME" in commands and use blocks.
package recipes

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"hostler/interpreter/eval"
)

//go:embed azure-container-linux azure-linux debian fedora-coreos flatcar shared ubuntu
var tree embed.FS

// Open opens the shipped recipe of that name.
func Open(name string) (eval.Source, error) {
	if !fs.ValidPath(name) || !shipped(name) {
		return nil, fmt.Errorf("there is no shipped recipe %q; shipped are: %s", name, strings.Join(Names(), ", "))
	}
	return eval.Tree("recipe:", tree, name), nil
}

func shipped(name string) bool {
	_, err := fs.Stat(tree, path.Join(name, eval.MainFile))
	return err == nil
}

// Names lists the shipped recipes, sorted.
func Names() []string {
	var names []string
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "tests" {
			return fs.SkipDir // earlier versions are below it
		}
		if err == nil && path.Base(name) == eval.MainFile {
			names = append(names, path.Dir(name))
		}
		return err
	})
	return names
}

// FS is the tree of shipped recipes.
func FS() fs.FS { return tree }
