// Package hosttest is the contract of package host as tests: one suite that
// every implementation of the doors passes, so that what a recipe does on a
// host in memory is what it does on a running one.
//
// [Run] holds a whole host to the contract; [Files], [Locks], [AtRest] and
// [Units] are its parts, for implementations of a single door. The suite works
// below [Dir] and on units whose names start with "hosttest-", and removes
// both when it is done.
package hosttest

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
)

// Dir is the directory that the suite makes and works in.
const Dir = "/var/tmp/hosttest"

// Files runs the contract of the file door. newFS returns a writable tree, in
// which nothing needs to exist; it is called once per case and cleans up by
// t.Cleanup. Whether owners can be changed is found out by trying.
func Files(t *testing.T, newFS func(t *testing.T) host.Files) {
	for _, part := range []struct {
		name  string
		cases map[string]func(tree)
	}{
		{"errors", errorCases()},
		{"links", linkCases()},
		{"rename", renameCases()},
		{"handles", handleCases()},
		{"modes", modeCases()},
		{"directories", directoryCases()},
		{"special", specialCases()},
		{"atomic", atomicCases()},
	} {
		t.Run(part.name, func(t *testing.T) {
			for name, run := range part.cases {
				t.Run(name, func(t *testing.T) { run(newTree(t, newFS(t))) })
			}
		})
	}
}

// tree is a Files under test and short ways to say what is expected of it.
// Relative names are below Dir.
type tree struct {
	*testing.T
	fs host.Files
}

func newTree(t *testing.T, f host.Files) tree {
	t.Helper()
	x := tree{t, f}
	x.ok(f.RemoveAll(Dir))
	x.ok(f.MkdirAll(Dir, 0o755))
	t.Cleanup(func() {
		if err := f.RemoveAll(Dir); err != nil {
			t.Errorf("cleaning up: %v", err)
		}
	})
	return x
}

func at(name string) string { return Dir + "/" + name }

func (x tree) ok(err error) {
	x.Helper()
	if err != nil {
		x.Fatalf("unexpected error: %v", err)
	}
}

// fails checks an error of a call that was given name: a *fs.PathError that
// names it and wraps want.
func (x tree) fails(err error, want syscall.Errno, name string) {
	x.Helper()
	x.failsEither(err, want)
	if pe, ok := errors.AsType[*fs.PathError](err); ok && pe.Path != name {
		x.Errorf("error %q is about %q, want %q", err, pe.Path, name)
	}
}

// failsEither is fails for calls with two names.
func (x tree) failsEither(err error, want syscall.Errno) {
	x.Helper()
	if !errors.Is(err, want) {
		x.Fatalf("error is %v, want errno %q", err, want)
	}
	if _, ok := errors.AsType[*fs.PathError](err); !ok {
		x.Errorf("error %v (%T) is no *fs.PathError", err, err)
	}
}

func (x tree) write(name, content string) {
	x.Helper()
	f, err := x.fs.OpenFile(at(name), syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC, 0o644)
	x.ok(err)
	_, err = f.WriteString(content)
	x.ok(err)
	x.ok(f.Close())
}

func (x tree) content(name string) string {
	x.Helper()
	f, err := x.fs.Open(at(name))
	x.ok(err)
	b, err := io.ReadAll(f)
	x.ok(err)
	x.ok(f.Close())
	return string(b)
}

func (x tree) holds(name, want string) {
	x.Helper()
	if got := x.content(name); got != want {
		x.Errorf("%s holds %q, want %q", name, got, want)
	}
}

func (x tree) mkdir(name string) {
	x.Helper()
	x.ok(x.fs.Mkdir(at(name), 0o755))
}

func (x tree) link(target, name string) {
	x.Helper()
	x.ok(x.fs.SymlinkIfPossible(target, at(name)))
}

func (x tree) lstat(name string) fs.FileInfo {
	x.Helper()
	info, err := host.Lstat(x.fs, at(name))
	x.ok(err)
	return info
}

func (x tree) hasMode(name string, want uint32) {
	x.Helper()
	if got := host.ModeBits(x.lstat(name).Mode()); got != want {
		x.Errorf("%s has mode %04o, want %04o", name, got, want)
	}
}

func (x tree) linksTo(name, want string) {
	x.Helper()
	got, err := x.fs.ReadlinkIfPossible(at(name))
	x.ok(err)
	if got != want {
		x.Errorf("%s links to %q, want %q", name, got, want)
	}
}

func (x tree) gone(name string) {
	x.Helper()
	_, err := host.Lstat(x.fs, at(name))
	x.fails(err, syscall.ENOENT, at(name))
}

// entries are the sorted names in a directory below Dir.
func (x tree) entries(name string) []string {
	x.Helper()
	infos, err := afero.ReadDir(x.fs, at(name))
	x.ok(err)
	names := make([]string, 0, len(infos))
	for _, info := range infos {
		names = append(names, info.Name())
	}
	return names
}

// ownersChange says whether the tree can give files to others than root.
func (x tree) ownersChange() bool {
	x.Helper()
	x.write("probe-owner", "")
	err := x.fs.Lchown(at("probe-owner"), 1, 1)
	x.ok(x.fs.Remove(at("probe-owner")))
	return err == nil
}
