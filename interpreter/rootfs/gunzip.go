package rootfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// gunzip reads gzip data (RFC 1952): one member after the other, as one
// stream.
type gunzip struct {
	z    *inflater
	sum  uint32
	size uint32
	rest []byte
	err  error // sticky
}

// newGunzip reads the first header.
func newGunzip(r io.Reader) (*gunzip, error) {
	g := &gunzip{z: newInflater(r)}
	return g, noEOF(g.header())
}

// Read reads uncompressed bytes.
func (g *gunzip) Read(b []byte) (int, error) {
	for len(g.rest) == 0 {
		if g.err == nil {
			g.err = g.next()
		}
		if g.err != nil {
			return 0, g.err
		}
	}
	n := copy(b, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// Close does nothing: there is nothing to give back.
func (g *gunzip) Close() error { return nil }

func (g *gunzip) next() error {
	out, err := g.z.next()
	if err == nil {
		g.rest = out
		g.sum = crc32.Update(g.sum, crc32.IEEETable, out)
		g.size += uint32(len(out))
		return nil
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("gzip: %w", err)
	}
	if err := noEOF(g.trailer()); err != nil {
		return err
	}
	return g.further()
}

// further reads the header of another member; io.EOF means that there is none.
// Zeros up to the end, with which blocks of tapes and disks are filled, are
// none.
func (g *gunzip) further() error {
	first, err := g.z.readByte()
	if err != nil {
		return err
	}
	if first != 0 {
		return noEOF(g.header(first))
	}
	for err == nil && first == 0 {
		first, err = g.z.readByte()
	}
	if err == nil {
		err = errors.New("gzip: invalid header")
	}
	return err
}

func (g *gunzip) trailer() error {
	b, err := g.bytes(8)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(b) != g.sum || binary.LittleEndian.Uint32(b[4:]) != g.size {
		return errors.New("gzip: invalid checksum")
	}
	return nil
}

func (g *gunzip) bytes(n int) ([]byte, error) {
	b := make([]byte, n)
	for i := range b {
		var err error
		if b[i], err = g.z.readByte(); err != nil {
			if i > 0 {
				err = noEOF(err)
			}
			return nil, err
		}
	}
	return b, nil
}

// The flags of a header.
const (
	gzipCRC     = 1 << 1
	gzipExtra   = 1 << 2
	gzipName    = 1 << 3
	gzipComment = 1 << 4
)

// header reads the header of a member, of which some bytes may have been read
// before.
func (g *gunzip) header(before ...byte) error {
	b, err := g.bytes(10 - len(before))
	if err != nil {
		return err
	}
	b = append(before, b...)
	if b[0] != 0x1f || b[1] != 0x8b || b[2] != 8 || b[3]>>5 != 0 {
		return errors.New("gzip: invalid header")
	}
	if err := noEOF(g.skip(b[3])); err != nil {
		return err
	}
	g.sum, g.size = 0, 0
	g.z.reset()
	return nil
}

// skip passes over what a header holds beyond its first ten bytes.
func (g *gunzip) skip(flags byte) error {
	if flags&gzipExtra != 0 {
		b, err := g.bytes(2)
		if err != nil {
			return err
		}
		if _, err := g.bytes(int(binary.LittleEndian.Uint16(b))); err != nil {
			return err
		}
	}
	for _, flag := range []byte{gzipName, gzipComment} {
		for flags&flag != 0 {
			b, err := g.z.readByte()
			if err != nil {
				return err
			}
			if b == 0 {
				break
			}
		}
	}
	if flags&gzipCRC != 0 {
		_, err := g.bytes(2)
		return err
	}
	return nil
}

// noEOF makes an end where none may be an error.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("gzip: %w", io.ErrUnexpectedEOF)
	}
	return err
}
