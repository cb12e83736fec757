package syntax

import (
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// items walks the attributes and blocks of a broken text and parses each alone,
// so that a fault in one hides no fault in the next. (The parser of HCL falls
// silent after its first.)
type items struct {
	m      *mender
	tokens hclsyntax.Tokens
	brackets
	diags hcl.Diagnostics
	// headless is set when a block header without a brace was just reported.
	headless bool
}

// review finds the faults of a text that did not parse: those mended, the
// brackets without a partner, and the first fault of every item. parsed is
// what the parser said of the text as a whole.
func (m *mender) review(parsed hcl.Diagnostics) hcl.Diagnostics {
	w := &items{m: m, tokens: m.tokens, brackets: matchBrackets(m.tokens)}
	m.mended = merge(m.mended)
	w.body(0)
	diags := append(hcl.Diagnostics{}, m.faults...)
	diags = append(diags, w.faults(m.tokens, m.cut)...)
	diags = append(diags, openDirectives(m.tokens)...)
	diags = append(diags, w.diags...)
	for _, diag := range parsed {
		if diag.Summary == "Attribute redefined" {
			diags = append(diags, diag)
		}
	}
	if !diags.HasErrors() {
		diags = parsed
	}
	return diags
}

// body walks the items from token i on, up to the brace that closes the body,
// or the end. It returns the index after it.
func (w *items) body(i int) int {
	for {
		switch tok := w.tokens[i]; {
		case tok.Type == hclsyntax.TokenEOF:
			return i
		case tok.Type == hclsyntax.TokenCBrace && !w.stray[i]:
			return i + 1
		case tok.Type == hclsyntax.TokenNewline, tok.Type == hclsyntax.TokenComment, w.stray[i]:
			i++
		default:
			i = w.item(i)
		}
	}
}

// item walks one item that begins at token i and returns the index after it.
func (w *items) item(i int) int {
	if w.headless && w.tokens[i].Type == hclsyntax.TokenOBrace && !w.unclosed[i] {
		w.headless = false
		return w.body(i + 1) // its header stands on the line before
	}
	w.headless = false
	brace := w.blockBrace(i)
	if brace < 0 || (!w.unclosed[brace] && !endsLine(w.tokens[brace+1]) && w.tokens[brace+1].Type != hclsyntax.TokenCBrace) {
		return w.leaf(i)
	}
	w.parse(i, brace, "}\n")
	if w.unclosed[brace] {
		return brace + 1
	}
	end := w.body(brace + 1)
	if next := w.tokens[end]; !endsLine(next) && next.Type != hclsyntax.TokenEOF && !w.stray[end] {
		w.diags = append(w.diags, fault(next.Range, "Missing newline after block",
			"Nothing may follow the closing brace of a block on its line."))
		return w.endOfLine(end)
	}
	return end
}

// blockBrace is the brace that opens the body of the block at i, -1 if the
// item is no block.
func (w *items) blockBrace(i int) int {
	if end := w.blockEnd(i); w.tokens[end].Type == hclsyntax.TokenOBrace {
		return end
	}
	return -1
}

// blockEnd is the first token from i on that cannot stand in a block header.
func (w *items) blockEnd(i int) int {
	for ; ; i++ {
		switch w.tokens[i].Type {
		case hclsyntax.TokenIdent, hclsyntax.TokenOQuote, hclsyntax.TokenQuotedLit, hclsyntax.TokenCQuote,
			hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateSeqEnd:
		default:
			return i
		}
	}
}

// leaf parses an item that holds no items on lines of their own.
func (w *items) leaf(i int) int {
	end, whole := i, true
	for depth := 0; ; end++ {
		tok := w.tokens[end]
		_, opens := closerOf(tok.Type)
		switch {
		case tok.Type == hclsyntax.TokenEOF, depth == 0 && endsLine(tok):
			if whole {
				w.parse(i, end, "")
			}
			w.headless = w.blockEnd(i) == end
			return w.resume(end, whole)
		case w.unclosed[end] || w.stray[end]:
			whole = false
		case opens:
			depth++
		case closes(tok.Type) && depth > 0:
			depth--
		case tok.Type == hclsyntax.TokenCBrace && end > i: // closes the body that the item stands in
			w.parse(i, end-1, "\n")
			return end
		case closes(tok.Type): // closes what an earlier item left open
			whole = false
		}
	}
}

// resume is where the next item begins. After a bracket that never closes,
// lines that look like the rest of a list are passed over.
func (w *items) resume(end int, whole bool) int {
	for !whole && endsLine(w.tokens[end]) {
		next := w.tokens[end+1].Type
		if next == hclsyntax.TokenIdent || next == hclsyntax.TokenCBrace || next == hclsyntax.TokenEOF {
			break
		}
		end = w.endOfLine(end + 1)
	}
	return end
}

func (w *items) endOfLine(i int) int {
	for !endsLine(w.tokens[i]) && w.tokens[i].Type != hclsyntax.TokenEOF {
		i++
	}
	return i
}

func endsLine(tok hclsyntax.Token) bool {
	return tok.Type == hclsyntax.TokenNewline ||
		tok.Type == hclsyntax.TokenComment && tok.Bytes[len(tok.Bytes)-1] == '\n'
}

// parse parses the text of tokens from to to, both included, with a text
// appended, and keeps what is no consequence of an earlier fault.
func (w *items) parse(from, to int, tail string) {
	start, end := w.tokens[from].Range.Start, w.tokens[to].Range.End.Byte
	if w.m.touched(span{start.Byte, end}) {
		return
	}
	text := append(append([]byte{}, w.m.text[start.Byte:end]...), tail...)
	_, diags := hclsyntax.ParseConfig(text, w.m.file.Name, start)
	w.diags = append(w.diags, first(diags)...)
}

// touched says that a part of the text was mended; mended is in order.
func (m *mender) touched(s span) bool {
	i := sort.Search(len(m.mended), func(i int) bool { return m.mended[i].to > s.from })
	return i < len(m.mended) && m.mended[i].from < s.to
}

// merge brings the mended parts in order and joins those that overlap.
func merge(spans []span) []span {
	sort.Slice(spans, func(i, j int) bool { return spans[i].from < spans[j].from })
	var out []span
	for _, s := range spans {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// first leaves the faults that stand for themselves: all of the scanner's and
// all in string literals, else the parser's first.
func first(diags hcl.Diagnostics) hcl.Diagnostics {
	var own, rest hcl.Diagnostics
	scanned := false
	for _, diag := range diags {
		switch diag.Summary {
		case "Invalid escape sequence":
			own = append(own, diag)
		case "Invalid character", "Unsupported operator":
			own = append(own, diag)
			scanned = true
		case "Unexpected end of template": // see openDirectives
		default:
			rest = append(rest, diag)
		}
	}
	if len(rest) > 0 && !scanned {
		own = append(own, rest[0])
	}
	return own
}
