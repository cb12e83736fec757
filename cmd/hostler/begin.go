package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hostler/interpreter/eval"
	"hostler/interpreter/scaffold"
)

// begin writes the first files of a recipe. Nothing that exists is replaced.
func (a *app) begin(dir string, answers scaffold.Answers, defaults bool) error {
	if _, err := os.Stat(filepath.Join(dir, eval.MainFile)); err == nil {
		return usagef("%s has a recipe already", dir)
	}
	answers, err := a.ask(answers, defaults, dir)
	if err != nil {
		return err
	}
	files, err := answers.Files()
	if err != nil {
		return usagef("%w", err)
	}
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			return usagef("%s exists already; nothing was written", filepath.Join(dir, name))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, name := range names {
		if err := writeNew(filepath.Join(dir, filepath.FromSlash(name)), files[name]); err != nil {
			return err
		}
		fmt.Fprintf(a.out.W, "%s\n", filepath.Join(dir, filepath.FromSlash(name)))
	}
	fmt.Fprintf(a.err.W, "Next: hostler test %s\n", dir)
	return nil
}

func writeNew(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// ask asks for the answers that the flags leave open.
func (a *app) ask(answers scaffold.Answers, defaults bool, dir string) (scaffold.Answers, error) {
	standard := scaffold.Defaults()
	if full, err := filepath.Abs(dir); err == nil {
		named := standard
		named.Name = strings.ToLower(strings.ReplaceAll(filepath.Base(full), "-", "_"))
		if named.Check() == nil {
			standard = named
		}
	}
	in := bufio.NewScanner(a.in)
	for _, q := range []struct {
		answer          *string
		question, usual string
		choices         []string
	}{
		{&answers.Name, "Name of the recipe", standard.Name, nil},
		{&answers.OS, "System that it supports", standard.OS, scaffold.Systems()},
		{&answers.Kind, "What it begins with", standard.Kind, scaffold.Kinds()},
		{&answers.CI, "What runs its tests", standard.CI, scaffold.CIs()},
	} {
		if *q.answer != "" {
			continue
		}
		*q.answer = q.usual
		if defaults {
			continue
		}
		hint := q.usual
		if len(q.choices) > 0 {
			hint = strings.Join(q.choices, ", ") + "; " + q.usual
		}
		fmt.Fprintf(a.err.W, "%s [%s]: ", q.question, hint)
		if !in.Scan() {
			return answers, usagef("there is no answer; give the flags, or --defaults")
		}
		if text := strings.TrimSpace(in.Text()); text != "" {
			*q.answer = text
		}
	}
	return answers, nil
}
