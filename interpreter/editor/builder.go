package editor

import "github.com/hashicorp/hcl/v2/hclsyntax"

// builder reads the tokens from left to right.
type builder struct {
	*outline
	at   *node
	next int
	// balanced says that every bracket closes, so that the margin says nothing.
	balanced bool
}

// balanced says that brackets close what they open.
func balanced(tokens hclsyntax.Tokens) bool {
	var open []hclsyntax.TokenType
	for _, tok := range tokens {
		switch tok.Type {
		case hclsyntax.TokenOBrace:
			open = append(open, hclsyntax.TokenCBrace)
		case hclsyntax.TokenOBrack:
			open = append(open, hclsyntax.TokenCBrack)
		case hclsyntax.TokenOParen:
			open = append(open, hclsyntax.TokenCParen)
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen:
			if len(open) == 0 || open[len(open)-1] != tok.Type {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}

func (b *builder) is(i int, t hclsyntax.TokenType) bool {
	return i < len(b.tokens) && b.tokens[i].Type == t
}

func (b *builder) item() {
	switch tok := b.tokens[b.next]; {
	case tok.Type == hclsyntax.TokenCBrace && b.at.parent != nil:
		b.at.close = tok.Range.Start.Byte
		b.at = b.at.parent
		b.next++
	case tok.Type == hclsyntax.TokenIdent && b.is(b.next+1, hclsyntax.TokenEqual):
		b.attr()
	case tok.Type == hclsyntax.TokenIdent:
		if end := b.header(b.next); end > 0 {
			b.block(end)
			return
		}
		b.skipLine()
	case tok.Type == hclsyntax.TokenNewline:
		b.next++
	default:
		b.skipLine()
	}
}

// header is the token of the brace that opens the block whose header starts at
// token i, 0 when there is none.
func (b *builder) header(i int) int {
	for i++; i < len(b.tokens); i++ {
		switch b.tokens[i].Type {
		case hclsyntax.TokenOBrace:
			return i
		case hclsyntax.TokenIdent, hclsyntax.TokenOQuote, hclsyntax.TokenQuotedLit, hclsyntax.TokenCQuote:
		default:
			return 0
		}
	}
	return 0
}

func (b *builder) block(brace int) {
	head := b.tokens[b.next]
	if head.Range.Start.Column == 1 && !b.balanced { // a block that starts a line at the margin is not inside another
		for b.at.parent != nil {
			b.at.close = head.Range.Start.Byte - 1
			b.at = b.at.parent
		}
	}
	n := &node{kind: string(head.Bytes), parent: b.at, at: bytesOf(head), open: b.tokens[brace].Range.Start.Byte, close: b.root.close}
	for i := b.next + 1; i < brace; i++ {
		switch tok := b.tokens[i]; tok.Type {
		case hclsyntax.TokenIdent:
			n.labels = append(n.labels, label{string(tok.Bytes), bytesOf(tok), false})
		case hclsyntax.TokenOQuote:
			n.labels = append(n.labels, b.quoted(i))
		}
	}
	b.at.blocks = append(b.at.blocks, n)
	b.at, b.next = n, brace+1
}

// quoted is the label whose opening quote is token i.
func (b *builder) quoted(i int) label {
	l := label{at: span{b.tokens[i].Range.End.Byte, b.tokens[i].Range.End.Byte}, quoted: true}
	if b.is(i+1, hclsyntax.TokenQuotedLit) {
		lit := b.tokens[i+1]
		l.at = bytesOf(lit)
		l.text = unquote(string(lit.Bytes))
	}
	return l
}

func (b *builder) attr() {
	name := b.tokens[b.next]
	first := b.next + 2
	b.next = first
	b.value()
	a := &attr{name: string(name.Bytes), at: bytesOf(name), first: first, last: b.next}
	a.value = span{b.tokens[first-1].Range.End.Byte, b.tokens[first-1].Range.End.Byte}
	if b.next > first {
		a.value = span{b.tokens[first].Range.Start.Byte, b.tokens[b.next-1].Range.End.Byte}
	}
	b.at.attrs = append(b.at.attrs, a)
}

// value goes to the end of a value: a newline outside of brackets, or what
// cannot be part of it.
func (b *builder) value() {
	depth := 0
	for ; b.next < len(b.tokens); b.next++ {
		switch tok := b.tokens[b.next]; tok.Type {
		case hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOBrace, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc,
			hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			if depth--; depth < 0 {
				return
			}
		case hclsyntax.TokenNewline:
			if depth == 0 || b.restarts(b.next+1) {
				return
			}
		case hclsyntax.TokenEOF:
			return
		}
	}
}

// restarts says that a block starts at the margin at token i: whatever is open
// before it was never closed.
func (b *builder) restarts(i int) bool {
	return !b.balanced && b.is(i, hclsyntax.TokenIdent) && b.tokens[i].Range.Start.Column == 1 && b.header(i) > 0
}

func (b *builder) skipLine() {
	for start := b.next; b.next < len(b.tokens); b.next++ {
		t := b.tokens[b.next].Type
		if t == hclsyntax.TokenNewline || t == hclsyntax.TokenCBrace && b.next > start {
			return
		}
	}
}

func bytesOf(tok hclsyntax.Token) span { return span{tok.Range.Start.Byte, tok.Range.End.Byte} }
