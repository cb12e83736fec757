package syntax

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// mendWork bounds the bytes that are read again while faults are mended.
const mendWork = 4 << 20

// mender finds the faults that throw the scanner off its track, such as a
// string that never ends, and replaces them in a copy of the text by something
// harmless of the same length. What the scanner and the parser then say about
// the rest is true.
type mender struct {
	file   *File
	text   []byte // file.Bytes, mended; offsets agree
	tokens hclsyntax.Tokens
	faults hcl.Diagnostics
	mended []span
	// cut is set when the rest of the text was given up, so that what is open
	// at its end says nothing.
	cut bool
}

// span is a range of bytes.
type span struct{ from, to int }

// repair is a fault and what to do about it.
type repair struct {
	fault *hcl.Diagnostic
	// erase is overwritten by blanks, beginning with the text with.
	erase span
	with  string
	// derails says that tokens after this one cannot be trusted.
	derails bool
	// also is a second part to overwrite by blanks.
	also span
	// cut says that the text is erased to its end.
	cut bool
}

func newMender(file *File, tokens hclsyntax.Tokens) *mender {
	return &mender{file: file, text: bytes.Clone(file.Bytes), tokens: tokens}
}

// mend repairs until nothing is left to repair. What it returns has errors
// only if the text had better not be parsed at all.
func (m *mender) mend() hcl.Diagnostics {
	for rounds := 3 + mendWork/(len(m.text)+1); m.pass(); rounds-- {
		if rounds == 0 {
			return m.faults
		}
		m.tokens, _ = hclsyntax.LexConfig(m.text, m.file.Name, hcl.InitialPos)
		if diags := checkLimits(m.tokens); diags.HasErrors() {
			return append(m.faults, diags...)
		}
	}
	return nil
}

// pass looks for faults in the tokens from left to right, up to the first that
// makes the tokens after it worthless. It returns whether it found any.
func (m *mender) pass() bool {
	var open []int // tokens that open a string, heredoc or template sequence
	found, next := false, 0
	for i, tok := range m.tokens {
		if tok.Range.Start.Byte < next && tok.Type != hclsyntax.TokenEOF {
			continue
		}
		fix := m.find(i, open)
		if fix == nil {
			open = track(open, m.tokens, i)
			continue
		}
		m.apply(fix)
		if fix.derails {
			return true
		}
		found, next = true, fix.erase.to
	}
	return found
}

func (m *mender) find(i int, open []int) *repair {
	switch tok := m.tokens[i]; tok.Type {
	case hclsyntax.TokenQuotedNewline:
		return m.brokenString(i, open)
	case hclsyntax.TokenTemplateInterp:
		return m.shellReference(tok)
	case hclsyntax.TokenTemplateControl:
		return m.foreignDirective(i)
	case hclsyntax.TokenLessThan:
		return m.heredocOpener(i)
	case hclsyntax.TokenSlash:
		return m.unclosedComment(i)
	case hclsyntax.TokenNumberLit:
		return m.numberSuffix(i)
	case hclsyntax.TokenApostrophe, hclsyntax.TokenBacktick:
		return m.foreignQuotes(tok)
	case hclsyntax.TokenInvalid:
		return m.invalidCharacter(tok, open)
	case hclsyntax.TokenEOF:
		return m.neverClosed(open)
	}
	return nil
}

func (m *mender) apply(fix *repair) {
	m.faults = append(m.faults, fix.fault)
	m.mended = append(m.mended, fix.erase)
	m.cut = m.cut || fix.cut
	m.blank(fix.erase)
	copy(m.text[fix.erase.from:fix.erase.to], fix.with)
	if fix.also.to > fix.also.from {
		m.mended = append(m.mended, fix.also)
		m.blank(fix.also)
	}
}

// blank overwrites all but newlines.
func (m *mender) blank(s span) {
	for i := s.from; i < s.to; i++ {
		if m.text[i] != '\n' {
			m.text[i] = ' '
		}
	}
}

// track keeps the stack of tokens that open something the scanner is in.
func track(open []int, tokens hclsyntax.Tokens, i int) []int {
	switch tok := tokens[i]; tok.Type {
	case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return append(open, i)
	case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
		if n := len(open); n > 0 {
			if closer, _ := closerOf(tokens[open[n-1]].Type); closer == tok.Type {
				return open[:n-1]
			}
		}
	}
	return open
}

// rng is a range of which only the offsets count: place finds the positions.
func (m *mender) rng(from, to int) hcl.Range {
	return hcl.Range{
		Filename: m.file.Name,
		Start:    hcl.Pos{Line: 1, Column: 1, Byte: from},
		End:      hcl.Pos{Line: 1, Column: 1, Byte: to},
	}
}

// written is the text of a range as it was written.
func (m *mender) written(from, to int) string { return string(m.file.Bytes[from:to]) }
