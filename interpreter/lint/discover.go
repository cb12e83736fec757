package lint

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"hostler/interpreter/eval"
)

// Discovery finds recipes below paths and the configuration of each.
type Discovery struct {
	Rules []*Rule
	// Config is a configuration file to use for all; "" looks for one in the
	// directory of each recipe and those above it, up to the top of the
	// repository.
	Config string
	// Override changes a configuration after it is read; nil for none.
	Override func(*Config)

	configs map[string]located
}

// located is a configuration and the directory that its paths start from.
type located struct {
	Config
	dir string
}

// Find lists the recipes that paths name: a recipe's directory, a file, or a
// directory with recipes anywhere below it.
func (d *Discovery) Find(paths []string) ([]Input, error) {
	d.configs = map[string]located{}
	var files []string
	for _, name := range paths {
		found, err := recipesAt(name)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	var inputs []Input
	for _, name := range slices.Compact(files) {
		in, excluded, err := d.input(name)
		if err != nil {
			return nil, err
		}
		if !excluded {
			inputs = append(inputs, in)
		}
	}
	return inputs, nil
}

func (d *Discovery) input(name string) (in Input, excluded bool, err error) {
	dir := filepath.Dir(name)
	c, err := d.config(dir)
	if err != nil {
		return Input{}, false, err
	}
	full, err := filepath.Abs(name)
	if err != nil {
		return Input{}, false, err
	}
	if rel, err := filepath.Rel(c.dir, full); err == nil && c.dir != "" && c.Excludes(rel) {
		return Input{}, true, nil
	}
	src, err := eval.Open(name)
	if filepath.Base(name) == eval.MainFile {
		src, err = eval.Open(dir)
	}
	return Input{Source: src, Tested: tested(dir), Config: c.Config}, false, err
}

// tested says whether a recipe has tests.
func tested(dir string) bool {
	found, err := filepath.Glob(filepath.Join(dir, "tests", "*.test.hcl"))
	return err == nil && len(found) > 0
}

// recipesAt lists the files of recipes at a path.
func recipesAt(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if noRecipe(name) {
			return nil, nil
		}
		return []string{filepath.Clean(name)}, nil
	}
	var files []string
	err = filepath.WalkDir(name, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			hidden := strings.HasPrefix(entry.Name(), ".")
			earlier := filepath.Base(filepath.Dir(file)) == "tests" && entry.Name() == "previous"
			if file != name && (hidden || earlier) {
				return fs.SkipDir
			}
			return nil
		case strings.HasPrefix(entry.Name(), "."):
			return nil // of an editor
		}
		is, err := isRecipe(file)
		if is {
			files = append(files, filepath.Clean(file))
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there is no recipe in %s; a recipe is a directory with %s, or a .hcl file with a recipe block", name, eval.MainFile)
	}
	return files, err
}

// noRecipe says that a file is certainly none, although its name may end in
// .hcl.
func noRecipe(name string) bool {
	return strings.HasSuffix(name, ".test.hcl") || filepath.Base(name) == ConfigFile || filepath.Ext(name) != ".hcl"
}

// isRecipe says whether a file found in a directory is a recipe.
func isRecipe(name string) (bool, error) {
	if noRecipe(name) {
		return false, nil
	}
	if filepath.Base(name) == eval.MainFile {
		return true, nil
	}
	src, err := os.ReadFile(name)
	return bytes.Contains(src, []byte("recipe")) && regexp.MustCompile(`(?m)^recipe[ \t]`).Match(src), err
}

// config is the configuration for a directory.
func (d *Discovery) config(dir string) (located, error) {
	if d.Config != "" {
		return d.read(d.Config)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return located{}, err
	}
	for {
		c, err := d.read(filepath.Join(dir, ConfigFile))
		if !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
		_, err = os.Stat(filepath.Join(dir, ".git"))
		if up := filepath.Dir(dir); err != nil && up != dir {
			dir = up
			continue
		}
		return d.override(located{Config: DefaultConfig(d.Rules)}), nil
	}
}

func (d *Discovery) override(c located) located {
	if d.Override != nil {
		d.Override(&c.Config)
	}
	return c
}

// read reads a configuration file, once.
func (d *Discovery) read(name string) (located, error) {
	if c, ok := d.configs[name]; ok {
		return c, nil
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return located{}, err
	}
	c, diags := ParseConfig(name, src, d.Rules)
	if diags.HasErrors() {
		return located{}, diags
	}
	dir, err := filepath.Abs(filepath.Dir(name))
	d.configs[name] = d.override(located{c, dir})
	return d.configs[name], err
}
