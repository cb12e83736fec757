// Package markdown renders the Markdown that the documentation is written in:
// headings, paragraphs, lists, tables, quotes, fenced code, and in a line code,
// links, strong and emphasised words. Anything else is text. What stands in a
// text never becomes markup of the page by itself: there is no raw HTML.
package markdown

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"
)

// Page is a rendered text.
type Page struct {
	// Title is the text of the first heading.
	Title string
	HTML  string
	// Headings are all headings, in order.
	Headings []Heading
	// Links are the targets of all links, in order.
	Links []string
}

// Heading is a heading of a page; ID is the fragment that links to it.
type Heading struct {
	Level    int
	Text, ID string
}

// Options say how a text is rendered.
type Options struct {
	// Link is where a link leads, from its target; ok is false for one that
	// leads nowhere on the site and is shown as text. nil leaves links alone.
	Link func(target string) (href string, ok bool)
	// Code renders a fenced block as HTML; nil escapes it.
	Code func(language, text string) string
}

// Render renders a text.
func Render(text string, o Options) Page {
	r := &renderer{Options: o, ids: map[string]int{}}
	r.blocks(strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"))
	r.page.HTML = r.out.String()
	return r.page
}

type renderer struct {
	Options
	page Page
	out  strings.Builder
	ids  map[string]int
}

// blocks renders lines that stand at one level.
func (r *renderer) blocks(lines []string) {
	for len(lines) > 0 {
		line := lines[0]
		n := 1
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "```"):
			n = r.fence(lines)
		case heading(line) > 0:
			r.heading(heading(line), strings.TrimSpace(strings.TrimLeft(line, "#")))
		case strings.HasPrefix(line, ">"):
			n = r.quote(lines)
		case bullet(line) > 0:
			n = r.list(lines)
		case isTable(lines):
			n = r.table(lines)
		default:
			n = r.paragraph(lines)
		}
		lines = lines[n:]
	}
}

// heading is the level of a heading, 0 for other lines.
func heading(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n > 6 || n == 0 || !strings.HasPrefix(line[n:], " ") {
		return 0
	}
	return n
}

func (r *renderer) heading(level int, text string) {
	inner := r.inline(text)
	plain := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(inner, ""))
	id := Slug(plain)
	if n := r.ids[id]; n > 0 {
		r.ids[id]++
		id = fmt.Sprintf("%s-%d", id, n)
	} else {
		r.ids[id] = 1
	}
	if r.page.Title == "" {
		r.page.Title = plain
	}
	r.page.Headings = append(r.page.Headings, Heading{level, plain, id})
	fmt.Fprintf(&r.out, "<h%d id=\"%s\">%s</h%d>\n", level, html.EscapeString(id), inner, level)
}

// Slug is the fragment of a heading, as code forges make it.
func Slug(text string) string {
	var out strings.Builder
	for _, c := range strings.ToLower(text) {
		switch {
		case c == ' ':
			out.WriteByte('-')
		case c == '-', c == '_', unicode.IsLetter(c), unicode.IsDigit(c):
			out.WriteRune(c)
		}
	}
	return out.String()
}

// fence renders a block of code; it returns how many lines it has.
func (r *renderer) fence(lines []string) int {
	mark := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], "`"))]
	language := strings.TrimSpace(lines[0][len(mark):])
	n := 1
	for n < len(lines) && strings.TrimRight(lines[n], " ") != mark {
		n++
	}
	text := strings.Join(lines[1:n], "\n")
	code := html.EscapeString(text)
	if r.Code != nil {
		code = r.Code(language, text)
	}
	fmt.Fprintf(&r.out, "<pre><code class=\"language-%s\">%s</code></pre>\n", html.EscapeString(language), code)
	return min(n+1, len(lines))
}

func (r *renderer) quote(lines []string) int {
	n := 0
	var inner []string
	for n < len(lines) && strings.HasPrefix(lines[n], ">") {
		inner = append(inner, strings.TrimPrefix(lines[n][1:], " "))
		n++
	}
	r.out.WriteString("<blockquote>\n")
	r.blocks(inner)
	r.out.WriteString("</blockquote>\n")
	return n
}

// bullet is the width of what starts an item of a list, 0 for other lines.
func bullet(line string) int {
	return len(regexp.MustCompile(`^([*-]|[0-9]{1,9}[.)]) +`).FindString(line))
}

// list renders a list: its items, with what is indented below them.
func (r *renderer) list(lines []string) int {
	tag := "ul"
	if unicode.IsDigit(rune(lines[0][0])) {
		tag = "ol"
	}
	fmt.Fprintf(&r.out, "<%s>\n", tag)
	n := 0
	for n < len(lines) && bullet(lines[n]) > 0 {
		indent := bullet(lines[n])
		item := []string{lines[n][indent:]}
		for n++; n < len(lines) && belongs(lines, n, indent); n++ {
			item = append(item, dedent(lines[n], indent))
		}
		r.item(item)
	}
	fmt.Fprintf(&r.out, "</%s>\n", tag)
	return n
}

// belongs says that a line goes on an item: it is indented, goes on a paragraph,
// or is blank before one that is.
func belongs(lines []string, n, indent int) bool {
	line := lines[n]
	if strings.TrimSpace(line) == "" {
		return n+1 < len(lines) && strings.HasPrefix(lines[n+1], "  ") && strings.TrimSpace(lines[n+1]) != ""
	}
	return strings.HasPrefix(line, strings.Repeat(" ", min(indent, 2))) ||
		strings.TrimSpace(lines[n-1]) != "" && bullet(line) == 0 && heading(line) == 0 && !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "|")
}

func dedent(line string, indent int) string {
	n := min(indent, len(line)-len(strings.TrimLeft(line, " ")))
	return line[n:]
}

// item renders one item; one that is a single paragraph is not wrapped.
func (r *renderer) item(lines []string) {
	r.out.WriteString("<li>")
	n := 0
	for n < len(lines) && strings.TrimSpace(lines[n]) != "" && bullet(lines[n]) == 0 && !strings.HasPrefix(lines[n], "```") {
		n++
	}
	r.out.WriteString(r.inline(strings.Join(lines[:n], "\n")))
	if n < len(lines) {
		r.out.WriteString("\n")
		r.blocks(lines[n:])
	}
	r.out.WriteString("</li>\n")
}

func (r *renderer) paragraph(lines []string) int {
	n := 1
	for n < len(lines) && strings.TrimSpace(lines[n]) != "" && heading(lines[n]) == 0 && bullet(lines[n]) == 0 &&
		!strings.HasPrefix(lines[n], "```") && !strings.HasPrefix(lines[n], ">") && !isTable(lines[n:]) {
		n++
	}
	fmt.Fprintf(&r.out, "<p>%s</p>\n", r.inline(strings.TrimSpace(strings.Join(lines[:n], "\n"))))
	return n
}
