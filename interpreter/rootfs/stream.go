package rootfs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
)

// The read-ahead of a stream: pieces of pieceSize bytes, at most pieces of
// them, which take memory when they are first used.
const (
	pieceSize = 1 << 18
	pieces    = 48
)

// stream is a layer being read. One goroutine reads, hashes and decompresses
// the stored bytes ahead of the reader, another hashes the uncompressed ones on
// their way.
type stream struct {
	layer Layer
	raw   chan piece    // to be hashed
	full  chan piece    // to be read
	empty chan []byte   // to be filled again
	spare chan struct{} // how many more may be made
	stop  chan struct{}
	once  sync.Once
	ended sync.WaitGroup
	// stored and tar belong to the goroutines until full is closed; nil if not
	// needed.
	stored, tar hash.Hash
	piece       piece // being read
	rest        []byte
	err         error // sticky
	// budget and seen belong to the reader and are set before the first Read;
	// seen is told of stored bytes.
	budget *budget
	seen   func(n int64)
}

type piece struct {
	buf    []byte
	n      int
	stored int64 // stored bytes that were read for it
	err    error
}

// budget is how many uncompressed bytes may still come.
type budget struct{ left, limit int64 }

func (b *budget) spend(n int) error {
	if b.left -= int64(n); b.left < 0 {
		return fmt.Errorf("the image unpacks to more than %d bytes, the limit", b.limit)
	}
	return nil
}

// openStream starts reading a layer.
func openStream(ctx context.Context, l Layer) *stream {
	s := &stream{
		layer: l, raw: make(chan piece, pieces), full: make(chan piece, pieces), empty: make(chan []byte, pieces),
		spare: make(chan struct{}, pieces), stop: make(chan struct{}), stored: hasher(l.Digest), tar: hasher(l.DiffID),
	}
	for range pieces {
		s.spare <- struct{}{}
	}
	s.ended.Go(func() { s.produce(ctx) })
	s.ended.Go(s.digest)
	return s
}

// hasher is a hash where there is a digest to hold it against.
func hasher(digest string) hash.Hash {
	if digest == "" {
		return nil
	}
	return sha256.New()
}

// counter hashes and counts what is read.
type counter struct {
	in   io.ReadCloser
	hash hash.Hash
	n    int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	if c.hash != nil {
		c.hash.Write(b[:n])
	}
	c.n += int64(n)
	return n, err
}

func (s *stream) produce(ctx context.Context) {
	defer close(s.raw)
	in, err := s.layer.open(ctx)
	if err != nil {
		s.send(s.raw, piece{err: err})
		return
	}
	from := &counter{in: in, hash: s.stored}
	err = s.decompress(ctx, from)
	if err == nil {
		// What follows the compressed data belongs to the digest too.
		_, err = io.Copy(io.Discard, from)
	}
	if err = errors.Join(err, in.Close()); err != nil {
		s.send(s.raw, piece{err: err})
	}
}

// digest hashes what goes by.
func (s *stream) digest() {
	defer close(s.full)
	for p := range s.raw {
		if s.tar != nil {
			s.tar.Write(p.buf[:p.n])
		}
		s.send(s.full, p)
	}
}

func (s *stream) decompress(ctx context.Context, in *counter) error {
	z, err := decompress(in)
	if err != nil {
		return err
	}
	for {
		buf, ok := s.take(ctx)
		if !ok {
			return errors.Join(errStopped, ctx.Err(), z.Close())
		}
		n, err := fillPiece(z, buf)
		s.send(s.raw, piece{buf: buf, n: n, stored: in.n})
		in.n = 0
		if errors.Is(err, io.EOF) {
			return z.Close()
		}
		if err != nil {
			return errors.Join(err, z.Close())
		}
	}
}

var errStopped = errors.New("reading was stopped")

// fillPiece reads until buf is full. Unlike io.ReadFull it tells an end from a
// cut.
func fillPiece(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var m int
		m, err = r.Read(buf[n:])
		n += m
	}
	return n, err
}

// take returns a buffer: one that was used before if there is one, which is
// still in the processor's cache.
func (s *stream) take(ctx context.Context) ([]byte, bool) {
	select {
	case buf := <-s.empty:
		return buf, true
	default:
	}
	select {
	case buf := <-s.empty:
		return buf, true
	case <-s.spare:
		return make([]byte, pieceSize), true
	case <-s.stop:
	case <-ctx.Done():
	}
	return nil, false
}

func (s *stream) send(to chan<- piece, p piece) {
	select {
	case to <- p:
	case <-s.stop:
	}
}

// Read reads uncompressed bytes.
func (s *stream) Read(b []byte) (int, error) {
	for len(s.rest) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *stream) next() error {
	if s.piece.buf != nil {
		s.empty <- s.piece.buf
		s.piece.buf = nil
	}
	p, ok := <-s.full
	if ok {
		s.err = p.err
	} else if s.err == nil {
		s.err = io.EOF
	}
	if s.err != nil {
		return s.err
	}
	s.seen(p.stored)
	if s.err = s.budget.spend(p.n); s.err != nil {
		return s.err
	}
	s.piece, s.rest = p, p.buf[:p.n]
	return nil
}

// finish reads what is left and holds both digests against what the image
// says.
func (s *stream) finish() error {
	if _, err := io.Copy(io.Discard, struct{ io.Reader }{s}); err != nil {
		return err
	}
	if want := s.layer.Digest; want != "" && hexDigest(s.stored) != want {
		return fmt.Errorf("its bytes have the digest %s: they are damaged or not what the image names", hexDigest(s.stored))
	}
	if want := s.layer.DiffID; want != "" && hexDigest(s.tar) != want {
		return fmt.Errorf("unpacked it has the digest %s, but the image's configuration says %s", hexDigest(s.tar), want)
	}
	return nil
}

// close stops reading. It is safe to call more than once.
func (s *stream) close() {
	s.once.Do(func() { close(s.stop) })
	s.ended.Wait()
}

func hexDigest(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }
