package syntax

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// brokenString is called for a newline inside a quoted string: the string, or
// a template sequence in it, was not closed on its line.
func (m *mender) brokenString(i int, open []int) *repair {
	newline := m.tokens[i].Range.Start
	if fix := m.brokenTemplate(newline, open); fix != nil {
		return fix
	}
	if len(open) == 0 {
		return nil
	}
	quote := m.tokens[open[len(open)-1]].Range.Start
	if end, ok := m.multiline(i); ok && quote.Line == newline.Line {
		return &repair{
			fault: fault(m.rng(quote.Byte, newline.Byte), "Invalid multi-line string",
				"A quoted string ends on its line. For text of several lines use a heredoc "+
					"(<<EOF, the lines, EOF), or write \\n for a line end."),
			erase: span{quote.Byte, end}, with: "x", derails: true,
		}
	}
	if quote.Line != newline.Line {
		return m.overLines(open[len(open)-1])
	}
	return m.unterminated(quote.Byte)
}

// overLines is the fault of a string at token i that goes on over lines,
// which only a template sequence makes possible: one that closes too late.
func (m *mender) overLines(i int) *repair {
	quote := m.tokens[i]
	for k := i + 1; m.tokens[k].Range.Start.Line == quote.Range.Start.Line; k++ {
		if opensTemplate(m.tokens[k]) {
			return m.unclosedTemplate(quote, m.tokens[k])
		}
	}
	return m.unterminated(quote.Range.Start.Byte)
}

// brokenTemplate finds a ${ or %{ on the line of newline that was not closed
// there, in a string or heredoc.
func (m *mender) brokenTemplate(newline hcl.Pos, open []int) *repair {
	for k := 0; k+1 < len(open); k++ {
		outer, inner := m.tokens[open[k]], m.tokens[open[k+1]]
		if inner.Range.Start.Line != newline.Line || !opensTemplate(inner) {
			continue
		}
		return m.unclosedTemplate(outer, inner)
	}
	return nil
}

func opensTemplate(tok hclsyntax.Token) bool {
	return tok.Type == hclsyntax.TokenTemplateInterp || tok.Type == hclsyntax.TokenTemplateControl
}

// unclosedTemplate is the fault of a template sequence inside outer, a quote
// or a heredoc opener.
func (m *mender) unclosedTemplate(outer, inner hclsyntax.Token) *repair {
	from, to := inner.Range.Start.Byte, inner.Range.End.Byte
	mark := m.written(from, from+2)
	fix := &repair{
		fault: fault(m.rng(from, to), "Unclosed template", fmt.Sprintf(
			"This %s has no closing }. To write %s itself, double its first character: %s%s.",
			mark, mark, mark[:1], mark)),
		erase: span{from, to}, with: "__", derails: true,
	}
	if outer.Type == hclsyntax.TokenOQuote {
		fix.erase, fix.with = m.restOfString(outer.Range.Start.Byte), "x"
	}
	return fix
}

func (m *mender) unterminated(quote int) *repair {
	return &repair{
		fault: fault(m.rng(quote, lineEnd(m.text, quote)), "Unterminated string",
			"This string has no closing \" on its line. A \" inside a string is written \\\"."),
		erase: m.restOfString(quote), with: "x", derails: true,
	}
}

// restOfString is the part of a line that belongs to an unterminated string:
// all but the brackets that end the line.
func (m *mender) restOfString(quote int) span {
	rest := m.text[quote:lineEnd(m.text, quote)]
	return span{quote, quote + max(1, len(bytes.TrimRight(rest, " \t,)]}{")))}
}

// multiline decides whether the string that the newline at i stands in was
// meant to go on: it closes later, where a value may end, and no line of it
// looks like a part of the recipe. It returns the offset after the closing
// quote.
func (m *mender) multiline(i int) (int, bool) {
	from := m.tokens[i].Range.Start.Byte
	for ; i+1 < len(m.tokens); i++ {
		switch tok := m.tokens[i]; tok.Type {
		case hclsyntax.TokenCQuote:
			end := tok.Range.End.Byte
			return end, endsValue(m.tokens[i+1].Type) && !holdsItem(m.text[from:end])
		case hclsyntax.TokenQuotedLit, hclsyntax.TokenQuotedNewline:
		default:
			return 0, false
		}
	}
	return 0, false
}

func endsValue(t hclsyntax.TokenType) bool {
	return t == hclsyntax.TokenNewline || t == hclsyntax.TokenComma || closes(t)
}

func holdsItem(text []byte) bool {
	item := regexp.MustCompile(`(?m)^\s*(\w[\w-]*\s+=\s|\w[\w-]*(\s+("[^"]*"|\w[\w-]*))*\s*\{\s*$|\}\s*$)`)
	return item.Match(text)
}

// foreignQuotes finds strings in single quotes, backticks or curly quotes.
func (m *mender) foreignQuotes(tok hclsyntax.Token) *repair {
	from := tok.Range.Start.Byte
	line := m.text[from:lineEnd(m.text, from)]
	_, size := utf8.DecodeRune(line)
	closer := strings.IndexAny(string(line[size:]), closingQuotes(string(tok.Bytes)))
	if closer < 0 {
		return m.oddCharacter(tok)
	}
	end := from + size + closer
	text := m.written(from+size, end)
	_, last := utf8.DecodeRune(m.text[end:])
	detail := "Strings are written in straight double quotes."
	if !strings.ContainsAny(text, `"\`) && len(text) < 60 {
		detail = fmt.Sprintf("Strings are written in straight double quotes: \"%s\".", text)
	}
	return &repair{
		fault: fault(m.rng(from, end+last), "Invalid quotes", detail),
		erase: span{from, end + last}, with: "x", derails: true,
	}
}

func closingQuotes(opener string) string {
	if opener == "'" || opener == "`" {
		return opener
	}
	return "“”„‘’"
}
