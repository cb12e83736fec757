package rootfs

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hostler/interpreter/host"
)

// benchLayer is about what a small distribution is: many small files, some
// large ones, half of it compressible.
func benchLayer(b *testing.B) []byte {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	text := strings.Repeat("the quick brown fox jumps over the lazy dog ", 4000)
	var all []*tar.Header
	for d := range 200 {
		all = append(all, parseEntry(b, fmt.Sprintf("d usr/share/d%d", d)))
		for f := range 25 {
			h := parseEntry(b, fmt.Sprintf("f usr/share/d%d/file%d", d, f))
			size := r.IntN(30_000)
			noise := make([]byte, size/3)
			for i := range noise {
				noise[i] = byte(r.Uint32())
			}
			content := string(noise) + text[:size]
			h.Size, h.PAXRecords[contentKey] = int64(len(content)), content
			all = append(all, h)
		}
		all = append(all, parseEntry(b, fmt.Sprintf("l usr/share/d%d/link -> file1", d)))
	}
	return makeTar(b, all)
}

func BenchmarkUnpack(b *testing.B) {
	plain := benchLayer(b)
	for name, stored := range map[string][]byte{"tar": plain, "gzip": gz(b, plain), "zstd": zst(b, plain)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				h, _ := realHost(b)
				b.StartTimer()
				image := Image{Digest: sum(stored), Layers: []Layer{layerOf(stored, plain)}}
				if _, err := Unpack(context.Background(), image, h, host.MachineRoot("m"), Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// discard is a tree that keeps nothing: what it costs to decide.
type discard struct{}

func (discard) Mkdir(string) error                  { return nil }
func (discard) Put(string, object) (string, error)  { return "", nil }
func (discard) Link(string, string) error           { return nil }
func (discard) Remove(string) error                 { return nil }
func (discard) Dress(string, attrs) (string, error) { return "", nil }

func BenchmarkApplier(b *testing.B) {
	plain := benchLayer(b)
	b.SetBytes(int64(len(plain)))
	b.ReportAllocs()
	for b.Loop() {
		a := newApplier(discard{}, rules{privileged: true}, func(string) {})
		if err := a.apply(context.Background(), bytes.NewReader(plain), false); err != nil {
			b.Fatal(err)
		}
	}
}
