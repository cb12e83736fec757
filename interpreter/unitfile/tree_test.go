package unitfile_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
	"hostler/interpreter/unitfile"
)

var update = flag.Bool("update", false, "write golden files anew")

// enablingCase is a tree and commands, from testdata/enabling. Lines of the
// comment are commands: "enable UNIT", "disable UNIT", "mask UNIT", "unmask
// UNIT" and "state UNIT". A file "links" holds lines "path -> target"; the file
// "want" is golden.
type enablingCase struct {
	name     string
	archive  *txtar.Archive
	commands [][]string
}

func enablingCases(t *testing.T) []enablingCase {
	t.Helper()
	paths, err := filepath.Glob("testdata/enabling/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var cases []enablingCase
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		c := enablingCase{name: p, archive: a}
		for _, line := range strings.Split(string(a.Comment), "\n") {
			if f := strings.Fields(line); len(f) > 1 && f[0] != "#" {
				c.commands = append(c.commands, f)
			}
		}
		cases = append(cases, c)
	}
	return cases
}

// seed makes the case's tree below dir.
func (c enablingCase) seed(t *testing.T, dir string) {
	t.Helper()
	for _, d := range []string{"etc/systemd/system", "usr/lib/systemd/system"} {
		must(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	must(t, os.Symlink("usr/lib", filepath.Join(dir, "lib")))
	for _, f := range c.archive.Files {
		switch f.Name {
		case "want":
		case "links":
			for _, line := range strings.Split(strings.TrimSpace(string(f.Data)), "\n") {
				from, to, _ := strings.Cut(line, " -> ")
				full := filepath.Join(dir, from)
				must(t, os.MkdirAll(filepath.Dir(full), 0o755))
				must(t, os.Symlink(to, full))
			}
		default:
			full := filepath.Join(dir, f.Name)
			must(t, os.MkdirAll(filepath.Dir(full), 0o755))
			must(t, os.WriteFile(full, f.Data, 0o644))
		}
	}
}

func (c enablingCase) golden() string {
	for _, f := range c.archive.Files {
		if f.Name == "want" {
			return string(f.Data)
		}
	}
	return ""
}

func (c enablingCase) save(t *testing.T, got string) {
	t.Helper()
	var files []txtar.File
	for _, f := range c.archive.Files {
		if f.Name != "want" {
			files = append(files, f)
		}
	}
	c.archive.Files = append(files, txtar.File{Name: "want", Data: []byte(got)})
	must(t, os.WriteFile(c.name, txtar.Format(c.archive), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openTree(t *testing.T, dir string) *treefs.FS {
	t.Helper()
	f, err := treefs.Open(dir, treefs.Options{Unprivileged: os.Getuid() != 0})
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

// linksIn lists every link below etc/systemd/system.
func linksIn(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	top := filepath.Join(dir, "etc/systemd/system")
	must(t, filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(top, p)
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			fmt.Fprintf(&b, "  %s -> %s\n", rel, target)
			return err
		case d.IsDir() && p != top:
			fmt.Fprintf(&b, "  %s/\n", rel)
		}
		return nil
	}))
	return b.String()
}

// run does one command our way.
func run(f host.Files, verb, unit string) (string, error) {
	tree := unitfile.Tree{Files: f}
	var ops []unitfile.LinkOp
	var err error
	switch verb {
	case "enable":
		ops, err = tree.Enable(unit)
	case "disable":
		ops, err = tree.Disable(unit)
	case "mask":
		ops = []unitfile.LinkOp{{Path: unitfile.MaskPath(unit), Target: unitfile.MaskTarget}}
	case "unmask":
		ops = []unitfile.LinkOp{{Path: unitfile.MaskPath(unit)}}
	case "state":
		return tree.State(unit)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d operations", len(ops)), unitfile.Carry(f, ops)
}

// TestEnabling holds the rules of [Install] to golden cases; the differential
// test holds the same cases to systemctl.
func TestEnabling(t *testing.T) {
	for _, c := range enablingCases(t) {
		t.Run(filepath.Base(c.name), func(t *testing.T) {
			dir := t.TempDir()
			c.seed(t, dir)
			f := openTree(t, dir)
			var b strings.Builder
			for _, cmd := range c.commands {
				said, err := run(f, cmd[0], cmd[1])
				if err != nil {
					said = "error: " + err.Error()
				}
				fmt.Fprintf(&b, "%s %s: %s\n", cmd[0], cmd[1], said)
				if cmd[0] != "state" {
					b.WriteString(linksIn(t, dir))
				}
			}
			if *update {
				c.save(t, b.String())
			}
			if diff := cmp.Diff(c.golden(), b.String()); diff != "" {
				t.Errorf("run with -update to accept (-want +got):\n%s", diff)
			}
		})
	}
}
