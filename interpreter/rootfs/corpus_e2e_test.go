//go:build e2e

package rootfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"hostler/interpreter/host"
)

// debianTar is the lab's small Debian.
func debianTar(t *testing.T) string {
	t.Helper()
	cache := os.Getenv("HOSTLER_LAB_CACHE")
	if cache == "" {
		cache = "/var/cache/hostler-lab"
	}
	file := filepath.Join(cache, "guest", "tree.tar")
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%v: run testdata/lab/prepare", err)
	}
	return file
}

// listHashed is listDir for large trees: digests stand for contents.
func listHashed(t *testing.T, dir string) []string {
	t.Helper()
	var all []line
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		l := lineOf(rel, info)
		if l.kind == "f" {
			l.content, err = hashFile(name)
		} else if l.kind == "l" {
			l.content, err = os.Readlink(name)
		}
		l.xattrs = osXattrs(t, name)
		all = append(all, l)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return listing(all)
}

func hashFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return fmt.Sprintf("%d %x", n, h.Sum(nil)), err
}

func unpackHere(t *testing.T, ref string) string {
	t.Helper()
	image, err := resolveRef(t, ref, amd64)
	if err != nil {
		t.Fatal(err)
	}
	h, dir := realHost(t)
	if _, err := Unpack(context.Background(), image, h, host.MachineRoot("m"), Options{}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, host.MachineRoot("m"))
}

// TestCorpusAgainstTar: what tar makes of a Debian, packed in all ways, and
// what we make of it are the same tree.
func TestCorpusAgainstTar(t *testing.T) {
	file := debianTar(t)
	theirs := t.TempDir()
	run(t, "tar", "-C", theirs, "--numeric-owner", "--xattrs", "--xattrs-include=*", "-xpf", file)
	want := listHashed(t, theirs)
	if len(want) < 5000 {
		t.Fatalf("the tree has %d entries only", len(want))
	}
	for _, pack := range []string{"cat", "gzip -1", "gzip -9", "pigz", "zstd -3", "zstd -9 --long=27"} {
		packed := filepath.Join(t.TempDir(), "x.tar")
		run(t, "sh", "-c", fmt.Sprintf("%s < %s > %s", pack, file, packed))
		if d := cmp.Diff(want, listHashed(t, unpackHere(t, packed))); d != "" {
			t.Errorf("%s: tar (-) and we (+):\n%s", pack, d)
		}
	}
}

// TestCorpusAgainstUmoci: images that both take are the same trees, as far as
// umoci does what the specification says.
func TestCorpusAgainstUmoci(t *testing.T) {
	debian, err := os.ReadFile(debianTar(t))
	if err != nil {
		t.Fatal(err)
	}
	images := map[string]v1.Image{"debian": ociImage(t, debian, tarOf(t, `
		d ./
		f etc/.wh.passwd
		f usr/share/doc/.wh..wh..opq
		mode=4755 f usr/bin/su new
		f etc/hostname node
		l etc/mtab -> /proc/mounts
		h etc/hard = etc/fstab
		d etc/default/
		d opt/
		f opt/x x`))}
	for _, c := range layerCases() {
		if !otherInUmoci(c.name) {
			images[c.name] = ociImage(t, tarOf(t, "d ./\n"+c.lower), tarOf(t, "d ./\n"+c.upper))
		}
	}
	for name, img := range images {
		t.Run(name, func(t *testing.T) {
			layout := writeLayout(t, img)
			bundle := filepath.Join(t.TempDir(), "bundle")
			out, err := exec.Command("umoci", "unpack", "--image", layout+":v1", bundle).CombinedOutput()
			if err != nil {
				t.Fatalf("umoci: %v\n%s", err, out)
			}
			ours, theirs := listHashed(t, unpackHere(t, "oci-layout:"+layout)), listHashed(t, filepath.Join(bundle, "rootfs"))
			if d := cmp.Diff(settled(theirs, theirs), settled(ours, theirs)); d != "" {
				t.Errorf("umoci (-) and we (+):\n%s", d)
			}
		})
	}
}

// ociImage is an image with the media types of OCI only.
func ociImage(t *testing.T, tars ...[]byte) v1.Image {
	t.Helper()
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, b := range tars {
		l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil },
			tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(1))
		if err != nil {
			t.Fatal(err)
		}
		if img, err = mutate.AppendLayers(img, l); err != nil {
			t.Fatal(err)
		}
	}
	return withPlatform(t, img, "linux/amd64")
}

// otherInUmoci are the cases in which umoci does otherwise: it fails where a
// directory takes the place of a file without an entry of its own and at a hard
// link to itself, keeps what union file systems leave behind, and empties what
// a link leads to.
func otherInUmoci(name string) bool {
	return slices.Contains([]string{"C47 file becomes directory without an entry", "C49 links that climb above the root",
		"hard link to itself", "metadata of a union file system", "opaque marker on a link empties nothing"}, name)
}

// settled blanks the times of directories that umoci leaves as its own work
// made them, which the listing other says.
func settled(lines, other []string) []string {
	loose := map[string]bool{}
	for _, l := range other {
		f := strings.Fields(l)
		at, err := strconv.ParseInt(f[4], 10, 64)
		loose[f[1]] = f[0] == "d" && (err != nil || at == 0 || time.Since(time.Unix(0, at)) < time.Hour)
	}
	var out []string
	for _, l := range lines {
		if f := strings.Fields(l); f[0] == "d" && loose[f[1]] {
			f[4] = "-"
			l = strings.Join(f, " ")
		}
		out = append(out, l)
	}
	return out
}
