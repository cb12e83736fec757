package editor

import (
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// cursor is a place in a document, as far as text before it tells: what comes
// after may be broken while somebody writes.
type cursor struct {
	*document
	at int
	in *node
	body
	// known says that the block is in the language.
	known bool
	// attr is the argument whose value is written here, nil at a name; written is
	// the value up to here.
	attr    *attr
	written string
	// literal says that it is inside a string or heredoc, heredoc that it is the
	// latter.
	literal, heredoc bool
}

func (d *document) cursor(at int) *cursor {
	at = max(0, min(at, len(d.clean)))
	c := &cursor{document: d, at: at, in: d.outline().root.blockAt(at)}
	c.body, c.known = d.grammar.of(c.in)
	for _, a := range c.in.attrs {
		from := d.afterEqual(a)
		if at < from || strings.ContainsRune(d.text.text(span{max(from, a.value.to), at}), '\n') {
			continue
		}
		c.attr, c.written = a, d.text.text(span{from, at})
	}
	if c.attr != nil {
		c.literal, c.heredoc = inLiteral(c.written)
	}
	return c
}

// afterEqual is the offset after an argument's equals sign.
func (d *document) afterEqual(a *attr) int {
	return a.at.to + strings.IndexByte(string(d.clean[a.at.to:]), '=') + 1
}

// inLiteral says whether the end of a text stands in a string or a heredoc.
func inLiteral(written string) (literal, heredoc bool) {
	tokens, _ := hclsyntax.LexConfig([]byte(written), "", hcl.InitialPos)
	var open []hclsyntax.TokenType
	for _, tok := range tokens {
		switch tok.Type {
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			open = append(open, tok.Type)
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			open = open[:max(0, len(open)-1)]
		}
	}
	if len(open) == 0 {
		return false, false
	}
	last := open[len(open)-1]
	return last == hclsyntax.TokenOQuote || last == hclsyntax.TokenOHeredoc, last == hclsyntax.TokenOHeredoc
}

// prefix is the part of a name before the cursor.
func (c *cursor) prefix() span {
	s := span{c.at, c.at}
	for s.from > 0 && nameByte(c.clean[s.from-1]) {
		s.from--
	}
	return s
}

// quotedPrefix is what stands between a quote and the cursor.
func (c *cursor) quotedPrefix() span {
	return span{c.line(c.at).from + strings.LastIndexByte(c.text.text(span{c.line(c.at).from, c.at}), '"') + 1, c.at}
}

// path are the names of the reference that is written before the cursor, the one
// at the cursor, which may be empty, left out.
func (c *cursor) path() []string {
	before := strings.TrimSuffix(c.written, c.text.text(c.prefix()))
	if !strings.HasSuffix(before, ".") {
		return nil
	}
	match := regexp.MustCompile(`([A-Za-z_][\w-]*(?:\.[\w-]+|\["[^"\n]*"\])*)\.$`).FindStringSubmatch(before)
	if match == nil {
		return []string{""} // after a dot of something else
	}
	return namesIn(match[1])
}

// indexed is the block type before ["… at the cursor, with the names before it.
func (c *cursor) indexed() []string {
	match := regexp.MustCompile(`([A-Za-z_][\w-]*(?:\.[\w-]+|\["[^"\n]*"\])*)\["[^"\n]*$`).FindStringSubmatch(c.written)
	if match == nil {
		return nil
	}
	return namesIn(match[1])
}

// namesIn are the names of a reference.
func namesIn(reference string) (list []string) {
	for _, m := range regexp.MustCompile(`\["([^"]*)"\]|[\w-]+`).FindAllStringSubmatch(reference, -1) {
		if m[1] != "" || strings.HasPrefix(m[0], "[") {
			list = append(list, unquote(m[1]))
			continue
		}
		list = append(list, m[0])
	}
	return list
}
