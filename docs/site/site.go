package main

import (
	"errors"
	"fmt"
	"html"
	"io/fs"
	"path"
	"slices"
	"strings"

	"hostler/docs/site/markdown"
)

// book is the documentation: Markdown files, read in the order in which the
// table of contents has them.
type book struct {
	files fs.FS
	pages map[string]markdown.Page // by the file's name
	// parts are the headings of the table of contents with their chapters.
	parts []part
	// others are files that pages link to and that are copied as they are.
	others map[string]bool
}

// part is a heading of the table of contents.
type part struct {
	title    string
	chapters []string
}

// contents is the file with the table of contents, which is the first page.
const contents = "README.md"

// read renders all pages.
func read(files fs.FS) (*book, error) {
	b := &book{files: files, pages: map[string]markdown.Page{}, others: map[string]bool{}}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err == nil {
			b.pages[name] = markdown.Render(string(text), markdown.Options{Code: highlight, Link: func(target string) (string, bool) { return b.link(name, target) }})
		}
		return err
	})
	if _, ok := b.pages[contents]; err == nil && !ok {
		err = errors.New("there is no " + contents + " with the table of contents")
	}
	if err == nil {
		err = b.readContents()
	}
	return b, err
}

// readContents reads the parts and chapters: the headings of the second level
// and the links below them.
func (b *book) readContents() error {
	text, err := fs.ReadFile(b.files, contents)
	if err != nil {
		return err
	}
	for _, section := range strings.Split("\n"+string(text), "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		p := part{title: title}
		for _, target := range markdown.Render(body, markdown.Options{}).Links {
			if name := path.Clean(target); b.pages[name].Title != "" && !b.hasChapter(name) {
				p.chapters = append(p.chapters, name)
			}
		}
		b.parts = append(b.parts, p)
	}
	if len(b.order()) < 2 {
		return errors.New(contents + " links to no chapter below a heading")
	}
	return nil
}

func (b *book) hasChapter(name string) bool {
	return slices.ContainsFunc(b.parts, func(p part) bool { return slices.Contains(p.chapters, name) })
}

// order are all chapters, the table of contents first.
func (b *book) order() []string {
	all := []string{contents}
	for _, p := range b.parts {
		all = append(all, p.chapters...)
	}
	return all
}

// link is where a link of a page leads on the site: to another page, to a file
// that is copied beside it, or away. What is not part of the site leads nowhere.
func (b *book) link(from, target string) (string, bool) {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "#") || strings.HasPrefix(target, "mailto:") {
		return target, true
	}
	name, fragment, _ := strings.Cut(target, "#")
	full := path.Join(path.Dir(from), name)
	info, err := fs.Stat(b.files, full)
	if !fs.ValidPath(full) || err != nil || info.IsDir() {
		return "", false
	}
	if path.Ext(name) == ".md" {
		name = page(name)
	} else {
		b.others[full] = true
	}
	if fragment != "" {
		name += "#" + fragment
	}
	return name, true
}

// page is the name of the page of a file: README.md is a directory's index.
func page(name string) string {
	if path.Base(name) == contents {
		return path.Join(path.Dir(name), "index.html")
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

// relative is the way from one page to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// html is a whole page.
func (b *book) html(name string) string {
	p := b.pages[name]
	title := p.Title + " · Hostler"
	if name == contents {
		title = "Hostler"
	}
	r := strings.NewReplacer("{{title}}", html.EscapeString(title), "{{style}}", relative(name, "style.css"), "{{home}}", relative(name, "index.html"),
		"{{navigation}}", b.navigation(name), "{{outline}}", outline(p), "{{turn}}", b.turn(name))
	before, after, _ := strings.Cut(layout, "{{body}}")
	return r.Replace(before) + p.HTML + r.Replace(after)
}

// navigation is the list of parts and chapters, with the pages below the chapter
// that is read.
func (b *book) navigation(current string) string {
	var out strings.Builder
	for _, p := range b.parts {
		fmt.Fprintf(&out, "<p>%s</p>\n<ul>\n", html.EscapeString(p.title))
		for _, name := range p.chapters {
			out.WriteString(b.entry(current, name))
			if below := b.below(name); path.Base(name) == contents && (current == name || slices.Contains(below, current)) {
				out.WriteString("<ul>\n")
				for _, inner := range below {
					out.WriteString(b.entry(current, inner))
				}
				out.WriteString("</ul>\n")
			}
		}
		out.WriteString("</ul>\n")
	}
	return out.String()
}

func (b *book) entry(current, name string) string {
	mark := ""
	if name == current {
		mark = ` aria-current="page"`
	}
	return fmt.Sprintf("<li><a href=\"%s\"%s>%s</a></li>\n", html.EscapeString(relative(current, page(name))), mark, html.EscapeString(b.pages[name].Title))
}

// below are the pages in the directory of an index that are no chapters.
func (b *book) below(index string) (names []string) {
	dir := path.Dir(index) + "/"
	for name := range b.pages {
		if strings.HasPrefix(name, dir) && name != index && !b.hasChapter(name) && !b.nested(name, index) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// nested says that another index is nearer to a page.
func (b *book) nested(name, index string) bool {
	for dir := path.Dir(name); dir != path.Dir(index) && dir != "."; dir = path.Dir(dir) {
		if _, ok := b.pages[path.Join(dir, contents)]; ok {
			return true
		}
	}
	return false
}

// outline lists the sections of a long page.
func outline(p markdown.Page) string {
	var out strings.Builder
	n := 0
	for _, h := range p.Headings {
		if h.Level == 2 {
			n++
			fmt.Fprintf(&out, "<li><a href=\"#%s\">%s</a></li>\n", html.EscapeString(h.ID), html.EscapeString(h.Text))
		}
	}
	if n < 3 {
		return ""
	}
	return "<nav class=\"outline\" aria-label=\"On this page\"><p>On this page</p><ul>\n" + out.String() + "</ul></nav>"
}

// turn leads to the chapters before and after.
func (b *book) turn(name string) string {
	order := b.order()
	i := slices.Index(order, name)
	if i < 0 {
		return ""
	}
	var out strings.Builder
	if i > 0 {
		fmt.Fprintf(&out, "<a rel=\"prev\" href=\"%s\">← %s</a>", html.EscapeString(relative(name, page(order[i-1]))), html.EscapeString(b.pages[order[i-1]].Title))
	}
	if i+1 < len(order) {
		fmt.Fprintf(&out, "<a rel=\"next\" href=\"%s\">%s →</a>", html.EscapeString(relative(name, page(order[i+1]))), html.EscapeString(b.pages[order[i+1]].Title))
	}
	return out.String()
}
