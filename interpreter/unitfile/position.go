package unitfile

import (
	"sort"
	"unicode/utf8"
)

// Pos is a place in a unit file.
type Pos struct {
	Line   int // from 1
	Column int // in characters, from 1
	Byte   int // from 0
}

// Range is a piece of a unit file; End is the place after its last character.
type Range struct{ Start, End Pos }

// index finds lines in a text.
type index struct {
	src    []byte
	starts []int // byte offsets of line starts
}

func newIndex(src []byte, lines []line) index {
	x := index{src: src}
	for _, l := range lines {
		x.starts = append(x.starts, l.start)
	}
	return x
}

func (x index) pos(offset int) Pos {
	n := sort.SearchInts(x.starts, offset+1)
	if n == 0 {
		return Pos{Line: 1, Column: 1, Byte: offset}
	}
	start := x.starts[n-1]
	return Pos{Line: n, Column: utf8.RuneCount(x.src[start:offset]) + 1, Byte: offset}
}

func (x index) span(start, end int) Range { return Range{x.pos(start), x.pos(end)} }
