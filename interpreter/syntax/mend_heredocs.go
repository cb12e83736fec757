package syntax

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// opener is a heredoc opener that the scanner did not take for one.
type opener struct {
	start              int // offset of <<
	dash, tag          string
	gap, quote, blanks string
	rest               string
}

// heredocOpener finds a << that opens no heredoc because something stands
// where nothing may: a blank after the tag, quotes, a comment, a bracket.
func (m *mender) heredocOpener(i int) *repair {
	at := m.tokens[i].Range.Start.Byte
	if m.text[at+1] != '<' {
		return nil
	}
	o, ok := m.readOpener(at)
	if !ok {
		return nil
	}
	closer := m.findTag(lineEnd(m.text, o.start), o.tag)
	if o.gap+o.quote+o.rest == "" {
		return m.blankAfterOpener(o)
	}
	if closer.to == 0 && (o.gap != "" || o.quote != "") {
		return nil // perhaps meant as a shift
	}
	end := o.start + len("<<") + len(o.dash+o.gap+o.tag) + 2*len(o.quote)
	return &repair{
		fault: m.openerFault(o),
		erase: span{o.start, end}, with: "x", derails: true,
		also: span{lineEnd(m.text, o.start), closer.to},
	}
}

func (m *mender) readOpener(at int) (opener, bool) {
	line := m.text[at:lineEnd(m.text, at)]
	parts := regexp.MustCompile(`^<<(-?)([ \t]*)(["']?)([\pL_][\pL\pN_-]*)(["']?)([ \t]*)(.*)$`).FindSubmatch(line)
	if parts == nil || !bytes.Equal(parts[3], parts[5]) {
		return opener{}, false
	}
	s := func(i int) string { return string(parts[i]) }
	return opener{start: at, dash: s(1), gap: s(2), quote: s(3), tag: s(4), blanks: s(6), rest: s(7)}, true
}

// blankAfterOpener reports the blank and moves it in front of the opener.
func (m *mender) blankAfterOpener(o opener) *repair {
	end := lineEnd(m.text, o.start)
	if o.blanks == "" {
		return nil
	}
	return &repair{
		fault: fault(m.rng(end-len(o.blanks), end), "Blank after heredoc opener", fmt.Sprintf(
			"Nothing may follow the tag on the line that opens a heredoc, not even a blank. Remove what follows <<%s%s.",
			o.dash, o.tag)),
		erase: span{o.start, end}, with: o.blanks + "<<" + o.dash + o.tag, derails: true,
	}
}

func (m *mender) openerFault(o opener) *hcl.Diagnostic {
	end := o.start + len(bytes.TrimRight(m.text[o.start:lineEnd(m.text, o.start)], " \t"))
	want := "<<" + o.dash + o.tag
	detail := fmt.Sprintf("Nothing may follow %s on its line. Move what follows to the line after the closing %s.", want, o.tag)
	switch {
	case o.quote != "":
		detail = fmt.Sprintf("The tag of a heredoc is not quoted: write %s. The text is always a template: "+
			"${ is written $${ and %%{ is written %%%%{ where they are meant literally.", want)
	case o.gap != "":
		detail = fmt.Sprintf("No blank may stand between << and the tag: write %s.", want)
	case strings.HasPrefix(o.rest, "#") || strings.HasPrefix(o.rest, "//"):
		detail = fmt.Sprintf("Nothing may follow %s on its line, not even a comment. Move it to the line above.", want)
	}
	return fault(m.rng(o.start, end), "Invalid heredoc opener", detail)
}

// findTag finds the next line after an offset that holds only the tag.
func (m *mender) findTag(after int, tag string) span {
	re := regexp.MustCompile(`(?m)^[ \t]*` + regexp.QuoteMeta(tag) + `[ \t]*$`)
	loc := re.FindIndex(m.text[after:])
	if loc == nil {
		return span{}
	}
	return span{after + loc[0], after + loc[1]}
}

// neverClosed is called at the end of the text with what is still open.
func (m *mender) neverClosed(open []int) *repair {
	for k, i := range open {
		tok := m.tokens[i]
		switch {
		case k+1 < len(open) && opensTemplate(m.tokens[open[k+1]]):
			return m.unclosedTemplate(tok, m.tokens[open[k+1]])
		case tok.Type == hclsyntax.TokenOHeredoc:
			if inner, ok := m.swallowsTag(i); ok {
				return m.unclosedTemplate(tok, inner)
			}
			return m.unclosedHeredoc(tok)
		case tok.Type == hclsyntax.TokenOQuote:
			return m.unterminated(tok.Range.Start.Byte)
		}
	}
	return nil
}

// swallowsTag is the template sequence in the heredoc opened by token i that
// goes on over the line that would close the heredoc: its } is somebody else's.
func (m *mender) swallowsTag(i int) (inner hclsyntax.Token, ok bool) {
	tag := strings.Trim(string(m.tokens[i].Bytes), "<-\n")
	from := m.tokens[i].Range.End.Byte
	closer := regexp.MustCompile(`(?m)^[ \t]*` + regexp.QuoteMeta(tag) + `[ \t]*$`).FindIndex(m.text[from:])
	if closer == nil {
		return inner, false
	}
	depth := 0
	for _, tok := range m.tokens[i+1:] {
		if tok.Range.Start.Byte >= from+closer[0] {
			break
		}
		switch {
		case opensTemplate(tok):
			if depth++; depth == 1 {
				inner = tok
			}
		case tok.Type == hclsyntax.TokenTemplateSeqEnd:
			depth--
		}
	}
	return inner, depth > 0
}

// unclosedHeredoc reports a heredoc without a closing tag, at its opener, and
// says which line looks as if it were meant to close it.
func (m *mender) unclosedHeredoc(tok hclsyntax.Token) *repair {
	from := tok.Range.Start.Byte
	tag := strings.Trim(string(tok.Bytes), "<-\n")
	end := tok.Range.End.Byte - 1
	fix := &repair{erase: span{from, end}, with: "x", derails: true}
	detail := fmt.Sprintf("No line after this holds only %s, which would close the heredoc.", tag)
	near := regexp.MustCompile(`(?mi)^[ \t]*` + regexp.QuoteMeta(tag) + `\b`).FindIndex(m.text[end:])
	if near == nil {
		fix.also, fix.cut = span{end, len(m.text)}, true
	} else {
		fix.also = span{end, end + near[1]}
		line := strings.Count(string(m.text[:fix.also.to]), "\n") + 1
		detail += fmt.Sprintf(" Line %d holds more than the tag, or writes it differently: the tag must stand alone.", line)
	}
	fix.fault = fault(m.rng(from, end), "Unclosed heredoc", detail)
	return fix
}
