package rootfs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// TestC55Platforms: what is picked, and what a message lists.
func TestC55Platforms(t *testing.T) {
	arm64 := Platform{OS: "linux", Architecture: "arm64"}
	cases := []struct {
		name string
		add  []any
		want Platform
		got  string // the file "which", or an error
	}{
		{"A attestation first", []any{indexFrom(t, "unknown/unknown", "linux/amd64")}, amd64, "linux/amd64"},
		{"B v8 on arm64", []any{indexFrom(t, "linux/arm64/v8", "unknown/unknown")}, arm64, "linux/arm64/v8"},
		{"B arm64 asked as v8", []any{indexFrom(t, "linux/arm64")}, Platform{"linux", "arm64", "v8"}, "linux/arm64"},
		{"B on amd64", []any{indexFrom(t, "linux/arm64/v8", "unknown/unknown")}, amd64, "no image for platform linux/amd64; there is linux/arm64/v8"},
		{"D no platform", []any{imageFrom(t, "", "f which none")}, amd64, "none"},
		{"one manifest of another platform", []any{imageFrom(t, "linux/arm64", "f x")}, amd64, "no image for platform linux/amd64; there is linux/arm64"},
		{"best arm variant", []any{indexFrom(t, "linux/arm/v5", "linux/arm/v6", "linux/arm64")}, Platform{"linux", "arm", "v7"}, "linux/arm/v6"},
		{"newer amd64 only", []any{indexFrom(t, "linux/amd64/v3")}, amd64, "there is linux/amd64/v3"},
		{"only attestations", []any{indexFrom(t, "unknown/unknown")}, amd64, "there is nothing that runs"},
		{"two tags", []any{imageFrom(t, "linux/amd64", "f a"), imageFrom(t, "linux/amd64", "f b")}, amd64, "add :TAG; there is v1, v2"},
		{"empty", nil, amd64, "the layout holds no image"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			image, err := resolveRef(t, "oci-layout:"+writeLayout(t, c.add...), c.want)
			if err != nil {
				if !strings.Contains(err.Error(), c.got) || strings.Contains(err.Error(), "unknown/") {
					t.Errorf("error %v, want %q", err, c.got)
				}
				return
			}
			if tree := strings.Join(unpackTo(t, image), ";"); !strings.Contains(tree, fmt.Sprintf("f which %q", c.got)) {
				t.Errorf("tree %v, want which = %q", tree, c.got)
			}
		})
	}
}

func TestTags(t *testing.T) {
	dir := writeLayout(t, imageFrom(t, "linux/amd64", "f one"), imageFrom(t, "linux/amd64", "f two"))
	image, err := resolveRef(t, "oci-layout:"+dir+":v2", amd64)
	if err != nil {
		t.Fatal(err)
	}
	if tree := strings.Join(unpackTo(t, image), ";"); tree != "f two" {
		t.Errorf("tree %v", tree)
	}
	_, err = resolveRef(t, "oci-layout:"+dir+":v3", amd64)
	if err == nil || !strings.Contains(err.Error(), `no image tagged "v3"; there is v1, v2`) {
		t.Errorf("error %v", err)
	}
}

// TestC55MissingChild: an index that points to nothing names the child.
func TestC55MissingChild(t *testing.T) {
	index := indexFrom(t, "linux/amd64")
	dir := writeLayout(t, index)
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	child := m.Manifests[0].Digest
	blob := filepath.Join(dir, "blobs", "sha256", child.Hex)
	if err := os.WriteFile(blob, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = resolveRef(t, "oci-layout:"+dir, amd64)
	if err == nil || !strings.Contains(err.Error(), child.String()) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error %v", err)
	}
	if err := os.Remove(blob); err != nil {
		t.Fatal(err)
	}
	_, err = resolveRef(t, "oci-layout:"+dir, amd64)
	if err == nil || !strings.Contains(err.Error(), child.String()) {
		t.Errorf("error %v", err)
	}
}

// TestC62ForeignLayers: a layer that is to be had from a third host only is
// refused when the image is resolved, from wherever.
func TestC62ForeignLayers(t *testing.T) {
	foreign, err := mutate.Append(imageFrom(t, "linux/amd64", "f a"), mutate.Addendum{
		Layer: static.NewLayer([]byte("x"), types.DockerForeignLayer), URLs: []string{"https://vendor.example/layer"}, MediaType: types.DockerForeignLayer})
	if err != nil {
		t.Fatal(err)
	}
	reg := startRegistry(t, nil)
	push(t, reg+"/x:1", foreign)
	src, _ := netSource(t, reg+"/x:1")
	layout := Source{Image: "oci-layout:" + writeLayout(t, foreign), Files: hostFiles()}
	for _, s := range []Source{src, layout} {
		_, err := Resolve(context.Background(), s, amd64)
		if err == nil || !strings.Contains(err.Error(), "is a foreign one, to be had from its vendor only") || Passing(err) {
			t.Errorf("%s: %v", s.Image, err)
		}
	}
}

// TestNoImages: what is no image is refused with a reason.
func TestNoImages(t *testing.T) {
	base := imageFrom(t, "linux/amd64", "f a")
	foreign, err := mutate.Append(base, mutate.Addendum{
		Layer: static.NewLayer([]byte("x"), types.DockerForeignLayer), URLs: []string{"https://vendor.example/layer"}, MediaType: types.DockerForeignLayer})
	if err != nil {
		t.Fatal(err)
	}
	with := func(mediaType types.MediaType) v1.Image {
		img, err := mutate.Append(base, mutate.Addendum{Layer: static.NewLayer([]byte("x"), mediaType), MediaType: mediaType})
		if err != nil {
			t.Fatal(err)
		}
		return img
	}
	cases := map[string]v1.Image{
		"is a foreign one":            foreign,
		"is encrypted":                with("application/vnd.oci.image.layer.v1.tar+encrypted"),
		`has the media type "text/x"`: with("text/x"),
		"it is no container image":    mutate.ConfigMediaType(base, "application/vnd.example.config"),
	}
	for want, img := range cases {
		_, err := resolveRef(t, "oci-layout:"+writeLayout(t, img), amd64)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestManifestTypes(t *testing.T) {
	cases := []struct {
		raw, said, want, fault string
	}{
		{raw: `{"schemaVersion":1,"layers":[]}`, fault: "schema 1"},
		{raw: `{"layers":[]}`, said: string(types.DockerManifestSchema1Signed), fault: "schema 1"},
		{raw: `{"layers":[]}`, want: string(types.OCIManifestSchema1)},
		{raw: `{"manifests":[]}`, want: string(types.OCIImageIndex)},
		{raw: `{"mediaType":"` + string(types.DockerManifestList) + `"}`, want: string(types.DockerManifestList)},
		{raw: `{}`, fault: "is no image"},
		{raw: `nonsense`, fault: "not JSON"},
	}
	for _, c := range cases {
		d := v1.Descriptor{MediaType: types.MediaType(c.said)}
		err := checkManifestType([]byte(c.raw), &d)
		if c.fault == "" && (err != nil || string(d.MediaType) != c.want) || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: %v %v", c.raw, d.MediaType, err)
		}
	}
}

func TestBrokenDockerArchive(t *testing.T) {
	entry := func(name, content string) string { return "f " + name + " " + content }
	config, err := json.Marshal(v1.ConfigFile{OS: "linux", Architecture: "amd64", RootFS: v1.RootFS{Type: "layers"}})
	if err != nil {
		t.Fatal(err)
	}
	cfg := strings.Repeat("a", 64) + ".json"
	for want, text := range map[string]string{
		"holds 2 images":        entry("manifest.json", `[{},{}]`),
		"manifest.json: ":       entry("manifest.json", `x`),
		"there is no gone.json": entry("manifest.json", `[{"Config":"gone.json"}]`),
		"has 1 layers, but":     entry("manifest.json", `[{"Config":"`+cfg+`","Layers":["x"]}]`) + "\n" + entry(cfg, string(config)),
	} {
		_, err := resolveRef(t, writeFile(t, "x.tar", tarOf(t, text)), amd64)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
