package rootfs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest zstd window taken: what the zstd program makes with
// its strongest level. It bounds memory.
const maxWindow = 128 << 20

// decompress returns the tar in r, whatever it is compressed with: what a
// media type says of it is not always true. The caller closes it.
func decompress(r io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReaderSize(r, 1<<18)
	head, err := in.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch c := compression(head); c {
	case "gzip":
		return newGunzip(in)
	case "zstd":
		return newZstd(in)
	case "":
		return io.NopCloser(in), nil
	default:
		return nil, fmt.Errorf("%s compression is not supported; use gzip or zstd", c)
	}
}

// compression names what bytes that begin with head are compressed with, "" if
// they are not.
func compression(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "gzip"
	case isZstd(head):
		return "zstd"
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return "xz"
	case bytes.HasPrefix(head, []byte("BZh")):
		return "bzip2"
	}
	return ""
}

// isZstd knows a frame and a skippable frame by their magic numbers (RFC 8878).
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

func newZstd(r io.Reader) (io.ReadCloser, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return z.IOReadCloser(), nil
}
