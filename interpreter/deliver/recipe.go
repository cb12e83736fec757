package deliver

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"hostler/interpreter"
	"hostler/interpreter/delivery"
	"hostler/interpreter/eval"
)

// Recipe is a recipe as a host gets it.
type Recipe struct {
	// Argument is what the boot unit gives as RECIPE: the name of a shipped
	// recipe, or a path on the host.
	Argument string
	// Files are those of a recipe that is not shipped, with the recipes that
	// it uses, by path on the host.
	Files map[string][]byte
}

// shipped begins the names of recipes that the program brings.
const shipped = "recipe:"

// Lay puts what was read of a recipe, its own text first, below
// [delivery.RecipeDir]. name is what RECIPE is here. Recipes that use others by
// relative paths lie to each other as they do here.
func Lay(name string, read []interpreter.Read) (Recipe, error) {
	if strings.HasPrefix(name, shipped) {
		return Recipe{Argument: name}, nil
	}
	top, files, err := local(read)
	if err != nil || len(files) == 0 {
		return Recipe{}, errors.Join(fmt.Errorf("the recipe %s cannot be delivered", name), err)
	}
	laid := Recipe{Files: map[string][]byte{}}
	for i, f := range files {
		place := path.Join(delivery.RecipeDir, strings.TrimPrefix(f.Path(), top))
		laid.Files[place] = f.Data
		if i == 0 {
			laid.Argument = strings.TrimSuffix(place, "/"+eval.MainFile)
		}
	}
	return laid, nil
}

// local are the files of recipes that are not shipped, with absolute names, and
// the directory that all are in.
func local(read []interpreter.Read) (top string, files []interpreter.Read, err error) {
	for _, r := range read {
		if strings.HasPrefix(r.Source, shipped) {
			continue
		}
		if r.Source, err = filepath.Abs(r.Source); err != nil {
			return "", nil, err
		}
		if top == "" {
			top = path.Dir(r.Source)
		}
		for !within(top, r.Path()) {
			top = path.Dir(top)
		}
		files = append(files, r)
	}
	return top, files, nil
}

// within says whether a path is in a directory or below it.
func within(dir, name string) bool {
	return dir == "/" || strings.HasPrefix(name, dir+"/")
}

// check holds the recipe's place to what stands for itself in a unit file.
func (r Recipe) check() error {
	switch {
	case r.Argument == "":
		return &FlagError{"RECIPE", "it is missing: give a directory with recipe.hcl, a .hcl file, or recipe:NAME"}
	case !delivery.Plain(r.Argument):
		return &FlagError{"RECIPE", fmt.Sprintf("it would be %q on the host: rename its directory to letters, digits and . _ - only, so that it stands for itself in a unit file", r.Argument)}
	}
	return nil
}
