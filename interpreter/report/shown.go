package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Shown returns a writer to a terminal. What hosts say, such as names and lines
// of files, may hold characters that command a terminal: they are shown and not
// obeyed. The colours of a Pen and the line that a Progress takes back pass.
func Shown(w io.Writer) io.Writer { return shown{w} }

type shown struct{ to io.Writer }

// eraseLine goes back to the start of a line and empties it.
const eraseLine = "\r\x1b[K"

// Write writes all of b, or says why not.
func (s shown) Write(b []byte) (int, error) {
	if string(b) == eraseLine {
		return s.to.Write(b)
	}
	var out bytes.Buffer
	for rest := b; len(rest) > 0; {
		if n := ownColor(rest); n > 0 {
			out.Write(rest[:n])
			rest = rest[n:]
			continue
		}
		r, n := utf8.DecodeRune(rest)
		if commands(r) {
			fmt.Fprintf(&out, "\\x%02x", r)
		} else {
			out.Write(rest[:n])
		}
		rest = rest[n:]
	}
	if _, err := s.to.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// commands says whether a terminal does something at the character beyond
// showing it. A character of the direction of writing is one.
func commands(r rune) bool {
	return r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// ownColor is the length of the change of color that b begins with, if it is
// one of a Pen's.
func ownColor(b []byte) int {
	for _, c := range slices.Concat([]string{"0"}, colors()) {
		if code := "\x1b[" + c + "m"; bytes.HasPrefix(b, []byte(code)) {
			return len(code)
		}
	}
	return 0
}

func colors() []string { return []string{bold, faint, red, green, yellow, magenta, cyan} }
