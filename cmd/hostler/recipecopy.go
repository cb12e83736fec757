package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/recipes"
)

// copyRecipe writes the files of a shipped recipe into a new directory. Plans
// that tests compare with are left out: they are the shipped recipe's.
func (a *app) copyRecipe(name, dir string) error {
	name = strings.TrimPrefix(name, "recipe:")
	if _, err := recipes.Open(name); err != nil {
		return hcl.Diagnostics{notFound(name, err)}
	}
	if err := emptyDir(dir); err != nil {
		return err
	}
	files, err := fs.Sub(recipes.FS(), name)
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Base(file) == "plan.txt" {
			return err
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, 0o644)); err != nil {
			return err
		}
		_, err = fmt.Fprintln(a.out.W, to)
		return err
	})
}

// emptyDir makes a directory, or takes one in which nothing is.
func emptyDir(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o755)
	case err != nil:
		return usagef("%s cannot be copied to: %w", dir, reason(err))
	case len(entries) > 0:
		return usagef("%s is not empty; name a directory that does not exist yet", dir)
	}
	return nil
}
