package editor

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The types of semantic tokens, in the order of the legend.
const (
	colorKeyword = iota
	colorType
	colorProperty
	colorVariable
	colorFunction
	colorString
	colorNumber
	colorComment
	colorOperator
	colorNamespace
)

// legend names the types of semantic tokens, and modifiers the first modifier.
func legend() []string {
	return []string{"keyword", "type", "property", "variable", "function", "string", "number", "comment", "operator", "namespace"}
}

const modifierDeclaration = 1

func modifiers() []string { return []string{"declaration"} }

// colored is a part of the text and what it is.
type colored struct {
	at             span
	kind, modifier uint32
}

// colors are the semantic tokens of a document.
func (s *Service) colors(d *document) SemanticTokens {
	if d.kind() == kindOther {
		return SemanticTokens{[]uint32{}}
	}
	list := append(d.ofStructure(), d.ofValues()...)
	for _, at := range d.outline().comments {
		list = append(list, colored{at, colorComment, 0})
	}
	slices.SortStableFunc(list, func(a, b colored) int { return a.at.from - b.at.from })
	return SemanticTokens{d.encode(list)}
}

// ofStructure are block types, labels and the names of arguments.
func (d *document) ofStructure() (list []colored) {
	d.outline().root.each(func(n *node) {
		if n.parent != nil {
			kind := uint32(colorKeyword)
			if d.grammar.vocab.Type(n.kind) != nil {
				kind = colorType
			}
			list = append(list, colored{n.at, kind, 0})
			for _, l := range n.labels {
				list = append(list, colored{l.at, colorString, modifierDeclaration})
			}
		}
		for _, a := range n.attrs {
			list = append(list, colored{a.at, colorProperty, 0})
		}
	})
	return list
}

// ofValues are the tokens of values.
func (d *document) ofValues() (list []colored) {
	o := d.outline()
	roots := map[int]uint32{}
	for _, r := range d.names().refs {
		for i, p := range r.parts {
			roots[p.at.from] = d.colorOf(r, i)
		}
	}
	o.root.each(func(n *node) {
		for _, a := range n.attrs {
			for i := a.first; i < a.last; i++ {
				if kind, ok := colorOfToken(o.tokens, i, roots); ok {
					list = append(list, colored{bytesOf(o.tokens[i]), kind, 0})
				}
			}
		}
	})
	return list
}

// colorOf is the kind of one name of a reference.
func (d *document) colorOf(r reference, i int) uint32 {
	root := r.parts[0].text
	switch {
	case i == 0 && len(r.parts) == 1 && slices.Contains([]string{"true", "false", "null", "for", "in", "if", "else", "endif", "endfor"}, root):
		return colorKeyword
	case i == 0 && len(r.parts) == 1:
		return colorProperty
	case i == 0 && d.grammar.vocab.Type(root) != nil:
		return colorType
	case i == 0:
		return colorNamespace
	case r.parts[i].quoted:
		return colorString
	case i == 1 && root != "host" && root != "each" && root != "self":
		return colorVariable
	}
	return colorProperty
}

func colorOfToken(tokens hclsyntax.Tokens, i int, roots map[int]uint32) (uint32, bool) {
	switch tok := tokens[i]; tok.Type {
	case hclsyntax.TokenIdent:
		if i+1 < len(tokens) && tokens[i+1].Type == hclsyntax.TokenOParen {
			return colorFunction, true
		}
		kind, ok := roots[tok.Range.Start.Byte]
		return kind, ok
	case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
		return colorString, true
	case hclsyntax.TokenNumberLit:
		return colorNumber, true
	case hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenBang, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenQuestion,
		hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenFatArrow, hclsyntax.TokenEllipsis:
		return colorOperator, true
	}
	return 0, false
}

// encode writes tokens as the protocol has them: five numbers each, relative to
// the one before, none over the end of its line and none over another.
func (d *document) encode(list []colored) []uint32 {
	data := []uint32{}
	var last Position
	end := 0
	for _, c := range list {
		if c.at.from < end {
			continue
		}
		end = max(end, c.at.to)
		for _, line := range d.splitLines(c.at) {
			from, to := d.position(line.from), d.position(line.to)
			if from.Line != to.Line || to.Character <= from.Character {
				continue
			}
			column := from.Character
			if from.Line == last.Line {
				column -= last.Character
			}
			data = append(data, uint32(from.Line-last.Line), uint32(column), uint32(to.Character-from.Character), c.kind, c.modifier)
			last = from
		}
	}
	return data
}

// splitLines are the parts of a span, line by line, line ends left out.
func (d *document) splitLines(s span) (list []span) {
	for s.from < s.to {
		end := min(s.to, d.line(s.from).to)
		if end > s.from {
			list = append(list, span{s.from, end})
		}
		s.from = end + 1
	}
	return list
}
