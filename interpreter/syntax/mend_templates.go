package syntax

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// shellForm is a parameter expansion, shellComment one that the scanner takes
// for a comment.
var (
	shellForm = regexp.MustCompile(`^(` +
		`#(\w+|[@*])(\[[^\]]*\])?` + // length
		`|!\w+(\*|@|\[[@*]\])` + // indirect
		`|[@?$!*-]` + // special parameters
		`|(\w+(\[[^\]]*\])?|[@*?])(:?[-+=?]|:[ 0-9$]|##?|%%?|//?|\^\^?|,,?|@[A-Za-z]$).*` +
		`|\w+\[@\]` +
		`)$`)
	shellComment = regexp.MustCompile(`^(#|[\w@*?]+(\[[^\]]*\])?(#|//))`)
)

// shellReference finds what is a parameter of a shell and no expression of
// this language: ${X:-d}, ${X##*/}, ${#X}, ${X[@]}.
func (m *mender) shellReference(tok hclsyntax.Token) *repair {
	from := tok.Range.Start.Byte
	end := closingBrace(m.text, from)
	if end < 0 || !isShell(m.text[from+2:end]) {
		return nil
	}
	text := m.written(from, end+1)
	return &repair{
		fault: fault(m.rng(from, end+1), "Shell syntax in template", fmt.Sprintf(
			"In strings and heredocs ${ begins an expression of this language. To write %s itself, "+
				"double the dollar sign: $%s.", short(text), short(text))),
		erase: span{from, end + 1}, with: underscores(end + 1 - from), derails: true,
	}
}

// isShell says that the inside of ${…} is certainly meant for a shell: it has
// the form of a parameter expansion and means nothing here.
func isShell(inner []byte) bool {
	if !shellForm.Match(inner) {
		return false
	}
	if shellComment.Match(inner) {
		return true // the scanner would see a comment
	}
	_, diags := ParseExpression("", inner)
	return diags.HasErrors()
}

// foreignDirective finds a %{ that begins no directive, as in the formats of
// curl or rpm.
func (m *mender) foreignDirective(i int) *repair {
	given := word(m.tokens, i+1)
	directives := []string{"if", "else", "endif", "for", "endfor"}
	if slices.Contains(directives, given) {
		return nil
	}
	from, to := m.tokens[i].Range.Start.Byte, m.tokens[i].Range.End.Byte
	if end := closingBrace(m.text, from); end >= 0 {
		to = end + 1
	}
	text := short(m.written(from, to))
	detail := fmt.Sprintf("In strings and heredocs %%{ begins a directive: if, else, endif, for or endfor. "+
		"To write %s itself, double the percent sign: %%%s.", text, text)
	if near := Suggest(given, directives); near != "" {
		detail += fmt.Sprintf(" Or did you mean %s?", near)
	}
	return &repair{
		fault: fault(m.rng(from, to), "Invalid template directive", detail),
		erase: span{from, to}, with: underscores(to - from), derails: true,
	}
}

// closingBrace is the offset of the } that closes the { after the character
// at from, on the same line; -1 if there is none.
func closingBrace(text []byte, from int) int {
	depth := 0
	for i := from + 1; i < len(text) && text[i] != '\n'; i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func underscores(n int) string { return string(bytes.Repeat([]byte("_"), n)) }

// short cuts a text that is quoted in a message.
func short(text string) string {
	runes := []rune(text)
	if len(runes) <= 40 {
		return text
	}
	return string(runes[:39]) + "…"
}
