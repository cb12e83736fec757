package rootfs

import (
	"fmt"
	"math/bits"
)

// The alphabets of DEFLATE.
const (
	maxLiterals  = 288
	maxDistances = 32
	maxCodeLen   = 15
	endOfBlock   = 256
)

// code is a prefix code as a table: the next bits of input select an entry
// that says all about the symbol. Symbols with codes longer than root bits
// have tables of their own, which the entry for their first root bits points
// to.
//
// An entry's lowest byte is how many bits it takes. A literal has isLiteral
// set and its value in bits 16 to 23. A length or distance has its base value
// in bits 16 to 30 and in bits 8 to 11 how many of the bits are code: the
// others are added to the base. What has isOther set is one of: a table, whose
// index is in bits 16 to 30 and whose number of bits is in bits 8 to 11; the
// end of a block; or, with neither, no symbol at all.
type code struct {
	root  uint
	table [tableSize]uint32
}

// tableSize is more than any code needs (1 << 11 and the tables of its longer
// symbols), and a power of two, so that a masked index needs no check.
const tableSize = 1 << 12

const (
	isLiteral   = 1 << 31
	isOther     = 1 << 15
	isTable     = 1 << 14
	isEnd       = 1 << 13
	literalBits = 11
	distBits    = 8
)

// litSymbols and distSymbols are the entries of all symbols without the length
// of the code: base<<16 | extra bits.
func litSymbol(sym int) uint32 {
	switch {
	case sym < endOfBlock:
		return isLiteral | uint32(sym)<<16
	case sym == endOfBlock:
		return isOther | isEnd
	case sym < 265:
		return uint32(sym-254) << 16
	case sym < 285:
		extra := uint32(sym-261) / 4
		return (3+(4+uint32(sym-261)%4)<<extra)<<16 | extra
	case sym == 285:
		return maxMatch << 16
	}
	return isOther
}

func distSymbol(sym int) uint32 {
	switch {
	case sym < 4:
		return uint32(sym+1) << 16
	case sym < 30:
		extra := uint32(sym-2) / 2
		return (1+(2+uint32(sym)%2)<<extra)<<16 | extra
	}
	return isOther
}

// entry is a symbol's entry with a code of that many bits; low of them, which
// a table before has taken, do not count.
func entry(symbol uint32, length, low int) uint32 {
	n := uint32(length - low)
	if symbol&(isLiteral|isOther) != 0 {
		return symbol | n
	}
	return symbol + n<<8 + n
}

// build makes the table of the code whose symbols have codes of these lengths;
// 0 for symbols that do not occur.
func (c *code) build(lens []uint8, root int, symbol func(int) uint32) error {
	var count [maxCodeLen + 1]int
	for _, l := range lens {
		count[l]++
	}
	longest, err := checkCode(&count)
	if err != nil {
		return err
	}
	c.root = uint(root)
	if longest <= 1 {
		// Codes with one symbol or none do not use all bits.
		for i := range 1 << root {
			c.table[i] = isOther | 1
		}
	}
	var at [maxCodeLen + 2]int
	for l := 1; l <= maxCodeLen; l++ {
		at[l+1] = at[l] + count[l]
	}
	var sorted [maxLiterals]uint16
	for sym, l := range lens {
		if l != 0 {
			sorted[at[l]] = uint16(sym)
			at[l]++
		}
	}
	c.enter(sorted[:at[maxCodeLen]], lens, &count, symbol)
	return nil
}

// checkCode says how long the longest code is. A code must use all bits unless
// it has one symbol or none.
func checkCode(count *[maxCodeLen + 1]int) (longest int, err error) {
	left := 1
	for l := 1; l <= maxCodeLen; l++ {
		if left = left<<1 - count[l]; left < 0 {
			return 0, fmt.Errorf("%w: a code has too many symbols", errDeflate)
		}
		if count[l] > 0 {
			longest = l
		}
	}
	if left > 0 && longest > 1 {
		return 0, fmt.Errorf("%w: a code is not complete", errDeflate)
	}
	return longest, nil
}

// enter enters symbols, sorted by the length of their codes.
func (c *code) enter(sorted []uint16, lens []uint8, count *[maxCodeLen + 1]int, symbol func(int) uint32) {
	root := int(c.root)
	next, free := 0, 1<<root // the next code, and the first index that is free
	length := 0
	prefix, table, size := -1, 0, 0
	for _, sym := range sorted {
		for l := int(lens[sym]); length < l; length++ {
			next <<= 1
		}
		reversed := int(bits.Reverse16(uint16(next)) >> (16 - length))
		next++
		if length <= root {
			fillEvery(c.table[:1<<root], reversed, 1<<length, entry(symbol(int(sym)), length, 0))
			count[length]--
			continue
		}
		if low := reversed & (1<<root - 1); low != prefix {
			prefix, table = low, free
			size = subBits(count, length, root)
			free += 1 << size
			c.table[low] = uint32(table)<<16 | isOther | isTable | uint32(size)<<8 | uint32(root)
		}
		fillEvery(c.table[table:table+1<<size], reversed>>root, 1<<(length-root), entry(symbol(int(sym)), length, root))
		count[length]--
	}
}

// subBits is how many bits the table needs whose first symbol has a code of
// that length, of which count are left.
func subBits(count *[maxCodeLen + 1]int, length, root int) int {
	left := 1 << (length - root)
	for l := length; ; l++ {
		if left -= count[l]; left <= 0 || l == maxCodeLen {
			return l - root
		}
		left <<= 1
	}
}

func fillEvery(table []uint32, first, step int, e uint32) {
	for i := first; i < len(table); i += step {
		table[i] = e
	}
}
