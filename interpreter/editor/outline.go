package editor

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/syntax"
)

// outline is the structure of a text as its tokens show it. Text that does not
// parse has one too.
type outline struct {
	tokens   hclsyntax.Tokens // without comments
	comments []span
	root     *node
}

// node is a block, or the whole text.
type node struct {
	kind   string
	labels []label
	parent *node
	// at is the name of its type, open and close the braces; close is the end of
	// the text where it is missing.
	at          span
	open, close int
	attrs       []*attr
	blocks      []*node
}

// label is a label of a block; at is the text between its quotes.
type label struct {
	text   string
	at     span
	quoted bool
}

// attr is an argument: its name, and where its value is written.
type attr struct {
	name      string
	at, value span
	// first and last are the tokens of the value, the end left out.
	first, last int
}

// label is the first label, "" when there is none.
func (n *node) label() string {
	if len(n.labels) == 0 {
		return ""
	}
	return n.labels[0].text
}

func (n *node) attr(name string) *attr {
	for _, a := range n.attrs {
		if a.name == name {
			return a
		}
	}
	return nil
}

// blockAt is the innermost block whose braces an offset stands between.
func (n *node) blockAt(at int) *node {
	for _, b := range n.blocks {
		if b.open < at && at <= b.close {
			return b.blockAt(at)
		}
	}
	return n
}

// attrAt is the argument whose value or name an offset stands in, nil if none.
func (n *node) attrAt(at int) *attr {
	for _, a := range n.attrs {
		if a.at.from <= at && at <= a.value.to {
			return a
		}
	}
	return nil
}

// each visits the block and those in it.
func (n *node) each(visit func(*node)) {
	visit(n)
	for _, b := range n.blocks {
		b.each(visit)
	}
}

func newOutline(name string, text []byte) *outline {
	o := &outline{root: &node{open: -1, close: len(text)}}
	for _, tok := range syntax.Tokens(name, text) {
		if tok.Type != hclsyntax.TokenComment {
			o.tokens = append(o.tokens, tok)
			continue
		}
		at := bytesOf(tok)
		if n := len(tok.Bytes); n > 0 && tok.Bytes[n-1] == '\n' { // a comment to the end of the line ends it
			at.to--
			o.tokens = append(o.tokens, hclsyntax.Token{Type: hclsyntax.TokenNewline, Range: tok.Range})
		}
		o.comments = append(o.comments, at)
	}
	b := &builder{outline: o, at: o.root, balanced: balanced(o.tokens)}
	for b.next < len(o.tokens) {
		b.item()
	}
	return o
}
