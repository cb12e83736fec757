//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// entry is one of a layer: a directory if its name ends in a slash, a link if
// symbolic or hard is set, else a file. Whiteouts are files.
type entry struct {
	name, content, symbolic, hard string
	mode                          int64
	uid                           int
}

// layerOf is a layer of entries, in their order.
func layerOf(t *testing.T, entries ...entry) v1.Layer {
	t.Helper()
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Uid: e.uid, Gid: e.uid, Size: int64(len(e.content)), Typeflag: tar.TypeReg}
		switch {
		case strings.HasSuffix(e.name, "/"):
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
		case e.symbolic != "":
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.symbolic
		case e.hard != "":
			h.Typeflag, h.Linkname = tar.TypeLink, e.hard
		}
		if e.mode != 0 {
			h.Mode = e.mode
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

// imageOf is an OCI image of layers, the lowest first.
func imageOf(t *testing.T, layers ...v1.Layer) v1.Image {
	t.Helper()
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.ConfigFile(image, &v1.ConfigFile{OS: "linux", Architecture: "amd64", RootFS: v1.RootFS{Type: "layers"}})
	if err == nil {
		image, err = mutate.AppendLayers(image, layers...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// layoutOf writes an image as an OCI layout with the tag "1".
func layoutOf(t *testing.T, dir string, layers ...v1.Layer) {
	t.Helper()
	path, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = path.AppendImage(imageOf(t, layers...), layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "1"}))
	}
	if err != nil {
		t.Fatal(err)
	}
}
