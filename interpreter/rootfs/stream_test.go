package rootfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func sum(b []byte) string {
	h := sha256.New()
	h.Write(b)
	return hexDigest(h)
}

func gz(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&b)
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func zst(t testing.TB, plain []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(plain, nil)
}

func layerOf(stored []byte, plain []byte) Layer {
	return Layer{Digest: sum(stored), DiffID: sum(plain), Size: int64(len(stored)),
		open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(stored)), nil }}
}

// packings are seven ways to store one tar.
func packings(t testing.TB, plain []byte) map[string][]byte {
	skippable := []byte{0x5e, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'}
	z := zst(t, plain)
	return map[string][]byte{
		"plain":                        plain,
		"gzip":                         gz(t, plain),
		"zstd":                         z,
		"two gzip members":             gz(t, plain[:700], plain[700:]),
		"zstd after a skippable frame": append(bytes.Clone(skippable), z...),
		"zstd before one":              append(bytes.Clone(z), skippable...),
		"two zstd frames":              append(zst(t, plain[:700]), zst(t, plain[700:])...),
	}
}

// TestC54Compressions: the bytes say how they are compressed; the digest is of
// what is stored, the diffID of the tar.
func TestC54Compressions(t *testing.T) {
	plain := tarOf(t, "f a one\n f b "+strings.Repeat("two ", 500)+"\n l c -> a")
	var want []string
	for name, stored := range packings(t, plain) {
		g := doorGround(t)
		a := newApplier(g.tree, rules{privileged: true}, func(string) {})
		if err := applyLayers(context.Background(), a, Image{Layers: []Layer{layerOf(stored, plain)}}, nil); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := brief(g.list())
		if want == nil {
			want = got
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != 3 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestStreamFaults(t *testing.T) {
	plain := tarOf(t, "f a one\n f b two")
	packed := gz(t, plain)
	broken := errors.New("read error")
	flipped := bytes.Clone(packed)
	flipped[len(flipped)-6] ^= 1
	trailing := append(bytes.Clone(packed), "rubbish that is no gzip member"...)
	cases := []struct {
		name  string
		layer Layer
		want  string
	}{
		{"other bytes", Layer{Digest: sum([]byte("x")), open: layerOf(packed, plain).open}, "its bytes have the digest " + sum(packed)},
		{"other tar", Layer{Digest: sum(packed), DiffID: sum([]byte("y")), open: layerOf(packed, plain).open}, "unpacked it has the digest " + sum(plain)},
		{"cut", layerOf(packed[:len(packed)-20], plain), "unexpected EOF"},
		{"flipped", layerOf(flipped, plain), "gzip: invalid checksum"},
		{"trailing", layerOf(trailing, plain), "gzip: invalid header"},
		{"no tar", layerOf(bytes.Repeat([]byte("no tar "), 200), plain), "not a readable tar"},
		{"xz", layerOf([]byte("\xfd7zXZ\x00rest"), plain), "xz compression is not supported"},
		{"bzip2", layerOf([]byte("BZh91AY"), plain), "bzip2 compression is not supported"},
		{"cannot open", Layer{open: func(context.Context) (io.ReadCloser, error) { return nil, broken }}, "read error"},
	}
	for _, c := range cases {
		a := newApplier(doorGround(t).tree, rules{privileged: true}, func(string) {})
		err := applyLayers(context.Background(), a, Image{Layers: []Layer{c.layer}}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "layer ") {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestBomb: what decompresses to too much is stopped in time.
func TestBomb(t *testing.T) {
	plain := append(tarOf(t, "f a one"), make([]byte, 64<<20)...)
	for name, stored := range map[string][]byte{"gzip": gz(t, plain), "zstd": zst(t, plain)} {
		a := newApplier(doorGround(t).tree, rules{privileged: true, limits: Limits{Bytes: 1 << 20}}, func(string) {})
		err := applyLayers(context.Background(), a, Image{Layers: []Layer{layerOf(stored, plain)}}, nil)
		if err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestProgressAndCancel(t *testing.T) {
	plain := tarOf(t, "f a "+strings.Repeat("x", 2000))
	image := Image{Ref: "img", Layers: []Layer{layerOf(plain, plain), layerOf(gz(t, plain), plain)}}
	image.Size = image.Layers[0].Size + image.Layers[1].Size
	var last Progress
	a := newApplier(doorGround(t).tree, rules{privileged: true}, func(string) {})
	if err := applyLayers(context.Background(), a, image, func(p Progress) { last = p }); err != nil {
		t.Fatal(err)
	}
	if want := (Progress{"unpack", "img", image.Size, image.Size}); last != want {
		t.Errorf("progress %+v, want %+v", last, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a = newApplier(doorGround(t).tree, rules{privileged: true}, func(string) {})
	if err := applyLayers(ctx, a, image, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := a.finish(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled finish: %v", err)
	}
}
