package syntax

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// locator turns byte offsets of a text into positions. Columns count what a
// reader sees as one character, as HCL's do.
type locator struct {
	name  string
	text  []byte
	lines []int // offset of the start of each line
}

func newLocator(name string, text []byte) *locator {
	l := &locator{name: name, text: text, lines: []int{0}}
	for at, b := range text {
		if b == '\n' {
			l.lines = append(l.lines, at+1)
		}
	}
	return l
}

// pos is the position of an offset; offsets past the end are the end.
func (l *locator) pos(at int) hcl.Pos {
	at = max(0, min(at, len(l.text)))
	line := l.line(at)
	start := hcl.Pos{Line: line + 1, Column: 1, Byte: l.lines[line]}
	if at == start.Byte {
		return start
	}
	if n := at - start.Byte; plain(l.text[start.Byte:at]) {
		return hcl.Pos{Line: start.Line, Column: n + 1, Byte: at}
	}
	whole := func(data []byte, _ bool) (int, []byte, error) { return len(data), data, nil }
	scanner := hcl.NewRangeScanner(l.text[start.Byte:at], l.name, whole)
	scanner.Scan()
	return hcl.Pos{Line: start.Line, Column: scanner.Range().End.Column, Byte: at}
}

// plain says that every byte of a text is one character.
func plain(text []byte) bool {
	for _, b := range text {
		if b < ' ' && b != '\t' || b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// span is the range between two offsets.
func (l *locator) span(from, to int) hcl.Range {
	return hcl.Range{Filename: l.name, Start: l.pos(from), End: l.pos(max(from, to))}
}

// line is the index of the line that holds an offset.
func (l *locator) line(at int) int {
	return sort.Search(len(l.lines), func(i int) bool { return l.lines[i] > at }) - 1
}

// lineEnd is the offset of the newline that ends the line of an offset.
func lineEnd(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}
