package unitfile

import (
	"bytes"
	"strings"
)

// line is one physical line: its bytes without the terminator.
type line struct {
	start, end int
	terminator string
}

// splitLines cuts at newlines, carriage returns, both together, and NUL bytes,
// which end a line for systemd.
func splitLines(src []byte) (lines []line) {
	start := 0
	for start < len(src) {
		n := bytes.IndexAny(src[start:], "\n\r\x00")
		if n < 0 {
			return append(lines, line{start, len(src), ""})
		}
		end := start + n
		width := 1
		if src[end] == '\r' && end+1 < len(src) && src[end+1] == '\n' {
			width = 2
		}
		lines = append(lines, line{start, end, string(src[end : end+width])})
		start = end + width
	}
	return lines
}

// logical is a line put together from continued ones, with the place every
// part comes from.
type logical struct {
	text  []byte
	parts []part
}

type part struct{ at, src int }

func (l *logical) source(i int) int {
	src := 0
	for _, p := range l.parts {
		if p.at > i {
			break
		}
		src = p.src + i - p.at
	}
	return src
}

// continues says whether a line ends with a backslash that is not itself
// escaped.
func continues(text []byte) bool {
	n := len(text) - len(bytes.TrimRight(text, `\`))
	return n%2 == 1
}

func trim(text []byte, start, end int) (int, int) {
	for start < end && strings.IndexByte(blanks, text[start]) >= 0 {
		start++
	}
	for end > start && strings.IndexByte(blanks, text[end-1]) >= 0 {
		end--
	}
	return start, end
}
