package lint

import (
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/syntax"
)

// Hole stands in a text for what is not known without a host, or secret.
const Hole = '\uE000'

// Text is a text that a recipe makes, with the place of every byte of it in the
// recipe or in an asset.
type Text struct {
	Text string
	// Whole says that nothing in it is unknown; Secret that something in it is
	// sensitive.
	Whole, Secret bool
	// Literal says that it stands in the recipe or in an asset as it is.
	Literal bool
	// Asset is the name of the asset that it is, "" for others.
	Asset  string
	pieces []piece
	at     hcl.Range
}

// piece is a part of a text. With a source it stands there byte for byte, else
// it comes from what is at rng.
type piece struct {
	at, size int
	source   *syntax.Positions
	asset    bool // the source is an asset
	from     int
	rng      hcl.Range
}

// Holes says whether s holds something that is not known.
func Holes(s string) bool { return strings.ContainsRune(s, Hole) }

// Range is where a part of the text is written.
func (t Text) Range(from, to int) hcl.Range {
	if len(t.pieces) == 0 {
		return t.at
	}
	first, last := t.piece(from), t.piece(max(from, to-1))
	if first == last && first.source != nil {
		at := first.from + from - first.at
		return first.source.Span(at, at+max(0, to-from))
	}
	start, end := first.span(from, from), last.span(max(from, to-1), to)
	if start.Filename != end.Filename {
		return start
	}
	return hcl.RangeBetween(start, end)
}

func (t Text) piece(at int) *piece {
	i := sort.Search(len(t.pieces), func(i int) bool { return t.pieces[i].at > at })
	return &t.pieces[max(0, i-1)]
}

func (p *piece) span(from, to int) hcl.Range {
	if p.source == nil {
		return p.rng
	}
	return p.source.Span(p.from+from-p.at, p.from+to-p.at)
}

// At is where the whole text is written: the expression that makes it.
func (t Text) At() hcl.Range { return t.at }

// Editable says that a part of the text stands in the recipe byte for byte, so
// that a fix may replace it.
func (t Text) Editable(from, to int) bool {
	if len(t.pieces) == 0 || t.Asset != "" {
		return false
	}
	p := t.piece(from)
	return p.source != nil && p == t.piece(max(from, to-1)) && !p.asset
}
