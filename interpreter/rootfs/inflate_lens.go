package rootfs

import "fmt"

// setFixed makes the codes of blocks that have none of their own.
func (d *inflater) setFixed() error {
	if d.fixed {
		return nil
	}
	for i := range maxLiterals {
		switch {
		case i < 144:
			d.lens[i] = 8
		case i < 256:
			d.lens[i] = 9
		case i < 280:
			d.lens[i] = 7
		default:
			d.lens[i] = 8
		}
	}
	if err := d.lit.build(d.lens[:maxLiterals], literalBits, litSymbol); err != nil {
		return err
	}
	for i := range maxDistances {
		d.lens[i] = 5
	}
	d.fixed = true
	return d.dist.build(d.lens[:maxDistances], distBits, distSymbol)
}

// readCodes reads the codes of a block with its own.
func (d *inflater) readCodes() error {
	lits, dists, lens := d.take(5)+257, d.take(5)+1, d.take(4)+4
	if lits > 286 || dists > 30 {
		return fmt.Errorf("%w: too many symbols", errDeflate)
	}
	var of [19]uint8
	order := [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	for i, sym := range order[:lens] {
		if i == 12 {
			if err := d.need(); err != nil {
				return err
			}
		}
		of[sym] = uint8(d.take(3))
	}
	// The table of literals is free until the end.
	if err := d.lit.build(of[:], 7, func(sym int) uint32 { return isLiteral | uint32(sym)<<16 }); err != nil {
		return err
	}
	if err := d.readLens(lits + dists); err != nil {
		return err
	}
	if d.lens[endOfBlock] == 0 {
		return fmt.Errorf("%w: a block without an end", errDeflate)
	}
	if err := d.lit.build(d.lens[:lits], literalBits, litSymbol); err != nil {
		return err
	}
	return d.dist.build(d.lens[lits:lits+dists], distBits, distSymbol)
}

// readLens reads the lengths of the codes of n symbols.
func (d *inflater) readLens(n int) error {
	for i := 0; i < n; {
		if err := d.need(); err != nil {
			return err
		}
		e := d.lit.table[d.bits&(1<<7-1)]
		if e&isLiteral == 0 {
			return fmt.Errorf("%w: the codes of a block", errDeflate)
		}
		d.take(uint(e & 0xff))
		sym := uint8(e >> 16)
		if sym < 16 {
			d.lens[i] = sym
			i++
			continue
		}
		value, times := uint8(0), 0
		switch sym {
		case 16:
			if i == 0 {
				return fmt.Errorf("%w: the codes of a block", errDeflate)
			}
			value, times = d.lens[i-1], 3+d.take(2)
		case 17:
			times = 3 + d.take(3)
		default:
			times = 11 + d.take(7)
		}
		if i+times > n {
			return fmt.Errorf("%w: the codes of a block", errDeflate)
		}
		for range times {
			d.lens[i] = value
			i++
		}
	}
	return nil
}
