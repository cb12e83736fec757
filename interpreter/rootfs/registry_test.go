package rootfs

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	ggcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"hostler/interpreter/host"
)

// sleepless is a clock on which waiting takes no time; it notes the waits.
type sleepless struct {
	host.Clock
	mu    sync.Mutex
	waits []time.Duration
}

func (s *sleepless) Sleep(ctx context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits = append(s.waits, d)
	return ctx.Err()
}

// Now is a fixed time and what was waited.
func (s *sleepless) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, d := range s.waits {
		now = now.Add(d)
	}
	return now
}

// startRegistry serves a registry; around sees each request first and says
// whether it answered it.
func startRegistry(t *testing.T, around func(w http.ResponseWriter, r *http.Request) bool) string {
	t.Helper()
	inner := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if around == nil || !around(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func push(t *testing.T, ref string, what any) {
	t.Helper()
	r, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	switch what := what.(type) {
	case v1.Image:
		err = remote.Write(r, what)
	case v1.ImageIndex:
		err = remote.WriteIndex(r, what)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// pushTLS pushes x:1 over TLS, whoever signed for it.
func pushTLS(t *testing.T, reg string, img v1.Image) {
	t.Helper()
	r, err := name.ParseReference(reg + "/x:1")
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	if err := remote.Write(r, img, remote.WithTransport(transport)); err != nil {
		t.Fatal(err)
	}
}

func netSource(t *testing.T, image string) (Source, *sleepless) {
	t.Helper()
	h, _ := realHost(t)
	clock := &sleepless{}
	return Source{Image: image, Files: h.Files, Store: NewStore(h.Files, "/var/cache/hostler"), Transport: &http.Transport{}, Clock: clock}, clock
}

func TestRegistry(t *testing.T) {
	reg := startRegistry(t, nil)
	index := indexFrom(t, "unknown/unknown", "linux/amd64", "linux/arm64")
	push(t, reg+"/x:1", index)
	src, _ := netSource(t, reg+"/x:1")
	var downloaded int64
	var mu sync.Mutex
	src.Progress = func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		downloaded = max(downloaded, p.Done)
	}
	image, err := Resolve(context.Background(), src, amd64)
	if err != nil {
		t.Fatal(err)
	}
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if image.Digest != m.Manifests[1].Digest.String() {
		t.Errorf("digest %s", image.Digest)
	}
	if tree := strings.Join(unpackTo(t, image), ";"); !strings.Contains(tree, `f which "linux/amd64"`) {
		t.Errorf("tree %s", tree)
	}
	if downloaded == 0 {
		t.Error("no progress")
	}
	// By digest, everything is in the store: the network is not needed.
	d, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	src.Image, src.Transport = reg+"/x@"+d.String(), failing{}
	if image, err = Resolve(context.Background(), src, amd64); err != nil {
		t.Fatal(err)
	}
	if err := Prefetch(context.Background(), image); err != nil {
		t.Fatal(err)
	}
	unpackTo(t, image)
	if image.Identity != d.String() {
		t.Errorf("identity %s", image.Identity)
	}
	if err := src.Store.Trim(0); err != nil {
		t.Fatal(err)
	}
	if _, err = Resolve(context.Background(), src, amd64); err == nil || !strings.Contains(err.Error(), "no network in this test") {
		t.Errorf("after a trim: %v", err)
	}
}

type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no network in this test")
}

// TestC57CutBlobs: a transfer that breaks off goes on where it ended.
func TestC57CutBlobs(t *testing.T) {
	for _, ranges := range []bool{true, false} {
		cuts, asked := 2, []string{}
		var mu sync.Mutex
		var layer string
		reg := startRegistry(t, func(w http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			if r.Method != http.MethodGet || layer == "" || !strings.HasSuffix(r.URL.Path, layer) {
				return false
			}
			asked = append(asked, r.Header.Get("Range"))
			if !ranges {
				r.Header.Del("Range")
			}
			if cuts--; cuts < 0 {
				return false
			}
			rec := httptest.NewRecorder()
			proxy(rec, r)
			for k, v := range rec.Header() {
				w.Header()[k] = v
			}
			w.Header().Set("Content-Length", strconv.Itoa(rec.Body.Len()))
			w.WriteHeader(rec.Code)
			_, _ = w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
			return true
		})
		img := imageFrom(t, "linux/amd64", "f a "+strings.Repeat("0123456789abcdef", 10), "f b x")
		push(t, reg+"/x:1", img)
		layers, err := img.Layers()
		if err != nil {
			t.Fatal(err)
		}
		digest, err := layers[0].Digest()
		if err != nil {
			t.Fatal(err)
		}
		inner[reg] = map[string][]byte{digest.String(): compressed(t, layers[0])}
		mu.Lock()
		layer = digest.String()
		mu.Unlock()
		src, clock := netSource(t, reg+"/x:1")
		image, err := Resolve(context.Background(), src, amd64)
		if err != nil {
			t.Fatal(err)
		}
		if tree := strings.Join(unpackTo(t, image), ";"); !strings.HasSuffix(tree, `abcdef";f b "x"`) {
			t.Errorf("tree %s", tree)
		}
		if len(asked) != 3 || asked[0] != "" || !strings.HasPrefix(asked[1], "bytes=") || len(clock.waits) != 2 {
			t.Errorf("requests %q, waits %v", asked, clock.waits)
		}
	}
}

// inner holds blobs that proxy serves, by registry and digest.
var inner = map[string]map[string][]byte{}

func proxy(w http.ResponseWriter, r *http.Request) {
	b := inner[r.Host][filepath.Base(r.URL.Path)]
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(b)))
}

func compressed(t *testing.T, l v1.Layer) []byte {
	t.Helper()
	r, err := l.Compressed()
	if err != nil {
		t.Fatal(err)
	}
	b, err := readDocument(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestC57Busy: a registry that is busy is asked again, as it wishes.
func TestC57Busy(t *testing.T) {
	answers := []int{429, 503, 200}
	ready := false
	reg := startRegistry(t, func(w http.ResponseWriter, r *http.Request) bool {
		if !ready || !strings.Contains(r.URL.Path, "/manifests/") {
			return false
		}
		code := answers[0]
		answers = answers[1:]
		if code == 200 {
			ready = false
			return false
		}
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(code)
		return true
	})
	push(t, reg+"/x:1", imageFrom(t, "linux/amd64", "f a"))
	ready = true
	src, clock := netSource(t, reg+"/x:1")
	var again []string
	src.Again = func(f Failed) { again = append(again, f.String()) }
	if _, err := Resolve(context.Background(), src, amd64); err != nil {
		t.Fatal(err)
	}
	if len(again) != 2 || !strings.Contains(again[0], "attempt 1, again in ") || !strings.Contains(again[1], "attempt 2, again in ") {
		t.Errorf("told %q", again)
	}
	if len(clock.waits) != 2 || clock.waits[0] < 3*time.Second || clock.waits[1] > 4*time.Second {
		t.Errorf("waits %v", clock.waits)
	}
}

func TestRegistryFaults(t *testing.T) {
	code := 0
	reg := startRegistry(t, func(w http.ResponseWriter, r *http.Request) bool {
		if code == 0 || r.URL.Path == "/v2/" && code != 401 {
			return false
		}
		if code == 401 {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		}
		w.WriteHeader(code)
		return true
	})
	for status, want := range map[int]string{
		404: "answers 404 Not Found to a request for manifests/1",
		500: "answers 500 Internal Server Error to a request for manifests/1 (after 5 tries)",
		401: "answers 401 Unauthorized",
		400: "answers 400 Bad Request",
	} {
		code = status
		src, clock := netSource(t, reg+"/x:1")
		_, err := Resolve(context.Background(), src, amd64)
		if err == nil || !strings.Contains(err.Error(), want) || Passing(err) != (status == 500) {
			t.Errorf("%d: error %v, want %q", status, err, want)
		}
		if status != 500 && len(clock.waits) != 0 {
			t.Errorf("%d: waited %v", status, clock.waits)
		}
	}
	src, _ := netSource(t, "127.0.0.1:1/x:1")
	if _, err := Resolve(context.Background(), src, amd64); err == nil || !Passing(err) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("closed port: %v", err)
	}
}

// TestDigestMismatchNeverLands: what a server gives instead of a blob is
// refused and not kept.
func TestDigestMismatchNeverLands(t *testing.T) {
	var layer string
	reg := startRegistry(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && layer != "" && strings.HasSuffix(r.URL.Path, layer) {
			_, _ = io.WriteString(w, strings.Repeat("x", len(inner["mismatch"][layer])))
			return true
		}
		return false
	})
	img := imageFrom(t, "linux/amd64", "f a")
	push(t, reg+"/x:1", img)
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := layers[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	inner["mismatch"] = map[string][]byte{digest.String(): compressed(t, layers[0])}
	layer = digest.String()
	src, _ := netSource(t, reg+"/x:1")
	image, err := Resolve(context.Background(), src, amd64)
	if err != nil {
		t.Fatal(err)
	}
	err = Prefetch(context.Background(), image)
	if err == nil || !strings.Contains(err.Error(), "not "+digest.String()) {
		t.Errorf("error %v", err)
	}
	for _, suffix := range []string{"", partialSuffix} {
		if _, err := host.Lstat(src.Store.files, src.Store.path(layer)+suffix); !host.Absent(err) {
			t.Errorf("it is kept: %v", err)
		}
	}
}
