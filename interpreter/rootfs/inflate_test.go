package rootfs

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// deflateSamples are contents of all kinds: empty, one byte, runs, text,
// noise, and far repetitions.
func deflateSamples() map[string][]byte {
	r := rand.New(rand.NewPCG(5, 6))
	noise := make([]byte, 150_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	skewed := make([]byte, 200_000)
	for i := range skewed {
		skewed[i] = byte(r.ExpFloat64() * 12)
	}
	pattern := []byte(strings.Repeat("abcdefg", 9000) + strings.Repeat("xy", 9000) + strings.Repeat("0123456789abc", 3000))
	far := append(append(bytes.Clone(noise[:32768]), noise[:300]...), noise[:32000]...)
	return map[string][]byte{
		"empty": nil, "one": {7}, "zeros": make([]byte, 300_000), "noise": noise, "skewed": skewed, "pattern": pattern, "far": far,
		"text": []byte(strings.Repeat("the quick brown fox jumps over the lazy dog. ", 5000)),
		"all":  append(append(append(bytes.Clone(pattern), noise...), skewed...), far...),
	}
}

func deflated(t testing.TB, plain []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(plain[:len(plain)/2]); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil { // an empty stored block in between
		t.Fatal(err)
	}
	if _, err := w.Write(plain[len(plain)/2:]); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// inflated is what an inflater makes of data, up to limit bytes.
func inflated(in io.Reader, limit int) (out []byte, err error) {
	d := newInflater(in)
	for len(out) < limit {
		b, err := d.next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, b...)
	}
	return out, nil
}

func TestInflate(t *testing.T) {
	for name, plain := range deflateSamples() {
		for _, level := range []int{flate.NoCompression, flate.BestSpeed, 4, flate.DefaultCompression, flate.BestCompression, flate.HuffmanOnly} {
			packed := deflated(t, plain, level)
			for how, r := range map[string]io.Reader{
				"at once": bytes.NewReader(packed), "in halves": iotest.HalfReader(bytes.NewReader(packed)),
				"byte by byte": iotest.OneByteReader(bytes.NewReader(packed)), "with its end": iotest.DataErrReader(bytes.NewReader(packed)),
			} {
				got, err := inflated(r, 1<<30)
				if err != nil || !bytes.Equal(got, plain) {
					t.Errorf("%s, level %d, %s: %d bytes instead of %d, %v", name, level, how, len(got), len(plain), err)
				}
			}
		}
	}
}

// TestInflateFixed: a block with the fixed codes, by hand: the literal "a",
// a match of 258 at distance 1, and the longest distances nobody has.
func TestInflateFixed(t *testing.T) {
	got, err := inflated(bytes.NewReader([]byte{0x4b, 0x4c, 0x1c, 0x05, 0xa3, 0x60, 0x14, 0x0c, 0x77, 0x00, 0x00}), 1<<20)
	want, werr := io.ReadAll(flate.NewReader(bytes.NewReader([]byte{0x4b, 0x4c, 0x1c, 0x05, 0xa3, 0x60, 0x14, 0x0c, 0x77, 0x00, 0x00})))
	if !bytes.Equal(got, want) || (err == nil) != (werr == nil) || len(want) < 258 {
		t.Errorf("%d bytes, %v; want %d, %v", len(got), err, len(want), werr)
	}
}

// TestInflateDamaged: cut and changed data never gives anything else than the
// standard library says.
func TestInflateDamaged(t *testing.T) {
	plain := deflateSamples()["all"][60_000:120_000]
	packed := deflated(t, plain, flate.DefaultCompression)
	for n := 0; n < len(packed); n += 1 + n/50 {
		if got, err := inflated(bytes.NewReader(packed[:n]), 1<<30); !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.HasPrefix(plain, got) {
			t.Fatalf("cut after %d: %d bytes, %v", n, len(got), err)
		}
	}
	r := rand.New(rand.NewPCG(1, 9))
	for range 3000 {
		bad := bytes.Clone(packed)
		for range 1 + r.IntN(3) {
			bad[r.IntN(min(len(bad), 1+r.IntN(len(bad))))] ^= byte(1 << r.IntN(8))
		}
		sameAsLibrary(t, bad)
	}
}

// sameAsLibrary holds an inflater against the standard library.
func sameAsLibrary(t *testing.T, data []byte) {
	t.Helper()
	const limit = 4 << 20
	got, err := inflated(bytes.NewReader(data), limit)
	want, werr := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), int64(len(got))+1))
	if err == nil && len(got) >= limit {
		want, werr = want[:min(len(want), len(got))], nil
	}
	if (err == nil) != (werr == nil) && !(err != nil && len(want) > len(got)) {
		t.Fatalf("%x…: %d bytes and %v, the library %d and %v", data[:min(len(data), 40)], len(got), err, len(want), werr)
	}
	if n := min(len(got), len(want)); !bytes.Equal(got[:n], want[:n]) || err == nil && len(got) != len(want) {
		t.Fatalf("%x…: other bytes than the library", data[:min(len(data), 40)])
	}
}

func FuzzInflate(f *testing.F) {
	for _, plain := range deflateSamples() {
		plain = plain[:min(len(plain), 2000)]
		for _, level := range []int{0, 1, 9, flate.HuffmanOnly} {
			f.Add(deflated(f, plain, level))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { sameAsLibrary(t, data) })
}

func TestGunzip(t *testing.T) {
	var whole bytes.Buffer
	var want []byte
	for i := range 3 { // three members, the second with all that a header can hold
		part := []byte(fmt.Sprintf("part %d ", i))
		w := gzip.NewWriter(&whole)
		if i == 1 {
			w.Name, w.Comment, w.Extra = "name", "comment", []byte("extra")
		}
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want = append(want, part...)
	}
	g, err := newGunzip(bytes.NewReader(whole.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(g); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	one := gz(t, []byte("content"))
	with := func(at int, b byte) []byte {
		all := bytes.Clone(one)
		all[at] = b
		return all
	}
	headerCRC := append(with(3, gzipCRC)[:10:10], append([]byte{0, 0}, one[10:]...)...)
	for name, c := range map[string]struct {
		data []byte
		want string // "" for success
	}{
		"header with a checksum": {headerCRC, ""},
		"other method":           {with(2, 7), "gzip: invalid header"},
		"reserved flag":          {with(3, 0x80), "gzip: invalid header"},
		"wrong checksum":         {with(len(one)-8, one[len(one)-8]^1), "gzip: invalid checksum"},
		"wrong size":             {with(len(one)-1, 9), "gzip: invalid checksum"},
		"no header":              {one[:5], "gzip: unexpected EOF"},
		"endless name":           {append(with(3, gzipName)[:10:10], "name"...), "gzip: unexpected EOF"},
		"cut extra":              {append(with(3, gzipExtra)[:10:10], 9, 0, 1), "gzip: unexpected EOF"},
		"cut trailer":            {one[:len(one)-3], "gzip: unexpected EOF"},
		"rubbish behind":         {append(bytes.Clone(one), "rubbish and more of it"...), "gzip: invalid header"},
		"zeros behind":           {append(bytes.Clone(one), make([]byte, 700)...), ""},
		"rubbish behind zeros":   {append(append(bytes.Clone(one), make([]byte, 700)...), 1), "gzip: invalid header"},
		"one byte behind":        {append(bytes.Clone(one), 0x1f), "gzip: unexpected EOF"},
		"half a header behind":   {append(bytes.Clone(one), 0x1f, 0x8b), "gzip: unexpected EOF"},
	} {
		g, err := newGunzip(bytes.NewReader(c.data))
		var got []byte
		if err == nil {
			got, err = io.ReadAll(g)
		}
		if c.want == "" && (err != nil || string(got) != "content") || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	broken := errors.New("read error")
	if _, err := newGunzip(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}

func BenchmarkGunzip(b *testing.B) {
	plain := benchLayer(b)
	packed := gz(b, plain)
	b.SetBytes(int64(len(plain)))
	for b.Loop() {
		g, err := newGunzip(bytes.NewReader(packed))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, g); err != nil {
			b.Fatal(err)
		}
	}
}
