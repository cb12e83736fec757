package rootfs

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// holeSize is the granularity in which zeros are left out of files.
const holeSize = 1 << 14

// fill writes the content; whole blocks of zeros become holes. A file that is
// shared holds what may be the content.
func (t *atTree) fill(fd int, o object, shared bool) error {
	var done int64
	hole := false
	for {
		n, err := fillPiece(o.content, t.buf)
		var werr error
		if shared {
			werr = t.twin.correct(fd, done, t.buf[:n])
		} else {
			werr = writePiece(fd, done, t.buf[:n], &hole)
		}
		if werr != nil {
			return werr
		}
		done += int64(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if done != o.size {
		return cutShort(done, o.size, io.EOF)
	}
	if hole {
		return unix.Ftruncate(fd, done)
	}
	return nil
}

// writePiece writes b at the offset and sets hole where it leaves zeros out.
func writePiece(fd int, offset int64, b []byte, hole *bool) error {
	for len(b) > 0 {
		n := dataRun(b)
		if err := writeAll(fd, offset, b[:n]); err != nil {
			return err
		}
		b, offset = b[n:], offset+int64(n)
		if zeros := zeroRun(b); zeros > 0 {
			b, offset, *hole = b[zeros:], offset+int64(zeros), true
		}
	}
	return nil
}

// writeAll writes b at the offset.
func writeAll(fd int, offset int64, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Pwrite(fd, b, offset)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		n = max(n, 0)
		b, offset = b[n:], offset+int64(n)
	}
	return nil
}

// dataRun is how much of b comes before the first whole block of zeros.
func dataRun(b []byte) int {
	for i := 0; i < len(b); i += holeSize {
		if zeroRun(b[i:min(len(b), i+holeSize)]) > 0 {
			return i
		}
	}
	return len(b)
}

// zeroRun is the length of the whole blocks of zeros that b begins with.
func zeroRun(b []byte) int {
	n := 0
	for len(b)-n >= holeSize && isZero(b[n:n+holeSize]) {
		n += holeSize
	}
	return n
}

// isZero compares a block with itself, moved by one.
func isZero(block []byte) bool {
	return block[0] == 0 && bytes.Equal(block[1:], block[:len(block)-1])
}
