package download_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

const agent = "#!/bin/agent 1.4.0\n"

func sum(b string) string {
	s := sha256.Sum256([]byte(b))
	return hex.EncodeToString(s[:])
}

// server serves files by path and counts requests.
type server struct {
	files    map[string]string
	requests []string
	handle   func(n int, w http.ResponseWriter, r *http.Request) bool // true: answered
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests = append(s.requests, r.URL.Path)
	if s.handle != nil && s.handle(len(s.requests), w, r) {
		return
	}
	body, ok := s.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
}

// entry is a member of an archive.
type entry struct {
	name, body string
	kind       byte
	link       string
}

func tarOf(t *testing.T, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if e.kind == 0 {
			e.kind = tar.TypeReg
		}
		if err := w.WriteHeader(&tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Mode: 0o755, Size: int64(len(e.body))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipOf(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstdOf(t *testing.T, s string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(s), nil))
}

func serving(h http.Handler, more memory.Options) memory.Options {
	more.Network.HTTP = map[string]http.Handler{"dl.example": h}
	return more
}

func read(t *testing.T, h host.Host, name string) string {
	t.Helper()
	b, err := thing.ReadAll(h.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// withTransport replaces how requests are carried.
func withTransport(h host.Host, rt http.RoundTripper) host.Host {
	h.Network = carried{h.Network, rt}
	return h
}

type carried struct {
	host.Network
	rt http.RoundTripper
}

func (c carried) Transport() http.RoundTripper { return c.rt }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// quick is a clock that does not really wait and notes how long it was asked to.
type quick struct {
	host.Clock
	slept *[]time.Duration
}

func (q quick) Sleep(ctx context.Context, d time.Duration) error {
	*q.slept = append(*q.slept, d)
	return ctx.Err()
}

func cut(w http.ResponseWriter, body string, at int) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write([]byte(body[:at]))
}
