package editor

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"
)

// Position is a place in a document: a line from 0 and, in it, UTF-16 code
// units from 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is a part of a document, its end left out.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// span is a part of a text in bytes, its end left out.
type span struct{ from, to int }

func (s span) holds(at int) bool { return s.from <= at && at <= s.to }

// text is one version of a document. It is not changed. It has two forms: raw is
// what the client has, clean what the parser reads, without byte-order mark and
// carriage returns and with a newline at the end. Offsets are those of clean
// unless they are said to be raw.
type text struct {
	raw   string
	clean []byte
	// lines are the raw offsets at which lines start, gaps those of the bytes
	// that clean leaves out.
	lines, gaps []int
}

func newText(raw string) *text {
	t := &text{raw: raw, lines: []int{0}}
	if strings.HasPrefix(raw, "\xef\xbb\xbf") {
		t.gaps = []int{0, 1, 2}
	}
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '\n':
			t.lines = append(t.lines, i+1)
		case raw[i] == '\r' && i+1 < len(raw) && raw[i+1] == '\n':
			t.gaps = append(t.gaps, i)
		case raw[i] == '\r':
			t.lines = append(t.lines, i+1)
		}
	}
	t.clean = t.withoutGaps()
	return t
}

func (t *text) withoutGaps() []byte {
	out := make([]byte, 0, len(t.raw)+1)
	at := 0
	for _, gap := range t.gaps {
		out = append(out, t.raw[at:gap]...)
		at = gap + 1
	}
	out = append(out, t.raw[at:]...)
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	return out
}

// toRaw is the raw offset of an offset.
func (t *text) toRaw(at int) int {
	n := sort.Search(len(t.gaps), func(i int) bool { return t.gaps[i]-i >= at })
	return max(0, min(at+n, len(t.raw)))
}

// fromRaw is the offset of a raw offset.
func (t *text) fromRaw(at int) int { return at - sort.SearchInts(t.gaps, at) }

// position is where an offset is; past the end, the end.
func (t *text) position(at int) Position { return t.rawPosition(t.toRaw(at)) }

func (t *text) rawPosition(at int) Position {
	line := sort.SearchInts(t.lines, at+1) - 1
	return Position{line, units(t.raw[t.lines[line]:at])}
}

// rangeOf is where a span is.
func (t *text) rangeOf(s span) Range { return Range{t.position(s.from), t.position(max(s.from, s.to))} }

// offset is the offset of a position; past the end of a line, that.
func (t *text) offset(p Position) int { return t.fromRaw(t.rawOffset(p)) }

func (t *text) rawOffset(p Position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.lines) {
		return len(t.raw)
	}
	at, end := t.lines[p.Line], len(t.raw)
	if p.Line+1 < len(t.lines) {
		end = t.lines[p.Line+1]
	}
	line := strings.TrimRight(t.raw[at:end], "\r\n")
	for i, r := range line {
		if p.Character -= unitsOf(r); p.Character < 0 {
			return at + i
		}
	}
	return at + len(line)
}

// units is the length of a text in UTF-16 code units.
func units(s string) (n int) {
	for _, r := range s {
		n += unitsOf(r)
	}
	return n
}

func unitsOf(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// Change replaces a range of a document, or all of it, by a text.
type Change struct {
	Range *Range `json:"range"`
	Text  string `json:"text"`
}

// changed is the text after changes, each of which is about the text that the
// ones before it made.
func (t *text) changed(changes []Change) *text {
	for _, c := range changes {
		if c.Range == nil {
			t = newText(c.Text)
			continue
		}
		from, to := t.rawOffset(c.Range.Start), t.rawOffset(c.Range.End)
		if to < from {
			from, to = to, from
		}
		t = newText(t.raw[:from] + c.Text + t.raw[to:])
	}
	return t
}

// line is the span of the line of an offset, its end left out.
func (t *text) line(at int) span {
	at = max(0, min(at, len(t.clean)-1))
	from := bytes.LastIndexByte(t.clean[:at], '\n') + 1
	return span{from, from + bytes.IndexByte(t.clean[from:], '\n')}
}

func nameByte(b byte) bool {
	return b == '_' || b == '-' || b >= utf8.RuneSelf || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// text is the text of a span.
func (t *text) text(s span) string {
	from := max(0, min(s.from, len(t.clean)))
	return string(t.clean[from:max(from, min(s.to, len(t.clean)))])
}

// newline is how the document ends its lines.
func (t *text) newline() string {
	if strings.Contains(t.raw, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// rewritten are the edits that make after, which has LF line ends, of a text:
// line by line where there are as many lines as before, so that what the client
// keeps per line stays where it is.
func (t *text) rewritten(after string) []TextEdit {
	before, next := strings.SplitAfter(string(t.clean), "\n"), strings.SplitAfter(after, "\n")
	edits := []TextEdit{}
	if len(before) != len(next) {
		return append(edits, t.rewrittenBlock(before, next))
	}
	at := 0
	for i, line := range before {
		if line != next[i] {
			edits = append(edits, TextEdit{t.rangeOf(span{at, at + len(line) - 1}), strings.TrimSuffix(next[i], "\n")})
		}
		at += len(line)
	}
	if !strings.HasSuffix(t.raw, "\n") && after != "" {
		end := t.rawPosition(len(t.raw))
		edits = append(edits, TextEdit{Range{end, end}, t.newline()})
	}
	return edits
}

// rewrittenBlock replaces the lines between those that stay at the beginning and
// at the end.
func (t *text) rewrittenBlock(before, next []string) TextEdit {
	from, head, tail := 0, 0, 0
	for head < min(len(before), len(next)) && before[head] == next[head] {
		from += len(before[head])
		head++
	}
	to := len(t.clean)
	for tail < min(len(before), len(next))-head && before[len(before)-1-tail] == next[len(next)-1-tail] {
		tail++
		to -= len(before[len(before)-tail])
	}
	lines := strings.Join(next[head:len(next)-tail], "")
	return TextEdit{t.rangeOf(span{from, to}), strings.ReplaceAll(lines, "\n", t.newline())}
}
