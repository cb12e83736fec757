// Package rehearse runs the tests of recipes: hosts in memory as test files
// describe them, commands on them, and what is expected of each; and the laws
// that hold for every recipe without being written down.
//
//	scene   a described host to a host in memory
//	laws    what is true of every recipe, tried
//	format  results to text, JSON and JUnit
//
// A suite is a recipe with the files tests/*.test.hcl beside it. Load reads it
// and Run runs it; nothing outside of memory is touched.
package rehearse

import (
	"io/fs"
	"path"
	"sort"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter"
	"hostler/interpreter/block"
	"hostler/interpreter/eval"
)

// TestSuffix ends the names of test files, which lie in TestDir.
const (
	TestSuffix  = ".test.hcl"
	TestDir     = "tests"
	PreviousDir = "previous"
)

// Place is where a recipe and its tests are.
type Place struct {
	// Name is how messages call the recipe, Dir how they call its directory.
	Name, Dir string
	// Recipe opens the recipe.
	Recipe eval.Source
	// Previous opens the recipe's earlier version in a directory below
	// tests, such as "previous" or "previous/1.0.0".
	Previous func(dir string) (eval.Source, error)
	// Files are those of the recipe's directory.
	Files fs.FS
	// Only are the names of the test files to run, below tests; nil is all.
	Only []string
}

// Language is what recipes are read with.
type Language struct {
	Vocabulary block.Vocabulary
	Loader     eval.Loader
	// Version is that of the interpreter.
	Version string
}

// Suite is a recipe with its tests.
type Suite struct {
	Place
	Language
	// Tests are in the order written, file by file.
	Tests []*Test
	// Sources are the texts that diagnostics are about.
	Sources map[string]*hcl.File
	// previous are the directories of earlier versions, below tests.
	previous []string
	tests    fs.FS
}

// Load reads the tests of a recipe and the recipe itself. The suite is never
// nil, so that its sources are there for diagnostics.
func Load(at Place, lang Language) (*Suite, hcl.Diagnostics) {
	s := &Suite{Place: at, Language: lang, Sources: map[string]*hcl.File{}}
	recipe, _, diags := s.open("")
	for name, file := range recipe.Files() {
		s.Sources[name] = file
	}
	diags = errorsOf(diags)
	tests, err := fs.Sub(at.Files, TestDir)
	if err != nil {
		return s, append(diags, diagnose(nil, "Tests not readable", "%v.", err))
	}
	s.tests = tests
	s.findPrevious()
	for _, name := range s.files() {
		diags = append(diags, s.readFile(name)...)
	}
	return s, diags
}

func (s *Suite) files() []string {
	if s.Only != nil {
		return s.Only
	}
	names, _ := fs.Glob(s.tests, "[^.]*"+TestSuffix) // the pattern is a good one, and hidden files are of editors
	sort.Strings(names)
	return names
}

// findPrevious lists tests/previous, or the directories in it, where recipes
// are.
func (s *Suite) findPrevious() {
	_ = fs.WalkDir(s.tests, PreviousDir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Base(name) == eval.MainFile {
			s.previous = append(s.previous, path.Dir(name))
		}
		return nil // there need not be any
	})
}

// open loads the recipe, or its earlier version in a directory below tests. It
// is loaded anew for everybody who needs it.
func (s *Suite) open(dir string) (*eval.Recipe, *interpreter.Bundle, hcl.Diagnostics) {
	src := s.Recipe
	if dir != "" {
		var err error
		if src, err = s.Previous(dir); err != nil {
			return nil, nil, hcl.Diagnostics{diagnose(nil, "Recipe not found", "%s: %v.", dir, err)}
		}
	}
	b := interpreter.NewBundle()
	r, diags := eval.Load(b.Source(src), s.Vocabulary, b.Loader(s.Loader), s.Version)
	return r, b, diags
}

// file is how messages call a file below tests.
func (s *Suite) file(name string) string { return path.Join(s.Dir, TestDir, name) }

// errorsOf leaves warnings out.
func errorsOf(diags hcl.Diagnostics) (errs hcl.Diagnostics) {
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			errs = append(errs, d)
		}
	}
	return errs
}

// Options say how suites are run.
type Options struct {
	// Match picks the tests to run by name; nil is all.
	Match func(name string) bool
	// Parallel is how many run at a time; 0 is one for each processor.
	Parallel int
	// Every tries laws at every effect in every way they know, and not at a
	// sample where there are many.
	Every bool
	// NoLaws leaves the laws out.
	NoLaws bool
	// Update takes plans as they are for golden ones.
	Update bool
	// Now tells the time, for how long tests take.
	Now func() time.Time
	// Code is the exit code of a command that fails with an error.
	Code func(error) int
}

// assets reads files beside the tests for functions such as file().
type assets struct{ fs.FS }

// ReadFile reads a file below tests.
func (a assets) ReadFile(name string) ([]byte, error) { return fs.ReadFile(a.FS, name) }

// Match lists files below tests.
func (a assets) Match(dir, pattern string) ([]string, error) {
	var names []string
	err := fs.WalkDir(a.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return block.MatchFiles(names, dir, pattern)
}

// quoted lists names in quotes.
func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }
