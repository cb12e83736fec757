package shadow_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
	"hostler/interpreter/host/shadow"
	"hostler/interpreter/host/treefs"
)

// tester is a test, of package testing or rapid.
type tester interface {
	Helper()
	Cleanup(func())
	Fatal(...any)
	Errorf(string, ...any)
}

// plant writes a tree below dir: names that end in "/" are directories, values
// that start with "-> " links, with "= " hard links.
func plant(t tester, dir string, tree map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		full := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		content := tree[name]
		switch target, link := strings.CutPrefix(content, "-> "); {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(full, 0o755))
		case link:
			must(t, os.Symlink(target, full))
		case strings.HasPrefix(content, "= "):
			must(t, os.Link(filepath.Join(dir, content[2:]), full))
		default:
			must(t, os.WriteFile(full, []byte(content), 0o644))
		}
	}
}

func must(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func caller() treefs.Options { return treefs.Options{Unprivileged: os.Geteuid() != 0} }

// open opens a directory as a root.
func open(t tester, dir string) *treefs.FS {
	t.Helper()
	f, err := treefs.Open(dir, caller())
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

// over makes a base that holds tree and a shadow over it. When the test ends
// the base must be as it was.
func over(t *testing.T, s *still, tree map[string]string) (host.Host, *shadow.Shadow) {
	t.Helper()
	dir := t.TempDir()
	plant(t, dir, tree)
	f := open(t, dir)
	s.files = f
	before := look(t, f)
	t.Cleanup(func() {
		if after := look(t, f); !maps.Equal(before, after) {
			t.Errorf("the base was changed:\n%v\n%v", before, after)
		}
	})
	sh := shadow.Over(s.view())
	return sh.Host(), sh
}

// look lists a whole tree as path and description.
func look(t tester, f host.FileView) map[string]string {
	t.Helper()
	seen := map[string]string{}
	lookBelow(t, f, "/", seen)
	return seen
}

func lookBelow(t tester, f host.FileView, dir string, seen map[string]string) {
	t.Helper()
	d, err := f.Open(dir)
	must(t, err)
	infos, err := d.Readdir(-1)
	must(t, errors.Join(err, d.Close()))
	for _, info := range infos {
		name := path.Join(dir, info.Name())
		seen[name] = describe(t, f, name, info)
		if info.IsDir() {
			lookBelow(t, f, name, seen)
		}
	}
}

func describe(t tester, f host.FileView, name string, info fs.FileInfo) string {
	t.Helper()
	st := host.StatOf(info)
	d := fmt.Sprintf("%v %d:%d", info.Mode(), st.UID, st.GID)
	if info.IsDir() {
		return d
	}
	d += fmt.Sprintf(" %d links", st.Nlink)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := f.ReadlinkIfPossible(name)
		must(t, err)
		d += " -> " + target
	case info.Mode().IsRegular():
		d += fmt.Sprintf(" %d %q", info.Size(), read(t, f, name))
	}
	if x, ok := f.(interface {
		Llistxattr(string) ([]string, error)
		Lgetxattr(string, string) ([]byte, error)
	}); ok {
		attrs, err := x.Llistxattr(name)
		must(t, err)
		slices.Sort(attrs)
		for _, a := range attrs {
			v, err := x.Lgetxattr(name, a)
			must(t, err)
			d += fmt.Sprintf(" %s=%q", a, v)
		}
	}
	return d
}

func read(t tester, f host.FileView, name string) string {
	t.Helper()
	file, err := f.Open(name)
	must(t, err)
	b, err := afero.ReadAll(file)
	must(t, errors.Join(err, file.Close()))
	return string(b)
}

func write(t tester, f host.Files, name, content string) {
	t.Helper()
	must(t, f.MkdirAll(path.Dir(name), 0o755))
	must(t, host.Replace(f, name, host.Content{Bytes: []byte(content), Mode: 0o644}))
}

// unknown checks that err is an *UnknownError with that cause.
func unknown(t tester, err error, cause string) {
	t.Helper()
	if !errors.Is(err, host.ErrUnknown) || host.Cause(err) != cause {
		t.Errorf("error is %v, want unknown: %s", err, cause)
	}
}

func is(t tester, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error is %v, want %v", err, want)
	}
}
