package syntax

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// invalidCharacter finds characters that the language does not use.
func (m *mender) invalidCharacter(tok hclsyntax.Token, open []int) *repair {
	n := len(open)
	if n > 0 && m.tokens[open[n-1]].Type == hclsyntax.TokenOQuote {
		return nil // a backslash at the end of a line: the string is reported
	}
	if n > 1 && strings.HasPrefix(string(m.text[tok.Range.Start.Byte:]), "${") {
		return m.unclosedTemplate(m.tokens[open[n-2]], m.tokens[open[n-1]])
	}
	if strings.ContainsAny(string(tok.Bytes), "“”„‘’") {
		return m.foreignQuotes(tok)
	}
	return m.oddCharacter(tok)
}

// oddCharacter reports one character, and swallows a run of the same.
func (m *mender) oddCharacter(tok hclsyntax.Token) *repair {
	from := tok.Range.Start.Byte
	r, size := utf8.DecodeRune(m.text[from:])
	to := from + size
	for strings.HasPrefix(string(m.text[to:min(to+size, len(m.text))]), string(r)) {
		to += size
	}
	return &repair{
		fault: fault(m.rng(from, from+size), "Invalid character", characterAdvice(r)),
		erase: span{from, to},
	}
}

func characterAdvice(r rune) string {
	name := fmt.Sprintf("U+%04X", r)
	switch {
	case r == '$':
		return "A $ has a meaning only in strings and templates. A variable is read as var.NAME, without $."
	case r == '\'' || r == '`':
		return "Strings are written in straight double quotes."
	case unicode.IsSpace(r) || unicode.Is(unicode.Cf, r):
		return fmt.Sprintf("This is the invisible character %s. Remove it, or type an ordinary blank.", name)
	case unicode.IsPrint(r):
		return fmt.Sprintf("The character %q (%s) is not used in the language outside of strings and comments.", r, name)
	}
	return fmt.Sprintf("The control character %s is not used in the language. Remove it.", name)
}

// unclosedComment finds a /* that has no */.
func (m *mender) unclosedComment(i int) *repair {
	from := m.tokens[i].Range.Start.Byte
	if m.text[from+1] != '*' {
		return nil
	}
	return &repair{
		fault: fault(m.rng(from, from+2), "Unclosed comment", "This comment has no closing */."),
		erase: span{from, len(m.text)}, derails: true, cut: true,
	}
}

// hugeNumber is a number that would fill the memory once written out.
var hugeNumber = regexp.MustCompile(`[eE][-+]?[0-9]{4,}$`)

// numberSuffix finds numbers that go on with letters, and those out of range.
func (m *mender) numberSuffix(i int) *repair {
	from, next := m.tokens[i].Range.Start.Byte, m.tokens[i+1]
	if tok := m.tokens[i]; hugeNumber.Match(tok.Bytes) {
		return &repair{
			fault: fault(m.rng(from, tok.Range.End.Byte), "Invalid number", "The exponent of this number has more than three digits."),
			erase: span{from, tok.Range.End.Byte}, with: "0",
		}
	}
	if next.Type != hclsyntax.TokenIdent || next.Range.Start.Byte != m.tokens[i].Range.End.Byte {
		return nil
	}
	to := next.Range.End.Byte
	for strings.ContainsRune("0123456789.", rune(m.text[to])) {
		to++
	}
	text := m.written(from, to)
	return &repair{
		fault: fault(m.rng(from, to), "Invalid number", numberAdvice(text)),
		erase: span{from, to}, with: "0",
	}
}

func numberAdvice(text string) string {
	octal := regexp.MustCompile(`^0[oO]0*([0-7]{1,4})$`).FindStringSubmatch(text)
	switch {
	case octal != nil:
		return fmt.Sprintf("Numbers are decimal. A file mode is a string of octal digits: write \"%s\".",
			strings.Repeat("0", max(0, 4-len(octal[1])))+octal[1])
	case regexp.MustCompile(`^0[xXbBoO][0-9a-fA-F]+$`).MatchString(text):
		if n, err := strconv.ParseUint(text, 0, 64); err == nil {
			return fmt.Sprintf("Numbers are decimal: write %d.", n)
		}
	case regexp.MustCompile(`^[0-9.]+(ns|us|ms|s|m|h)([0-9.]+(ns|us|ms|s|m|h))*$`).MatchString(text):
		return fmt.Sprintf("A duration is a string: write \"%s\".", text)
	}
	return fmt.Sprintf("A number holds no letters, and a name does not begin with a digit. If this is text, write \"%s\".", text)
}
