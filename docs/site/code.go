package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// highlight renders code: recipes with what their tokens are, sessions with the
// commands standing out.
func highlight(language, text string) string {
	switch language {
	case "hcl":
		return highlightHCL(text)
	case "console":
		return highlightConsole(text)
	}
	return html.EscapeString(text)
}

func highlightHCL(text string) string {
	var out strings.Builder
	at := 0
	tokens, _ := hclsyntax.LexConfig([]byte(text), "", hcl.InitialPos)
	for i, tok := range tokens {
		from, to := tok.Range.Start.Byte, tok.Range.End.Byte
		class := classOf(tokens, i)
		for class == "c" && to > from && to <= len(text) && text[to-1] == '\n' {
			to--
		}
		if class == "" || from < at || to > len(text) || to <= from {
			continue
		}
		out.WriteString(html.EscapeString(text[at:from]))
		fmt.Fprintf(&out, "<span class=\"%s\">%s</span>", class, html.EscapeString(text[from:to]))
		at = to
	}
	return out.String() + html.EscapeString(text[at:])
}

// classOf is how a token is shown, "" as it is.
func classOf(tokens hclsyntax.Tokens, i int) string {
	next := func(t hclsyntax.TokenType) bool { return i+1 < len(tokens) && tokens[i+1].Type == t }
	switch tokens[i].Type {
	case hclsyntax.TokenComment:
		return "c"
	case hclsyntax.TokenOQuote, hclsyntax.TokenCQuote, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenOHeredoc, hclsyntax.TokenCHeredoc:
		return "s"
	case hclsyntax.TokenNumberLit:
		return "n"
	case hclsyntax.TokenIdent:
		if next(hclsyntax.TokenOBrace) || next(hclsyntax.TokenOQuote) {
			return "k"
		}
		if next(hclsyntax.TokenOParen) {
			return "f"
		}
	}
	return ""
}

func highlightConsole(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = html.EscapeString(line)
		if strings.HasPrefix(line, "$ ") {
			lines[i] = `<span class="p">` + html.EscapeString(line) + `</span>`
		}
	}
	return strings.Join(lines, "\n")
}
