package markdown

import (
	"fmt"
	"html"
	"regexp"
	"strings"
)

// isTable says that a table starts at the first line: cells, then dashes.
func isTable(lines []string) bool {
	return len(lines) > 1 && strings.HasPrefix(lines[0], "|") && regexp.MustCompile(`^\|(\s*:?-+:?\s*\|)+\s*$`).MatchString(lines[1])
}

func (r *renderer) table(lines []string) int {
	r.out.WriteString("<div class=\"table\"><table>\n<thead>")
	r.row("th", lines[0])
	r.out.WriteString("</thead>\n<tbody>\n")
	n := 2
	for ; n < len(lines) && strings.HasPrefix(lines[n], "|"); n++ {
		r.row("td", lines[n])
	}
	r.out.WriteString("</tbody>\n</table></div>\n")
	return n
}

func (r *renderer) row(tag, line string) {
	r.out.WriteString("<tr>")
	for _, cell := range cells(line) {
		fmt.Fprintf(&r.out, "<%s>%s</%s>", tag, r.inline(strings.TrimSpace(cell)), tag)
	}
	r.out.WriteString("</tr>\n")
}

// cells are the cells of a line; \| is no border.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	list := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], "\x00", "|")
	}
	return list
}

// Forms of what stands in a line, tried at each place.
var (
	linkForm   = regexp.MustCompile(`^\[((?:[^\[\]\\]|\\.|\[[^\]]*\])*)\]\(([^()\s]*)\)`)
	autoForm   = regexp.MustCompile(`^<(https?://[^>\s]+)>`)
	strongForm = regexp.MustCompile(`(?s)^\*\*([^*\s](?:[^*]*[^*\s])?)\*\*`)
	emForm     = regexp.MustCompile(`(?s)^[*]([^*\s](?:[^*]*[^*\s])?)[*]`)
)

// inline renders the text of a line or paragraph.
func (r *renderer) inline(text string) string {
	var out strings.Builder
	for text != "" {
		n := strings.IndexAny(text, "`[<*\\")
		if n < 0 {
			n = len(text)
		}
		out.WriteString(html.EscapeString(text[:n]))
		text = text[n:]
		if text == "" {
			break
		}
		markup, used := r.markup(text)
		out.WriteString(markup)
		text = text[used:]
	}
	return out.String()
}

// markup renders what starts a text; used is how many bytes that is.
func (r *renderer) markup(text string) (rendered string, used int) {
	switch text[0] {
	case '`':
		return codeSpan(text)
	case '\\':
		if len(text) > 1 && strings.IndexByte("\\`*_{}[]()#+-.!|<>", text[1]) >= 0 {
			return html.EscapeString(text[1:2]), 2
		}
	case '[':
		if m := linkForm.FindStringSubmatch(text); m != nil {
			return r.link(m[1], m[2]), len(m[0])
		}
	case '<':
		if m := autoForm.FindStringSubmatch(text); m != nil {
			return r.link(m[1], m[1]), len(m[0])
		}
	case '*':
		if m := strongForm.FindStringSubmatch(text); m != nil {
			return "<strong>" + r.inline(m[1]) + "</strong>", len(m[0])
		}
		if m := emForm.FindStringSubmatch(text); m != nil {
			return "<em>" + r.inline(m[1]) + "</em>", len(m[0])
		}
	}
	return html.EscapeString(text[:1]), 1
}

// codeSpan renders code between equally many backticks.
func codeSpan(text string) (string, int) {
	mark := text[:len(text)-len(strings.TrimLeft(text, "`"))]
	end := strings.Index(text[len(mark):], mark)
	if end < 0 {
		return html.EscapeString(mark), len(mark)
	}
	code := text[len(mark) : len(mark)+end]
	if inner := strings.TrimSpace(code); len(mark) > 1 && inner != "" {
		code = inner
	}
	return "<code>" + html.EscapeString(strings.ReplaceAll(code, "\n", " ")) + "</code>", 2*len(mark) + end
}

func (r *renderer) link(label, target string) string {
	r.page.Links = append(r.page.Links, target)
	href, ok := target, true
	if r.Link != nil {
		href, ok = r.Link(target)
	}
	if !ok || strings.HasPrefix(strings.ToLower(href), "javascript:") {
		return r.inline(label)
	}
	inner := html.EscapeString(label)
	if label != target {
		inner = r.inline(label)
	}
	return fmt.Sprintf("<a href=\"%s\">%s</a>", html.EscapeString(href), inner)
}
