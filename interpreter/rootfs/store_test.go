package rootfs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hostler/interpreter/host"
)

// TestTagIsResolvedOnce: a tag is asked for once, and what it meant then is
// unpacked, shown and recorded, whatever it means by now.
func TestTagIsResolvedOnce(t *testing.T) {
	var asked atomic.Int32
	reg := startRegistry(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut && strings.HasSuffix(r.URL.Path, "/manifests/1") {
			asked.Add(1)
		}
		return false
	})
	old := imageFrom(t, "linux/amd64", "f a old")
	push(t, reg+"/x:1", old)
	asked.Store(0)
	src, _ := netSource(t, reg+"/x:1")
	image, err := Resolve(context.Background(), src, amd64)
	if err != nil {
		t.Fatal(err)
	}
	push(t, reg+"/x:1", imageFrom(t, "linux/amd64", "f a new"))
	asked.Store(asked.Load() - 1) // the push looks, too
	digest, err := old.Digest()
	if err != nil {
		t.Fatal(err)
	}
	h, dir := realHost(t)
	root := host.MachineRoot("m")
	shown := ""
	r, err := Unpack(context.Background(), image, h, root, Options{Progress: func(p Progress) { shown = p.Name }})
	if want := reg + "/x:1 (" + digest.String() + ")"; shown != want {
		t.Errorf("shown is %q, want %q", shown, want)
	}
	if err != nil || r.Digest != digest.String() || image.Digest != digest.String() {
		t.Errorf("digest %s, image %s, want %s: %v", r.Digest, image.Digest, digest, err)
	}
	if mark, ok, err := ReadMark(h.Files, root); err != nil || !ok || mark.Digest != digest.String() || mark.Image != reg+"/x:1" {
		t.Errorf("mark %+v %v %v", mark, ok, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, root, "a")); err != nil || string(b) != "old" {
		t.Errorf("a is %q, %v", b, err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the tag was asked for %d times", n)
	}
}

// TestSeededStore: a store that was filled by hand from an OCI layout serves
// an image by digest, and an archive, without a network.
func TestSeededStore(t *testing.T) {
	img := imageFrom(t, "linux/amd64", "f a one", "f b two")
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := filepath.Glob(filepath.Join(writeLayout(t, img), "blobs", "sha256", "*"))
	if err != nil || len(blobs) != 4 {
		t.Fatalf("%v %v", blobs, err)
	}
	archive := gz(t, tarOf(t, "f c three"))
	h, dir := realHost(t)
	seed := filepath.Join(dir, "cache", "sha256")
	if err := os.MkdirAll(seed, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, from := range append(blobs, writeFile(t, strings.TrimPrefix(sum(archive), "sha256:"), archive)) {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(seed, filepath.Base(from)), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	src := Source{Files: h.Files, Store: NewStore(h.Files, "/cache"), Transport: failing{}, Clock: &sleepless{}}
	for want, image := range map[string]Source{
		`f a "one";f b "two"`: {Image: "registry.example/x@" + digest.String()},
		`f c "three"`:         {Image: "https://files.example/c.tar.gz?sig=x", SHA256: strings.TrimPrefix(sum(archive), "sha256:")},
	} {
		src.Image, src.SHA256 = image.Image, image.SHA256
		got, err := Resolve(context.Background(), src, amd64)
		if err != nil {
			t.Fatal(err)
		}
		if tree := strings.Join(unpackTo(t, got), ";"); tree != want {
			t.Errorf("tree %s, want %s", tree, want)
		}
	}
}

// TestDamagedStore: what is damaged in the store is found out, removed, and
// fetched again by the next try; no tree comes of it.
func TestDamagedStore(t *testing.T) {
	reg := startRegistry(t, nil)
	img := imageFrom(t, "linux/amd64", "f a one")
	push(t, reg+"/x:1", img)
	archive := gz(t, tarDir(t, writeLayout(t, img)))
	files := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) }))
	t.Cleanup(files.Close)
	src, _ := netSource(t, reg+"/x:1")
	src.Transport = files.Client().Transport
	if _, err := Resolve(context.Background(), src, amd64); err != nil {
		t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	config, err := img.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	layer, packed := layerBlob(t, img)
	ctx := context.Background()
	spoil := func(digest string) {
		t.Helper()
		err := host.Replace(src.Store.files, src.Store.path(digest), host.Content{Bytes: bytes.Repeat([]byte("x"), len(packed)), Mode: 0o600})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, blob := range []string{digest.String(), config.String()} {
		spoil(blob)
		if _, err := Resolve(ctx, src, amd64); err != nil {
			t.Errorf("%s is not fetched again: %v", blob, err)
		}
	}
	spoil(layer)
	image, err := Resolve(ctx, src, amd64)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := realHost(t)
	_, err = Unpack(ctx, image, h, host.MachineRoot("m"), Options{})
	if err == nil || !strings.Contains(err.Error(), "its copy in the cache was damaged and is removed now") || !Passing(err) {
		t.Errorf("a damaged layer: %v", err)
	}
	if _, ok, err := Complete(h.Files, "m"); ok || err != nil {
		t.Errorf("a tree came of it: %v", err)
	}
	if tree := strings.Join(unpackTo(t, image), ";"); tree != `f a "one"` {
		t.Errorf("the second try: %s", tree)
	}
	src.Image, src.SHA256 = files.URL+"/x.tar.gz", strings.TrimPrefix(sum(archive), "sha256:")
	spoil(sum(archive))
	if _, err := Resolve(ctx, src, amd64); err == nil || !Passing(err) {
		t.Errorf("a damaged archive: %v", err)
	}
	if image, err = Resolve(ctx, src, amd64); err != nil {
		t.Fatal(err)
	}
	if tree := strings.Join(unpackTo(t, image), ";"); tree != `f a "one"` {
		t.Errorf("the second try: %s", tree)
	}
}

// TestTrim: what was not used for the longest time goes first, and use is
// noted, as far as the store can be changed.
func TestTrim(t *testing.T) {
	h, _ := realHost(t)
	s := NewStore(h.Files, "/cache")
	if err := s.Trim(0); err != nil {
		t.Errorf("an empty store: %v", err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var digests []string
	for i := range 4 {
		b := bytes.Repeat([]byte{byte(i)}, 100)
		digests = append(digests, sum(b))
		if err := errors.Join(s.put(t.Context(), sum(b), b), s.touch(sum(b), at.Add(time.Duration(i)*time.Hour))); err != nil {
			t.Fatal(err)
		}
	}
	src := Source{Store: s, Clock: &sleepless{}}
	err := src.fetch(context.Background(), wanted{digest: digests[0]}, func(context.Context, int64) (io.ReadCloser, bool, error) {
		return nil, false, errors.New("it is there")
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Trim(250); err != nil {
		t.Fatal(err)
	}
	left := ""
	for i, d := range digests {
		if there, err := s.Has(d); err != nil {
			t.Fatal(err)
		} else if there {
			left += string(rune('0' + i))
		}
	}
	if left != "03" {
		t.Errorf("%s are left, want the newest and the one just used", left)
	}
	for fault, want := range map[error]error{syscall.EROFS: nil, syscall.EPERM: nil, syscall.EIO: syscall.EIO} {
		s := NewStore(noTimes{h.Files, &os.PathError{Op: "chtimes", Err: fault}}, "/cache")
		if err := s.touch(digests[0], at); !errors.Is(err, want) {
			t.Errorf("%v: %v", fault, err)
		}
	}
}

type noTimes struct {
	host.Files
	err error
}

func (n noTimes) Chtimes(string, time.Time, time.Time) error { return n.err }

// hurried makes each directory just before it is asked to.
type hurried struct{ host.Files }

func (h hurried) Mkdir(name string, mode os.FileMode) error {
	if err := h.Files.Mkdir(name, mode); err != nil {
		return err
	}
	return h.Files.Mkdir(name, mode)
}

// TestStoreIsMadeByTwo: two who fetch the first blobs of a host make the store's
// directory at the same time.
func TestStoreIsMadeByTwo(t *testing.T) {
	h, dir := realHost(t)
	if err := NewStore(hurried{h.Files}, filepath.Join(dir, "new/place")).put(t.Context(), sum([]byte("x")), []byte("x")); err != nil {
		t.Error(err)
	}
}
