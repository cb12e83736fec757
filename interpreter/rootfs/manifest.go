package rootfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// blobs gives the parts of an image by digest. What it gives is not verified.
type blobs interface {
	// manifest opens a manifest or an index.
	manifest(ctx context.Context, d v1.Descriptor) (io.ReadCloser, error)
	// blob opens a configuration or a layer.
	blob(ctx context.Context, d v1.Descriptor) (io.ReadCloser, error)
}

// maxDocument bounds manifests and configurations, in bytes.
const maxDocument = 8 << 20

// maxDepth bounds indexes within indexes.
const maxDepth = 4

// document reads a manifest or configuration and verifies it.
func document(d v1.Descriptor, open func() (io.ReadCloser, error)) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Digest, err)
	}
	b, err := readDocument(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Digest, err)
	}
	if got := digestBytes(b); got != d.Digest.String() {
		return nil, fmt.Errorf("%s: its bytes have the digest %s: they are damaged", d.Digest, got)
	}
	return b, nil
}

func readDocument(r io.ReadCloser) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if len(b) > maxDocument {
		return nil, fmt.Errorf("it is larger than %d bytes", maxDocument)
	}
	return b, nil
}

func digestBytes(b []byte) string {
	h := sha256.New()
	h.Write(b)
	return hexDigest(h)
}

// descend goes from a descriptor to the manifest of one image.
func descend(ctx context.Context, from blobs, d v1.Descriptor, want Platform) (v1.Descriptor, *v1.Manifest, error) {
	for range maxDepth {
		raw, err := document(d, func() (io.ReadCloser, error) { return from.manifest(ctx, d) })
		if err != nil {
			return d, nil, fmt.Errorf("manifest %w", err)
		}
		if err := checkManifestType(raw, &d); err != nil {
			return d, nil, fmt.Errorf("manifest %s: %w", d.Digest, err)
		}
		if !d.MediaType.IsIndex() {
			m, err := v1.ParseManifest(bytes.NewReader(raw))
			if err != nil {
				return d, nil, fmt.Errorf("manifest %s: %w", d.Digest, err)
			}
			return d, m, nil
		}
		index, err := v1.ParseIndexManifest(bytes.NewReader(raw))
		if err != nil {
			return d, nil, fmt.Errorf("index %s: %w", d.Digest, err)
		}
		if d, err = choose(index.Manifests, want); err != nil {
			return d, nil, err
		}
	}
	return d, nil, fmt.Errorf("the image's indexes are nested deeper than %d", maxDepth)
}

// checkManifestType finds out what a document is: what it says of itself, or
// what it looks like where neither it nor its descriptor says anything.
func checkManifestType(raw []byte, d *v1.Descriptor) error {
	var seen struct {
		SchemaVersion int              `json:"schemaVersion"`
		MediaType     types.MediaType  `json:"mediaType"`
		Manifests     *json.RawMessage `json:"manifests"`
		Layers        *json.RawMessage `json:"layers"`
	}
	if err := json.Unmarshal(raw, &seen); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if seen.SchemaVersion == 1 || d.MediaType.IsSchema1() {
		return errors.New("image manifests of schema 1 are not supported; push the image again with a current tool")
	}
	switch {
	case seen.MediaType != "":
		d.MediaType = seen.MediaType
	case seen.Manifests != nil && seen.Layers == nil:
		d.MediaType = types.OCIImageIndex
	case seen.Layers != nil && seen.Manifests == nil:
		d.MediaType = types.OCIManifestSchema1
	}
	if !d.MediaType.IsImage() && !d.MediaType.IsIndex() {
		return fmt.Errorf("media type %q is no image", d.MediaType)
	}
	return nil
}

// imageOf makes an Image of a manifest.
func imageOf(ctx context.Context, from blobs, d v1.Descriptor, m *v1.Manifest, want Platform) (Image, error) {
	if !m.Config.MediaType.IsConfig() {
		return Image{}, fmt.Errorf("manifest %s: its configuration is %q: it is no container image", d.Digest, m.Config.MediaType)
	}
	raw, err := document(m.Config, func() (io.ReadCloser, error) { return from.blob(ctx, m.Config) })
	if err != nil {
		return Image{}, fmt.Errorf("configuration %w", err)
	}
	platform, diffIDs, err := parseConfig(raw, want)
	if err != nil {
		return Image{}, fmt.Errorf("configuration %s: %w", m.Config.Digest, err)
	}
	if len(diffIDs) != len(m.Layers) {
		return Image{}, fmt.Errorf("manifest %s has %d layers, but its configuration %d", d.Digest, len(m.Layers), len(diffIDs))
	}
	image := Image{Digest: d.Digest.String(), Platform: platform}
	for i, l := range m.Layers {
		if err := checkLayer(l); err != nil {
			return Image{}, err
		}
		image.Size += l.Size
		image.Layers = append(image.Layers, Layer{
			Digest: l.Digest.String(), DiffID: diffIDs[i], Size: l.Size,
			open: func(ctx context.Context) (io.ReadCloser, error) { return from.blob(ctx, l) },
		})
	}
	return image, nil
}

func parseConfig(raw []byte, want Platform) (Platform, []string, error) {
	config, err := v1.ParseConfigFile(bytes.NewReader(raw))
	if err != nil {
		return Platform{}, nil, err
	}
	got := Platform{config.OS, config.Architecture, config.Variant}
	if got.OS == "" && got.Architecture == "" {
		got = want
	}
	if want.rank(got) == 0 {
		return got, nil, noPlatform(want, []string{got.String()})
	}
	var ids []string
	for _, id := range config.RootFS.DiffIDs {
		ids = append(ids, id.String())
	}
	return got, ids, nil
}

// checkLayer refuses layers that are no tar. How a tar is compressed is found
// out from its bytes.
func checkLayer(l v1.Descriptor) error {
	mediaType := string(l.MediaType)
	if !l.MediaType.IsDistributable() || len(l.URLs) > 0 {
		return fmt.Errorf("layer %s is a foreign one, to be had from its vendor only; such images are not supported", l.Digest)
	}
	if mediaType == "" || l.MediaType.IsLayer() || slices.Contains([]string{
		"application/vnd.docker.image.rootfs.diff.tar.zstd", "application/vnd.docker.image.rootfs.diff.tar",
	}, mediaType) {
		return nil
	}
	if strings.HasSuffix(mediaType, "+encrypted") {
		return fmt.Errorf("layer %s is encrypted", l.Digest)
	}
	return fmt.Errorf("layer %s has the media type %q, which is no tar", l.Digest, mediaType)
}
