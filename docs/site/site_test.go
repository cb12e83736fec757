package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"hostler/docs/site/markdown"
)

// TestLinks: every link in the documentation and beside it leads to a file that
// is there, and to a heading of it.
func TestLinks(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../*.md", "../*/*.md", "../*/*/*.md", "../../README.md", "../../examples/*.md", "../../examples/*/*.md", "../../examples/*/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 100 {
		t.Fatalf("found %d files only", len(files))
	}
	pages := map[string]markdown.Page{}
	render := func(name string) markdown.Page {
		if p, ok := pages[name]; ok {
			return p
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = markdown.Render(string(text), markdown.Options{})
		return pages[name]
	}
	for _, name := range files {
		for _, target := range render(name).Links {
			if strings.Contains(target, "://") {
				continue
			}
			file, fragment, _ := strings.Cut(target, "#")
			full := name
			if file != "" {
				full = filepath.Join(filepath.Dir(name), file)
			}
			if _, err := os.Stat(full); err != nil {
				t.Errorf("%s links to %s: %v", name, target, err)
				continue
			}
			if fragment != "" && !slices.ContainsFunc(render(full).Headings, func(h markdown.Heading) bool { return h.ID == fragment }) {
				t.Errorf("%s links to %s, and there is no such heading", name, target)
			}
		}
	}
}

// TestBook: the site of the documentation has all its pages, each with a title,
// reached from the table of contents, and no link on it leads astray.
func TestBook(t *testing.T) {
	b, err := read(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	reached := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		if reached[name] {
			return
		}
		reached[name] = true
		for _, target := range b.pages[name].Links {
			file, _, _ := strings.Cut(target, "#")
			if next := filepath.ToSlash(filepath.Join(filepath.Dir(name), file)); strings.HasSuffix(next, ".md") && b.pages[next].Title != "" {
				walk(next)
			}
		}
	}
	walk(contents)
	for name, p := range b.pages {
		if p.Title == "" {
			t.Errorf("%s has no title", name)
		}
		if !reached[name] {
			t.Errorf("no way leads from the table of contents to %s", name)
		}
	}
	out := filepath.Join(t.TempDir(), "site")
	for range 2 { // the second time over the first
		if err := b.write(out); err != nil {
			t.Fatal(err)
		}
	}
	checkSite(t, out)
}

// checkSite follows the links of the pages that were written.
func checkSite(t *testing.T, out string) {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(out, "*", "*", "*.html"))
	if err != nil || len(pages) < 80 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, name := range append(pages, filepath.Join(out, "index.html"), filepath.Join(out, "language.html"), filepath.Join(out, "reference/events.html")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), `href="`)[1:] {
			target, _, _ := strings.Cut(part, `"`)
			file, fragment, _ := strings.Cut(target, "#")
			if strings.Contains(target, "://") {
				continue
			}
			full := filepath.Join(filepath.Dir(name), file)
			if file == "" {
				full = name
			}
			there, err := os.ReadFile(full)
			if err != nil || fragment != "" && !strings.Contains(string(there), `id="`+fragment+`"`) {
				t.Errorf("%s leads to %s: %v", name, target, err)
			}
		}
	}
	index, err := os.ReadFile(filepath.Join(out, "reference/rules/index.html"))
	if err != nil || !strings.Contains(string(index), `<a href="../../reference/rules/bare-mode.html">`) {
		t.Errorf("the rules are not in the navigation beside their index: %v", err)
	}
}

func TestNavigation(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"README.md": "# Book\n\n## One\n\n* [A](a.md)\n* [R](r/README.md)\n", "a.md": "# A\n\n[out](../x.go) [r](r/README.md) [s](s.json)\n\n## X\n\n## Y\n\n## Z\n",
		"r/README.md": "# R\n\n* [b](b.md)\n", "r/b.md": "# B <x>\n\n```hcl\na = \"b\" # c\nd \"e\" {\n  f = g(1)\n}\n```\n\n```console\n$ ls <a>\nb\n```\n", "s.json": "{}",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	b, err := read(files)
	if err != nil {
		t.Fatal(err)
	}
	a, inner := b.html("a.md"), b.html("r/b.md")
	for _, want := range []string{`<title>A · Hostler</title>`, `<a href="a.html" aria-current="page">A</a>`, `<a href="r/index.html">r</a>`, `<a href="s.json">s</a>`, `<p>out `,
		`<a rel="prev" href="index.html">← Book</a>`, `<a rel="next" href="r/index.html">R →</a>`, `<li><a href="#y">Y</a></li>`} {
		if !strings.Contains(a, want) {
			t.Errorf("a.html lacks %s", want)
		}
	}
	for _, want := range []string{`href="../style.css"`, `<a href="../r/b.html" aria-current="page">B &lt;x&gt;</a>`, `<span class="c"># c</span>`, `<span class="k">d</span>`,
		`<span class="f">g</span>`, `<span class="n">1</span>`, `<span class="p">$ ls &lt;a&gt;</span>`} {
		if !strings.Contains(inner, want) {
			t.Errorf("r/b.html lacks %s", want)
		}
	}
	if strings.Contains(b.html("a.md"), "r/b.html") {
		t.Error("pages below an index are in the navigation elsewhere")
	}
	for _, bad := range []fstest.MapFS{{}, {"README.md": {Data: []byte("# Book\n")}}} {
		if _, err := read(bad); err == nil {
			t.Errorf("no fault in %v", bad)
		}
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "other"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	if err := run([]string{dir}); err == nil || !strings.Contains(err.Error(), "holds no site") {
		t.Errorf("over something else: %v", err)
	}
	if err := run(nil); err == nil {
		t.Error("without a directory")
	}
	if err := run([]string{filepath.Join(dir, "new")}); err != nil {
		t.Error(err)
	}
}
