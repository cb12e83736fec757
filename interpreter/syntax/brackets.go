package syntax

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// brackets says which brackets of a token stream have no partner.
type brackets struct {
	unclosed map[int]bool // openers, by token index
	stray    map[int]bool // closers
}

// matchBrackets pairs the brackets of all kinds.
func matchBrackets(tokens hclsyntax.Tokens) brackets {
	b := brackets{unclosed: map[int]bool{}, stray: map[int]bool{}}
	var open, suspects []int
	for i, tok := range tokens {
		if _, opens := closerOf(tok.Type); opens {
			open = append(open, i)
			continue
		}
		if !closes(tok.Type) {
			continue
		}
		k := partner(tokens, open, tok.Type)
		if k < 0 {
			b.stray[i] = true
			continue
		}
		if k < len(open)-1 {
			b.unclosed[open[len(open)-1]] = true
		} else if misaligned(tokens, open[k], i) {
			suspects = append(suspects, open[k])
		}
		open = open[:k]
	}
	b.blame(open, suspects)
	return b
}

// blame decides which openers lack a closer, of those open at the end. A
// missing brace lets the braces after it close the wrong blocks: the first
// block whose braces do not stand below each other is the one to blame.
func (b brackets) blame(open, suspects []int) {
	for n := len(open); n > 0; n-- {
		if len(suspects) > 0 {
			b.unclosed[suspects[0]] = true
			suspects = suspects[1:]
		} else {
			b.unclosed[open[n-1]] = true
		}
	}
}

// partner is the place in the stack of openers of the innermost one that the
// closer fits, -1 if there is none.
func partner(tokens hclsyntax.Tokens, open []int, closer hclsyntax.TokenType) int {
	for k := len(open) - 1; k >= 0; k-- {
		if c, _ := closerOf(tokens[open[k]].Type); c == closer {
			return k
		}
	}
	return -1
}

// misaligned says that a closing brace begins its line, but in another column
// than the line of its opener, which is another line.
func misaligned(tokens hclsyntax.Tokens, opener, closer int) bool {
	if tokens[closer].Type != hclsyntax.TokenCBrace || tokens[firstOfLine(tokens, closer)].Range != tokens[closer].Range {
		return false
	}
	a, b := tokens[firstOfLine(tokens, opener)].Range.Start, tokens[closer].Range.Start
	return a.Line != b.Line && a.Column != b.Column
}

func firstOfLine(tokens hclsyntax.Tokens, i int) int {
	for i > 0 && tokens[i-1].Range.Start.Line == tokens[i].Range.Start.Line {
		i--
	}
	return i
}

// faults are the diagnostics of brackets without a partner.
func (b brackets) faults(tokens hclsyntax.Tokens, cut bool) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i, tok := range tokens {
		switch {
		case b.unclosed[i] && !cut:
			closer, _ := closerOf(tok.Type)
			what := bracketName(tokens, i)
			diags = append(diags, fault(tok.Range, "Unclosed "+what, fmt.Sprintf(
				"The %s that opens here has no closing %s.", what, closerText(closer))))
		case b.stray[i]:
			diags = append(diags, fault(tok.Range, "Nothing to close", fmt.Sprintf(
				"This %s closes nothing: no %s is open here.", closerText(tok.Type), openerText(tok.Type))))
		}
	}
	return diags
}

func closerText(t hclsyntax.TokenType) string {
	switch t {
	case hclsyntax.TokenCParen, hclsyntax.TokenCBrack:
		return string(rune(t))
	case hclsyntax.TokenCQuote:
		return `"`
	}
	return "}"
}

func openerText(t hclsyntax.TokenType) string {
	return strings.NewReplacer(")", "(", "]", "[", "}", "{").Replace(closerText(t))
}

func bracketName(tokens hclsyntax.Tokens, i int) string {
	switch tokens[i].Type {
	case hclsyntax.TokenOParen:
		return "parenthesis"
	case hclsyntax.TokenOBrack:
		return "bracket"
	case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return "template"
	}
	if i > 0 {
		if t := tokens[i-1].Type; t == hclsyntax.TokenIdent || t == hclsyntax.TokenCQuote {
			return "block"
		}
	}
	return "brace"
}

// openDirectives finds the %{ if and %{ for that are still open at the end of
// their string or heredoc.
func openDirectives(tokens hclsyntax.Tokens) hcl.Diagnostics {
	var diags hcl.Diagnostics
	var open []int // quotes, heredoc openers and directives
	for i, tok := range tokens {
		switch tok.Type {
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			open = append(open, i)
		case hclsyntax.TokenTemplateControl:
			open = directiveStack(open, tokens, i)
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			for len(open) > 0 {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				if tokens[last].Type != hclsyntax.TokenTemplateControl {
					break
				}
				keyword := word(tokens, last+1)
				diags = append(diags, fault(hcl.RangeBetween(tokens[last].Range, tokens[last+1].Range), "Unclosed directive",
					fmt.Sprintf("This %%{%s has no %%{end%s} in the same string or heredoc.", keyword, keyword)))
			}
		}
	}
	return diags
}

func directiveStack(open []int, tokens hclsyntax.Tokens, i int) []int {
	switch word(tokens, i+1) {
	case "if", "for":
		return append(open, i)
	case "endif", "endfor":
		if n := len(open); n > 0 && tokens[open[n-1]].Type == hclsyntax.TokenTemplateControl {
			return open[:n-1]
		}
	}
	return open
}
