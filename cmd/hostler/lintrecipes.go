package main

import (
	"bytes"
	"io/fs"
	"path"
	"strings"

	"hostler/interpreter/lint"
	"hostler/interpreter/lint/format"
	"hostler/recipes"
)

// override is what flags change in a configuration.
func (l *linting) override() (func(*lint.Config), error) {
	var profile lint.Profile
	var minimum lint.Severity
	var err error
	if l.profile != "" {
		if profile, err = lint.ParseProfile(l.profile); err != nil {
			return nil, err
		}
	}
	if l.minimum != "" {
		if minimum, err = lint.ParseSeverity(l.minimum); err != nil {
			return nil, err
		}
	}
	return func(c *lint.Config) {
		if l.profile != "" {
			c.Profile = profile
		}
		if l.minimum != "" {
			c.Minimum = minimum
		}
	}, nil
}

// findRecipes finds recipes at paths, and shipped ones by their names.
func findRecipes(d lint.Discovery, args []string) ([]lint.Input, error) {
	var paths []string
	var inputs []lint.Input
	for _, name := range args {
		shipped, ok := strings.CutPrefix(name, "recipe:")
		if !ok {
			paths = append(paths, name)
			continue
		}
		src, err := recipes.Open(shipped)
		if err != nil {
			return nil, err
		}
		tests, err := fs.Glob(recipes.FS(), path.Join(shipped, "tests", "*.test.hcl"))
		if err != nil {
			return nil, err
		}
		config := lint.DefaultConfig(d.Rules)
		d.Override(&config)
		inputs = append(inputs, lint.Input{Source: src, Tested: len(tests) > 0, Config: config})
	}
	if len(paths) == 0 {
		return inputs, nil
	}
	found, err := d.Find(paths)
	return append(inputs, found...), err
}

// fixRecipes fixes what can be fixed, in place.
func fixRecipes(l *lint.Linter, inputs []lint.Input, report *format.Report) error {
	for _, in := range inputs {
		if strings.HasPrefix(in.Source.Name(), "recipe:") {
			return usagef("%s is shipped in the program and cannot be fixed; copy it first", in.Source.Name())
		}
		fixed, err := l.Fix(in)
		if err != nil {
			return err
		}
		report.Fixed, report.Refused = append(report.Fixed, fixed.Applied...), append(report.Refused, fixed.Refused...)
		if bytes.Equal(fixed.Before, fixed.After) {
			continue
		}
		if err := rewrite(in.Source.Name(), fixed.After); err != nil {
			return err
		}
	}
	return nil
}
