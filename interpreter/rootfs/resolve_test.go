package rootfs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	ocilayout "github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"hostler/interpreter/host"
)

var amd64 = Platform{OS: "linux", Architecture: "amd64"}

// imageFrom makes an image of layers written as in parseEntries.
func imageFrom(t testing.TB, platform string, layers ...string) v1.Image {
	t.Helper()
	img := v1.Image(empty.Image)
	for _, text := range layers {
		img = addLayer(t, img, tarOf(t, text))
	}
	return withPlatform(t, img, platform)
}

// imageOfTar makes an image of one layer.
func imageOfTar(t testing.TB, b []byte) v1.Image {
	return withPlatform(t, addLayer(t, empty.Image, b), "linux/amd64")
}

func addLayer(t testing.TB, img v1.Image, b []byte) v1.Image {
	t.Helper()
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil })
	if err != nil {
		t.Fatal(err)
	}
	if img, err = mutate.AppendLayers(img, l); err != nil {
		t.Fatal(err)
	}
	return img
}

func withPlatform(t testing.TB, img v1.Image, platform string) v1.Image {
	t.Helper()
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = "", "", ""
	if platform != "" {
		p, err := ParsePlatform(platform)
		if err != nil {
			t.Fatal(err)
		}
		config.OS, config.Architecture, config.Variant = p.OS, p.Architecture, p.Variant
	}
	if img, err = mutate.ConfigFile(img, config); err != nil {
		t.Fatal(err)
	}
	return img
}

func v1Platform(s string) *v1.Platform {
	if s == "" {
		return nil
	}
	parts := append(strings.Split(s, "/"), "")
	return &v1.Platform{OS: parts[0], Architecture: parts[1], Variant: parts[2]}
}

// indexFrom makes an index of images by platform; "unknown/unknown" is an
// attestation.
func indexFrom(t testing.TB, platforms ...string) v1.ImageIndex {
	t.Helper()
	index := v1.ImageIndex(empty.Index)
	for _, p := range platforms {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: imageFrom(t, p, "f etc/os-release ID=x\n f which "+p), Descriptor: v1.Descriptor{Platform: v1Platform(p)},
		})
	}
	return index
}

// writeLayout writes an OCI layout and returns its directory.
func writeLayout(t testing.TB, add ...any) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "layout")
	l, err := ocilayout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range add {
		tag := ocilayout.WithAnnotations(map[string]string{refName: fmt.Sprintf("v%d", i+1)})
		switch a := a.(type) {
		case v1.Image:
			err = l.AppendImage(a, tag)
		case v1.ImageIndex:
			err = l.AppendIndex(a, tag)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// hostFiles is a file door onto the whole machine.
func hostFiles() host.FileView { return dirFS{dir: "/"} }

func resolveRef(t testing.TB, ref string, p Platform) (Image, error) {
	t.Helper()
	return Resolve(context.Background(), Source{Image: ref, Files: hostFiles()}, p)
}

// unpackTo unpacks an image on a fresh host and lists it briefly.
func unpackTo(t testing.TB, image Image) []string {
	t.Helper()
	h, dir := realHost(t)
	if _, err := Unpack(context.Background(), image, h, host.MachineRoot("m"), Options{}); err != nil {
		t.Fatal(err)
	}
	return brief(listDir(t, filepath.Join(dir, host.MachineRoot("m"))))
}

func TestLayoutDirectory(t *testing.T) {
	img := imageFrom(t, "linux/amd64", "f a one\n f b x", "f a two\n f .wh.b")
	dir := writeLayout(t, img)
	got, err := resolveRef(t, "oci-layout:"+dir, amd64)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != digest.String() || got.Platform != amd64 || len(got.Layers) != 2 || got.Size == 0 || got.Ref != "oci-layout:"+dir {
		t.Errorf("image %+v", got)
	}
	if tree := unpackTo(t, got); strings.Join(tree, ";") != `f a "two"` {
		t.Errorf("tree %v", tree)
	}
}

func tarDir(t testing.TB, dir string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "x.tar")
	run(t, "tar", "-C", dir, "-cf", out, ".")
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, base string, b []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), base)
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestArchives: a layout, a docker archive and a root file system, each as a
// tar in all compressions.
func TestArchives(t *testing.T) {
	img := imageFrom(t, "linux/amd64", "f a one\n f big "+strings.Repeat("x", 4000), "f a two\n f .wh.big")
	var docker bytes.Buffer
	tag, err := name.NewTag("registry.example/x:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := tarball.Write(tag, img, &docker); err != nil {
		t.Fatal(err)
	}
	config, err := img.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	root := tarOf(t, "d ./\n f ./a two\n f ./.wh.kept x")
	cases := []struct {
		name, digest, want, prefix string
		tar                        []byte
	}{
		{"layout", digest.String(), `f a "two"`, "oci-layout:", tarDir(t, writeLayout(t, img))},
		{"layout", digest.String(), `f a "two"`, "", tarDir(t, writeLayout(t, img))},
		{"docker", config.String(), `f a "two"`, "", docker.Bytes()},
		{"root", "", `f .wh.kept "x";f a "two"`, "", root},
	}
	for _, c := range cases {
		for how, b := range map[string][]byte{"tar": c.tar, "tar.gz": gz(t, c.tar), "tar.zst": zst(t, c.tar)} {
			got, err := resolveRef(t, c.prefix+writeFile(t, "x."+how, b), amd64)
			if err != nil {
				t.Errorf("%s%s %s: %v", c.prefix, c.name, how, err)
				continue
			}
			if want := c.digest; want != "" && got.Digest != want || want == "" && got.Digest != sum(b) {
				t.Errorf("%s %s: digest %s", c.name, how, got.Digest)
			}
			if tree := strings.Join(unpackTo(t, got), ";"); tree != c.want {
				t.Errorf("%s %s: tree %s", c.name, how, tree)
			}
		}
	}
}

func TestArchiveWithSHA256(t *testing.T) {
	img := imageFrom(t, "linux/amd64", "f a one")
	for what, b := range map[string][]byte{"layout": tarDir(t, writeLayout(t, img)), "root": tarOf(t, "f etc/a one")} {
		file := writeFile(t, "x.tar", b)
		src := Source{Image: file, SHA256: strings.TrimPrefix(sum(b), "sha256:"), Files: hostFiles()}
		got, err := Resolve(context.Background(), src, amd64)
		if err != nil || got.Identity != sum(b) {
			t.Errorf("%s: %+v %v", what, got, err)
		}
		src.SHA256 = strings.Repeat("0", 64)
		got, err = Resolve(context.Background(), src, amd64)
		if err == nil { // a root file system is held against it when unpacked
			h, _ := realHost(t)
			_, err = Unpack(context.Background(), got, h, host.MachineRoot("m"), Options{})
		}
		if err == nil || !strings.Contains(err.Error(), "its bytes have the digest "+sum(b)) {
			t.Errorf("%s with another digest: %v", what, err)
		}
	}
}

func TestReferences(t *testing.T) {
	hex := strings.Repeat("ab", 32)
	good := map[[2]string]string{ // image, sha256 → identity
		{"registry.example/x:1"}:                          "registry.example/x:1",
		{"registry.example/x@sha256:" + hex}:              "sha256:" + hex,
		{"registry.example/x:1@sha256:" + hex}:            "sha256:" + hex,
		{"oci-layout:/srv/x:1"}:                           "oci-layout:/srv/x:1",
		{"oci-layout:/srv/x"}:                             "oci-layout:/srv/x",
		{"/srv/x.tar"}:                                    "/srv/x.tar",
		{"/srv/x.tar", hex}:                               "sha256:" + hex,
		{"https://u:p@h.example/x.tar?sig=secret#f", hex}: "sha256:" + hex,
	}
	for c, want := range good {
		if err := CheckReference(c[0], c[1]); err != nil || Identity(c[0], c[1]) != want {
			t.Errorf("%v: %v, identity %q", c, err, Identity(c[0], c[1]))
		}
	}
	bad := map[[2]string]string{
		{"ubuntu"}:                        "is none of",
		{""}:                              "is none of",
		{"oci-layout:srv/x"}:              "absolute, clean path",
		{"oci-layout:/srv/../x"}:          "absolute, clean path",
		{"oci-layout:/srv/x:"}:            "empty tag",
		{"/srv//x.tar"}:                   `write "/srv/x.tar"`,
		{"http://h.example/x.tar", hex}:   "plain http is refused",
		{"https://h.example/x.tar"}:       "needs sha256",
		{"https://h.example/x.tar", "xy"}: "64 hexadecimal digits",
		{"registry.example/x:1", hex}:     "sha256 is for archives",
		{"oci-layout:/srv/x", hex}:        "sha256 is for archives",
	}
	for c, want := range bad {
		if err := CheckReference(c[0], c[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", c, err, want)
		}
	}
	for in, want := range map[string]string{
		"https://u:p@h.example/x.tar?sig=secret#f": "https://h.example/x.tar",
		"https://h.example?x":                      "https://h.example",
		"oci-layout:/x?y":                          "oci-layout:/x?y",
	} {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) = %q", in, got)
		}
	}
	if !IsLocal("/x.tar") || !IsLocal("oci-layout:/x") || IsLocal("registry.example/x:1") || IsLocal("https://h.example/x") {
		t.Error("IsLocal")
	}
	for _, p := range []string{"linux", "linux/", "a/b/c/d", ""} {
		if _, err := ParsePlatform(p); err == nil {
			t.Errorf("platform %q is taken", p)
		}
	}
}

func TestResolveFaults(t *testing.T) {
	for ref, want := range map[string]string{
		"oci-layout:/does/not/exist": "no such file",
		"/does/not/exist.tar":        "no such file",
		"registry.example/x:1":       "there is no network here",
		"x":                          "is none of",
		t.TempDir():                  "is a directory",
	} {
		_, err := resolveRef(t, ref, amd64)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "image "+ref) {
			t.Errorf("%s: error %v, want %q", ref, err, want)
		}
	}
	_, err := resolveRef(t, "oci-layout:"+writeFile(t, "x.tar", tarOf(t, "f etc/passwd x")), amd64)
	if err == nil || !strings.Contains(err.Error(), "no image layout") {
		t.Errorf("a root file system as a layout: %v", err)
	}
}
