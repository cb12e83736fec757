package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"hostler/builtins"
	"hostler/interpreter/eval"
	"hostler/interpreter/rehearse"
	"hostler/interpreter/rehearse/format"
	"hostler/recipes"
)

// rehearse runs the tests at the places and shows what they found.
func (a *app) rehearse(ctx context.Context, t *rehearsal, places []rehearse.Place) error {
	t.Now, t.Code = time.Now, codeOf
	if t.run != "" {
		t.Match = func(name string) bool { return strings.Contains(name, t.run) }
	}
	lang := rehearse.Language{Vocabulary: builtins.Vocabulary(), Loader: eval.StandardLoader{Shipped: recipes.Open}, Version: version}
	var suites []*rehearse.Suite
	var faults hcl.Diagnostics
	a.files = map[string]*hcl.File{}
	for _, at := range places {
		s, diags := rehearse.Load(at, lang)
		for name, file := range s.Sources {
			a.files[name] = file
		}
		faults, suites = append(faults, diags...), append(suites, s)
	}
	if faults.HasErrors() {
		return faults
	}
	if t.Match != nil && !matches(suites, t.Match) {
		return usagef("there is no test whose name holds %q", t.run)
	}
	r := format.Report{Coverage: t.coverage, Quiet: a.flags.quiet, Verbose: a.flags.verbose, Pen: a.pen(a.out), Width: a.width}
	failed := 0
	for _, s := range suites {
		res := s.Run(ctx, t.Options)
		if err := writeGolden(s, res.Golden); err != nil {
			return err
		}
		failed += res.Failed()
		r.Results = append(r.Results, res)
	}
	if err := format.Write(a.out.W, a.flags.output, r); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed > 0:
		return &codeError{code: exitFailed}
	}
	return nil
}

// matches says whether any test is meant.
func matches(suites []*rehearse.Suite, meant func(name string) bool) bool {
	return slices.ContainsFunc(suites, func(s *rehearse.Suite) bool {
		return slices.ContainsFunc(s.Tests, func(t *rehearse.Test) bool { return meant(t.Name) })
	})
}

// writeGolden writes the plans that were taken as they are.
func writeGolden(s *rehearse.Suite, golden map[string]string) error {
	for name, text := range golden {
		file := filepath.Join(s.Dir, rehearse.TestDir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil {
			return fmt.Errorf("write a golden plan: %w", err)
		}
	}
	return nil
}

// findTests finds recipes with tests at paths: a recipe, a test file, or a
// directory with recipes anywhere below it.
func findTests(paths []string) ([]rehearse.Place, error) {
	var places []rehearse.Place
	for _, name := range paths {
		found, err := testsAt(filepath.Clean(name))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("there are no tests at %s; they are the files %s/*%s beside a recipe", name, rehearse.TestDir, rehearse.TestSuffix)
		}
		places = append(places, found...)
	}
	slices.SortStableFunc(places, func(a, b rehearse.Place) int { return strings.Compare(a.Dir, b.Dir) })
	return slices.CompactFunc(places, func(a, b rehearse.Place) bool { return a.Name == b.Name && a.Only == nil && b.Only == nil }), nil
}

func testsAt(name string) ([]rehearse.Place, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return testsBelow(name)
	case strings.HasSuffix(name, rehearse.TestSuffix):
		at, err := place(filepath.Dir(filepath.Dir(name)), "")
		at.Only = []string{filepath.Base(name)}
		return []rehearse.Place{at}, err
	}
	if !tested(filepath.Dir(name)) {
		return nil, nil
	}
	at, err := place(filepath.Dir(name), name)
	return []rehearse.Place{at}, err
}

func tested(dir string) bool {
	found, err := filepath.Glob(filepath.Join(dir, rehearse.TestDir, "[^.]*"+rehearse.TestSuffix))
	return err == nil && len(found) > 0
}

func testsBelow(top string) (places []rehearse.Place, err error) {
	err = filepath.WalkDir(top, func(dir string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case dir != top && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !tested(dir):
			return nil
		}
		at, err := place(dir, "")
		places = append(places, at)
		return err
	})
	return places, err
}

// place is a recipe in a directory, whose file is named where it is not
// recipe.hcl.
func place(dir, file string) (rehearse.Place, error) {
	name := dir
	if file != "" && filepath.Base(file) != eval.MainFile {
		name = file
	}
	src, err := eval.Open(name)
	if err != nil {
		return rehearse.Place{}, err
	}
	return rehearse.Place{
		Name: filepath.ToSlash(name), Dir: filepath.ToSlash(dir), Recipe: src, Files: eval.Plain(os.DirFS(dir)),
		Previous: func(below string) (eval.Source, error) {
			return eval.Open(filepath.Join(dir, rehearse.TestDir, filepath.FromSlash(below)))
		},
	}, nil
}
