package lint

import (
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
)

func isString(v cty.Value) bool {
	return v.IsKnown() && !v.IsNull() && v.Type() == cty.String
}

// aligned finds every byte of a literal in its source, which may have
// indentation that was taken off and escapes. It is false, and adds nothing,
// when they do not match.
func (b *builder) aligned(s string, from, to int) bool {
	source := b.pass.File.Bytes
	mark, text := len(b.text.pieces), b.text.Text
	start, at := from, from // start is that of the run that is the same in both
	for i := 0; i < len(s); {
		h := b.compare(source[at:to], s[i:])
		if h.same {
			i, at = i+1, at+1
			continue
		}
		if h.source == 0 {
			b.text.pieces, b.text.Text = b.text.pieces[:mark], text
			return false
		}
		b.verbatim(&b.pass.positions, start, at)
		if h.text > 0 {
			b.opaque(s[i:i+h.text], b.pass.Span(at, at+h.source))
		}
		i, at = i+h.text, at+h.source
		start = at
	}
	b.verbatim(&b.pass.positions, start, at)
	return true
}

// heads is how the head of a source stands for the head of a text: one byte
// that is the same, or so many bytes of each; none of the source when they do
// not match.
type heads struct {
	same         bool
	source, text int
}

func (b *builder) compare(source []byte, s string) heads {
	switch {
	case len(source) == 0:
		return heads{}
	case b.quoted && source[0] == '\\' && len(source) > 1:
		_, n := utf8.DecodeRuneInString(s)
		return heads{source: min(escapeWidth(source[1]), len(source)), text: n}
	case doubled(source) && len(s) > 1 && s[0] == source[0] && s[1] == '{':
		return heads{source: 1}
	case source[0] == s[0]:
		return heads{same: true}
	case source[0] == ' ' || source[0] == '\t':
		return heads{source: 1} // indentation
	}
	return heads{}
}

// doubled says whether a source begins with $${ or %%{, which stand for ${ and
// %{.
func doubled(source []byte) bool {
	return len(source) > 2 && (source[0] == '$' || source[0] == '%') && source[1] == source[0] && source[2] == '{'
}

func escapeWidth(letter byte) int {
	switch letter {
	case 'u':
		return 6
	case 'U':
		return 10
	}
	return 2
}
