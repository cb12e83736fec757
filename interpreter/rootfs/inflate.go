package rootfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// inflater decompresses DEFLATE (RFC 1951). It is here because decompression
// bounds the time an image takes: it looks at eight bytes of input at once,
// knows each symbol by one look in most cases, and copies matches by words.
type inflater struct {
	from io.Reader
	// in holds input; what is before pos is in bits already. eof says that
	// there is no more: then in is followed by zeros, and end is where they
	// begin.
	in       []byte
	pos, end int
	eof      bool
	// bits holds the next n bits of input, the lowest first; what is above
	// them is input, too, or zero.
	bits uint64
	n    uint

	// win holds output: what is before r was read, at least the last
	// maxDistance bytes of it are kept; base is where the output begins.
	win        []byte
	r, w, base int

	in1    inBlock // what the bits belong to
	last   bool    // the block is the last one
	stored int     // bytes left of a stored block
	lit    code
	dist   code
	fixed  bool // lit and dist are those of fixed blocks
	lens   [maxLiterals + maxDistances]uint8
}

// inBlock is the part of a stream that comes next.
type inBlock uint8

const (
	atHeader inBlock = iota
	inStored
	inCodes
	atEnd
)

const (
	maxDistance = 1 << 15
	maxMatch    = 258
	winSize     = maxDistance + 1<<16 + slack
	// slack is how much further than its end a run of symbols may write.
	slack  = maxMatch + 16
	inSize = 1 << 17
	// padding is how many zeros follow the end of the input, and margin how
	// many bytes of input a step of decoding needs at most.
	padding = 64
	margin  = 32
)

func newInflater(r io.Reader) *inflater {
	return &inflater{from: r, in: make([]byte, inSize+padding), win: make([]byte, winSize)}
}

// reset begins a new stream with the next byte of input.
func (d *inflater) reset() {
	d.align()
	d.in1, d.last = atHeader, false
	d.base = d.w
}

var errDeflate = errors.New("the compressed data is damaged")

// next returns output that was not returned before; it is valid until the
// following call. At the end of the stream it returns io.EOF.
func (d *inflater) next() ([]byte, error) {
	for d.r == d.w {
		if d.in1 == atEnd {
			return nil, io.EOF
		}
		d.slide()
		if err := d.step(); err != nil {
			return nil, d.explain(err)
		}
	}
	out := d.win[d.r:d.w]
	d.r = d.w
	return out, nil
}

// explain says of a fault behind the end of the input what it is.
func (d *inflater) explain(err error) error {
	if d.unread(); d.eof && d.pos > d.end {
		return io.ErrUnexpectedEOF
	}
	return err
}

// slide makes room in the window once it is full.
func (d *inflater) slide() {
	if d.w < len(d.win)-slack {
		return
	}
	gone := d.w - maxDistance
	copy(d.win, d.win[gone:d.w])
	d.w, d.r = maxDistance, maxDistance
	d.base = max(0, d.base-gone)
}

func (d *inflater) step() error {
	switch d.in1 {
	case atHeader:
		return d.header()
	case inStored:
		return d.copyStored()
	}
	return d.codes()
}

// fill gets input until margin bytes are there, or zeros behind its end.
func (d *inflater) fill() error {
	d.unread()
	if d.pos > d.end {
		return io.ErrUnexpectedEOF
	}
	if d.eof || d.end-d.pos >= margin {
		return nil
	}
	copy(d.in, d.in[d.pos:d.end])
	d.pos, d.end = 0, d.end-d.pos
	for d.end < margin {
		n, err := d.from.Read(d.in[d.end:inSize])
		d.end += n
		if errors.Is(err, io.EOF) {
			d.eof = true
			clear(d.in[d.end : d.end+padding])
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unread gives whole bytes in bits back.
func (d *inflater) unread() {
	d.pos -= int(d.n >> 3)
	d.n &= 7
	d.bits &= 1<<d.n - 1
}

// align goes to the next whole byte.
func (d *inflater) align() {
	d.unread()
	d.bits, d.n = 0, 0
}

// need makes at least 56 bits available.
func (d *inflater) need() error {
	if err := d.fill(); err != nil {
		return err
	}
	d.bits |= binary.LittleEndian.Uint64(d.in[d.pos:]) << d.n
	d.pos += int((63 - d.n) >> 3)
	d.n |= 56
	return nil
}

// take returns the next k bits, which must be available.
func (d *inflater) take(k uint) int {
	v := d.bits & (1<<k - 1)
	d.bits >>= k
	d.n -= k
	return int(v)
}

func (d *inflater) header() error {
	if d.last {
		d.in1 = atEnd
		return nil
	}
	if err := d.need(); err != nil {
		return err
	}
	d.last = d.take(1) == 1
	switch kind := d.take(2); kind {
	case 0:
		return d.storedHeader()
	case 1:
		d.in1 = inCodes
		return d.setFixed()
	case 2:
		d.in1, d.fixed = inCodes, false
		return d.readCodes()
	}
	return fmt.Errorf("%w: a block of an unknown kind", errDeflate)
}

func (d *inflater) storedHeader() error {
	d.align()
	if err := d.need(); err != nil {
		return err
	}
	size, inverse := d.take(16), d.take(16)
	if size != inverse^0xffff {
		return fmt.Errorf("%w: the size of a stored block", errDeflate)
	}
	d.align()
	d.in1, d.stored = inStored, size
	return nil
}

func (d *inflater) copyStored() error {
	if d.stored == 0 {
		d.in1 = atHeader
		return nil
	}
	if err := d.fill(); err != nil {
		return err
	}
	if d.pos >= d.end {
		return io.ErrUnexpectedEOF
	}
	n := copy(d.win[d.w:len(d.win)-slack], d.in[d.pos:min(d.end, d.pos+d.stored)])
	d.w, d.pos, d.stored = d.w+n, d.pos+n, d.stored-n
	return nil
}

// readByte returns the next whole byte, for what stands around streams.
func (d *inflater) readByte() (byte, error) {
	d.align()
	if err := d.fill(); err != nil {
		return 0, err
	}
	if d.pos >= d.end {
		return 0, io.EOF
	}
	d.pos++
	return d.in[d.pos-1], nil
}
