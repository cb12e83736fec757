package syntax

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// MaxNesting is how many brackets, blocks, templates and template directives
// may be open at one place.
const MaxNesting = 200

// MaxOperators is how many operators, indexes and conditionals may stand in
// one expression, those it is nested in counted too. The parser and the
// evaluator recurse for each.
const MaxOperators = 1000

// checkLimits refuses token streams that would exhaust the stack of the parser
// or the evaluator. It does not care whether brackets match.
func checkLimits(tokens hclsyntax.Tokens) hcl.Diagnostics {
	var h height
	for i, tok := range tokens {
		h.take(tokens, i)
		switch {
		case len(h.levels) > MaxNesting:
			return hcl.Diagnostics{fault(tok.Range, "Nested too deeply", fmt.Sprintf(
				"More than %d brackets, blocks and templates are open here. Close some, or move parts into locals.",
				MaxNesting))}
		case h.total > MaxOperators:
			return hcl.Diagnostics{fault(tok.Range, "Expression too long", fmt.Sprintf(
				"More than %d operators stand in one expression here. Split it with locals.", MaxOperators))}
		}
	}
	return nil
}

// height measures how deep a recursive parser would be.
type height struct {
	levels []level
	base   int // operators outside of all brackets
	total  int // operators of base and all levels
}

// level is one open bracket or directive.
type level struct {
	closer    hclsyntax.TokenType // directive: 0
	lines     bool                // a newline ends an expression here
	operators int
}

const directive hclsyntax.TokenType = 0

// closerOf is the token that closes what t opens.
func closerOf(t hclsyntax.TokenType) (closer hclsyntax.TokenType, opens bool) {
	switch t {
	case hclsyntax.TokenOParen:
		return hclsyntax.TokenCParen, true
	case hclsyntax.TokenOBrack:
		return hclsyntax.TokenCBrack, true
	case hclsyntax.TokenOBrace:
		return hclsyntax.TokenCBrace, true
	case hclsyntax.TokenOQuote:
		return hclsyntax.TokenCQuote, true
	case hclsyntax.TokenOHeredoc:
		return hclsyntax.TokenCHeredoc, true
	case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return hclsyntax.TokenTemplateSeqEnd, true
	}
	return 0, false
}

func closes(t hclsyntax.TokenType) bool {
	switch t {
	case hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace, hclsyntax.TokenCQuote,
		hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
		return true
	}
	return false
}

func (h *height) take(tokens hclsyntax.Tokens, i int) {
	tok := tokens[i]
	if closer, opens := closerOf(tok.Type); opens {
		if tok.Type == hclsyntax.TokenOBrack {
			h.operator() // it may be an index
		}
		if tok.Type == hclsyntax.TokenTemplateControl {
			h.directive(word(tokens, i+1))
		}
		h.levels = append(h.levels, level{closer: closer, lines: tok.Type == hclsyntax.TokenOBrace && !opensFor(tokens, i)})
		return
	}
	if closes(tok.Type) {
		h.close(tok.Type)
		return
	}
	switch tok.Type {
	case hclsyntax.TokenComma:
		h.reset()
	case hclsyntax.TokenNewline, hclsyntax.TokenComment:
		h.newline(tok)
	case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit,
		hclsyntax.TokenEqual, hclsyntax.TokenEOF:
	default:
		h.operator()
	}
}

// directive counts %{if} and %{for} as levels that stay open until %{endif}
// and %{endfor}: their parser recurses, although their brackets do not nest.
func (h *height) directive(word string) {
	switch word {
	case "if", "for":
		h.levels = append(h.levels, level{closer: directive})
	case "endif", "endfor":
		if n := len(h.levels); n > 0 && h.levels[n-1].closer == directive {
			h.pop(n - 1)
		}
	}
}

func (h *height) operator() {
	h.total++
	if n := len(h.levels); n > 0 {
		h.levels[n-1].operators++
	} else {
		h.base++
	}
}

// close closes the innermost bracket if it is of that kind, and directives
// left open in it. A bracket that does not match closes nothing: counting too
// much is safe.
func (h *height) close(closer hclsyntax.TokenType) {
	n := len(h.levels)
	for n > 0 && h.levels[n-1].closer == directive {
		n--
	}
	if n > 0 && h.levels[n-1].closer == closer {
		h.pop(n - 1)
	}
}

// pop leaves the first n levels.
func (h *height) pop(n int) {
	for _, l := range h.levels[n:] {
		h.total -= l.operators
	}
	h.levels = h.levels[:n]
}

// opensFor says that the brace at i begins a for expression, which goes on
// across lines.
func opensFor(tokens hclsyntax.Tokens, i int) bool {
	for i++; i < len(tokens); i++ {
		if t := tokens[i].Type; t != hclsyntax.TokenNewline && t != hclsyntax.TokenComment {
			break
		}
	}
	return word(tokens, i) == "for"
}

// newline starts a new expression in the braces of a body or an object and
// outside of all brackets; in others expressions go on across lines.
func (h *height) newline(tok hclsyntax.Token) {
	if tok.Bytes[len(tok.Bytes)-1] != '\n' {
		return
	}
	if n := len(h.levels); n == 0 || h.levels[n-1].lines {
		h.reset()
	}
}

// reset forgets the operators of the innermost level.
func (h *height) reset() {
	operators := &h.base
	if n := len(h.levels); n > 0 {
		operators = &h.levels[n-1].operators
	}
	h.total -= *operators
	*operators = 0
}

// word is the identifier at i, "" if there is none.
func word(tokens hclsyntax.Tokens, i int) string {
	if i < len(tokens) && tokens[i].Type == hclsyntax.TokenIdent {
		return string(tokens[i].Bytes)
	}
	return ""
}
