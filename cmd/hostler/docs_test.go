package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hostler/builtins"
)

const referenceDir = "../../docs/reference"

// TestReferenceIsFresh: the pages in the tree are those that the code makes.
func TestReferenceIsFresh(t *testing.T) {
	pages, err := referencePages((&app{}).command())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(referenceDir, filepath.FromSlash(name)))
		if err != nil {
			t.Errorf("%v; make generate writes it", err)
			continue
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("docs/reference/%s is stale; make generate writes it (-code +file):\n%s", name, diff)
		}
	}
	err = filepath.WalkDir(referenceDir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(referenceDir, name)
		if _, ok := pages[filepath.ToSlash(rel)]; !ok {
			t.Errorf("docs/reference/%s documents nothing; make generate removes it", rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDocsCommand writes the pages and removes stale ones.
func TestDocsCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "reference")
	if err := os.MkdirAll(filepath.Join(dir, "blocks"), 0o755); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(dir, "blocks/gone.md")
	if err := os.WriteFile(stale, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, "docs", dir)
	if exists(stale) || !exists(filepath.Join(dir, "blocks/write_file_if_changed.md")) || !exists(filepath.Join(dir, "man/hostler.1")) {
		t.Error("the pages are not those of the code")
	}
	if _, _, code := runProgram("docs"); code != exitUsage {
		t.Errorf("exit status %d, want %d", code, exitUsage)
	}
}

// TestPages: every command and exit code is on its page, every page's links
// lead somewhere.
func TestPages(t *testing.T) {
	root := (&app{}).command()
	pages, err := referencePages(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands(root) {
		if !strings.Contains(pages["commands.md"], "\n## "+c.Name()+"\n") {
			t.Errorf("commands.md has no %s", c.Name())
		}
		if c.Example == "" || c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: example %q, short %q", c.Name(), c.Example, c.Short)
		}
		man := pages["man/hostler-"+c.Name()+".1"]
		for _, section := range []string{".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH EXAMPLES", ".SH EXIT STATUS"} {
			if !strings.Contains(man, section) {
				t.Errorf("the manual page of %s has no %s", c.Name(), section)
			}
		}
	}
	for _, want := range []string{"| 0 |", "| 1 |", "| 2 |", "| 64 |", "| 65 |", "| 69 |", "| 73 |", "| 75 |", "| 77 |", "| 78 |", "| 130 |", "| 143 |"} {
		if !strings.Contains(pages["exit-codes.md"], want) {
			t.Errorf("exit-codes.md has no %s", want)
		}
	}
	for _, typ := range builtins.Vocabulary().Types {
		checkBlockPage(t, typ.Name, pages["blocks/"+typ.Name+".md"])
	}
	for part := range strings.SplitSeq(pages["README.md"], "](") {
		if link, _, ok := strings.Cut(part, ")"); ok && strings.HasSuffix(link, ".md") && pages[link] == "" {
			t.Errorf("README.md links to %s, which is not there", link)
		}
	}
}

// checkBlockPage: the page of a block type says everything that one asks about a
// block.
func checkBlockPage(t *testing.T, name, page string) {
	t.Helper()
	for _, section := range []string{"\n## Example\n\n```hcl\n", "\n## Arguments\n", "\n## What it checks\n", "\n## What it owns\n", "\n## What reset does\n", "\n## Retry\n", "\n## Where it may stand\n"} {
		if !strings.Contains(page, section) {
			t.Errorf("the page of %s lacks %s", name, strings.TrimSpace(section))
		}
	}
	if !strings.Contains(page, "| argument | type | default | meaning |") && !strings.Contains(page, "It has none of its own.") {
		t.Errorf("the page of %s has no table of arguments", name)
	}
}
