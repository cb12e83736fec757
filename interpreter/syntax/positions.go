package syntax

import "github.com/hashicorp/hcl/v2"

// Positions turns byte offsets of a text into ranges, for tools that find
// things by offset. Columns count what a reader sees as one character.
type Positions struct{ l *locator }

// NewPositions indexes a text; name is the filename of its ranges.
func NewPositions(name string, text []byte) Positions { return Positions{newLocator(name, text)} }

// Span is the range between two offsets; offsets past the end are the end.
func (p Positions) Span(from, to int) hcl.Range { return p.l.span(from, to) }

// Text is the text between two offsets that lie in it.
func (p Positions) Text(from, to int) []byte { return p.l.text[from:to] }
