package lab

import (
	"archive/tar"
	"bytes"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Images is an OCI registry on the lab's network.
type Images struct {
	t       testing.TB
	handler http.Handler
	// Address is host and port, as hosts see it.
	Address string
}

// Registry serves an OCI registry over plain http on the lab's network until
// the test ends. Each wrap gets the handler and returns the one to use, to
// count, delay or refuse requests of hosts.
func Registry(t testing.TB, wrap ...func(http.Handler) http.Handler) *Images {
	t.Helper()
	plain := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	served := plain
	for _, w := range wrap {
		served = w(served)
	}
	url := Serve(t, served)
	return &Images{t: t, handler: plain, Address: strings.TrimPrefix(url, "http://")}
}

// Push makes an image of layers, the lowest first, and puts it in the
// registry under a repository and tag, such as "guest:1". It returns the
// image's whole name with tag and digest, as hosts pull it.
func (r *Images) Push(repository string, layers ...v1.Layer) string {
	r.t.Helper()
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layers...)
	if err != nil {
		r.t.Fatalf("lab: making an image: %v", err)
	}
	return r.PushImage(repository, image)
}

// PushImage is Push of an image made otherwise.
func (r *Images) PushImage(repository string, image v1.Image) string {
	r.t.Helper()
	ref, err := name.NewTag(r.Address+"/"+repository, name.Insecure)
	if err != nil {
		r.t.Fatalf("lab: %v", err)
	}
	if err := remote.Write(ref, image, remote.WithTransport(directly{r.handler})); err != nil {
		r.t.Fatalf("lab: pushing %s: %v", repository, err)
	}
	digest, err := image.Digest()
	if err != nil {
		r.t.Fatalf("lab: %v", err)
	}
	return ref.Name() + "@" + digest.String()
}

// directly hands requests to a handler of this process.
type directly struct{ http.Handler }

func (d directly) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	req = req.Clone(req.Context())
	req.RequestURI, req.Host = req.URL.RequestURI(), req.URL.Host
	if req.Body == nil {
		req.Body = http.NoBody
	}
	d.ServeHTTP(answer, req)
	res := answer.Result()
	res.Request = req
	return res, nil
}

// Layer is an image layer of files: path to content. A content that starts
// with "#!" becomes executable. Directories above them are not in it.
func Layer(t testing.TB, files map[string]string) v1.Layer {
	t.Helper()
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		content := files[path]
		h := &tar.Header{Name: strings.TrimPrefix(path, "/"), Mode: 0o644, Size: int64(len(content))}
		if strings.HasPrefix(content, "#!") {
			h.Mode = 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatalf("lab: %v", err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatalf("lab: %v", err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatalf("lab: %v", err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		t.Fatalf("lab: making a layer: %v", err)
	}
	return layer
}

// GuestLayer is the lab's guest, a small Debian that boots, as a layer.
func GuestLayer(t testing.TB) v1.Layer {
	t.Helper()
	layer, err := tarball.LayerFromFile(of(t).guestTar()+".gz", tarball.WithMediaType(types.OCILayer))
	if err != nil {
		t.Fatalf("lab: the guest as a layer: %v", err)
	}
	return layer
}
