package rootfs

import (
	"encoding/binary"
	"fmt"
	"io"
)

// codes decodes symbols until the block ends or the window is full.
func (d *inflater) codes() error {
	for d.in1 == inCodes && d.w < len(d.win)-slack {
		if err := d.fill(); err != nil {
			return err
		}
		if err := d.run(); err != nil {
			return err
		}
	}
	d.unread()
	if d.pos > d.end {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// run decodes symbols until the block ends, the window is full or input is
// needed. The state is in variables of its own while it runs.
func (d *inflater) run() error {
	in, win := d.in, d.win
	pos, w := d.pos, d.w
	bits, n := d.bits, d.n
	inEnd, outEnd := d.end-margin, len(win)-slack
	if d.eof {
		inEnd = d.end + padding - margin
	}
	lit, dist := &d.lit.table, &d.dist.table
	var err error
	for pos <= inEnd && w < outEnd {
		bits |= binary.LittleEndian.Uint64(in[pos:pos+8]) << (n & 63)
		pos += int((63 - n) >> 3)
		n |= 56
		e := lit[bits&(1<<literalBits-1)]
		// Three literals take at most 33 of 56 bits.
		if int32(e) < 0 {
			bits >>= e & 63
			n -= uint(e & 63)
			win[w] = byte(e >> 16)
			w++
			e = lit[bits&(1<<literalBits-1)]
			if int32(e) < 0 {
				bits >>= e & 63
				n -= uint(e & 63)
				win[w] = byte(e >> 16)
				w++
				e = lit[bits&(1<<literalBits-1)]
				if int32(e) < 0 {
					bits >>= e & 63
					n -= uint(e & 63)
					win[w] = byte(e >> 16)
					w++
					continue
				}
			}
			bits |= binary.LittleEndian.Uint64(in[pos:pos+8]) << (n & 63)
			pos += int((63 - n) >> 3)
			n |= 56
		}
		if e&isOther != 0 {
			if e&isTable != 0 {
				bits >>= literalBits
				n -= literalBits
				e = lit[(e>>16+uint32(bits)&(1<<(e>>8&15)-1))&(tableSize-1)]
				if int32(e) < 0 {
					bits >>= e & 63
					n -= uint(e & 63)
					win[w] = byte(e >> 16)
					w++
					continue
				}
			}
			if e&isOther != 0 {
				bits >>= e & 63
				n -= uint(e & 63)
				if e&isEnd == 0 {
					err = fmt.Errorf("%w: an unknown symbol", errDeflate)
				}
				d.in1 = atHeader
				break
			}
		}
		length := int(e>>16) + int(bits&(1<<(e&63)-1)>>(e>>8&15))
		bits >>= e & 63
		n -= uint(e & 63)
		// A length takes at most 20 bits and a distance 28: 56 suffice.
		e = dist[bits&(1<<distBits-1)]
		if e&isOther != 0 {
			if e&isTable != 0 {
				bits >>= distBits
				n -= distBits
				e = dist[(e>>16+uint32(bits)&(1<<(e>>8&15)-1))&(tableSize-1)]
			}
			if e&isOther != 0 {
				err = fmt.Errorf("%w: an unknown distance", errDeflate)
				break
			}
		}
		distance := int(e>>16) + int(bits&(1<<(e&63)-1)>>(e>>8&15))
		bits >>= e & 63
		n -= uint(e & 63)
		from := w - distance
		if from < d.base {
			err = fmt.Errorf("%w: a distance before the beginning", errDeflate)
			break
		}
		copyMatch(win, w, from, length)
		w += length
	}
	d.pos, d.w, d.bits, d.n = pos, w, bits, n
	return err
}

// copyMatch copies length bytes within win from one place to a later one, byte
// by byte as far as one can tell; up to 15 bytes behind them are overwritten.
func copyMatch(win []byte, to, from, length int) {
	distance := to - from
	if distance >= length {
		if length <= 16 && distance >= 16 {
			a := binary.LittleEndian.Uint64(win[from : from+8])
			b := binary.LittleEndian.Uint64(win[from+8 : from+16])
			binary.LittleEndian.PutUint64(win[to:to+8], a)
			binary.LittleEndian.PutUint64(win[to+8:to+16], b)
			return
		}
		copy(win[to:to+length], win[from:from+length])
		return
	}
	if distance == 1 {
		all := uint64(win[from]) * 0x0101010101010101
		for end := to + length; to < end; to += 8 {
			binary.LittleEndian.PutUint64(win[to:to+8], all)
		}
		return
	}
	if distance < 8 {
		for end := to + length; to < end; to++ {
			win[to] = win[from]
			from++
		}
		return
	}
	for end := to + length; to < end; to += 8 {
		binary.LittleEndian.PutUint64(win[to:to+8], binary.LittleEndian.Uint64(win[from:from+8]))
		from += 8
	}
}
