package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"hostler/interpreter/report"
	"hostler/recipes"
)

// recipePages adds a page for each shipped recipe, and its line in the index.
func recipePages(pages map[string]string, index *strings.Builder) error {
	for _, name := range recipes.Names() {
		d, err := (&app{}).detail("recipe:" + name)
		if err != nil {
			return err
		}
		inputs, err := fs.ReadFile(recipes.FS(), path.Join(name, "tests/golden/inputs.hcl"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		page := "recipes/" + strings.ReplaceAll(name, "/", "-") + ".md"
		pages[page] = report.RecipePage(d, string(inputs))
		fmt.Fprintf(index, "* [%s](%s): %s\n", name, page, d.Description)
	}
	return nil
}
