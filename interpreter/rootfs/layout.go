package rootfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"hostler/interpreter/host"
)

// layoutFiles are the files of an OCI layout or a docker archive.
type layoutFiles interface {
	open(ctx context.Context, name string) (io.ReadCloser, error)
}

// dirFiles are files below a directory of the host.
type dirFiles struct {
	files host.FileView
	dir   string
}

func (d dirFiles) open(_ context.Context, name string) (io.ReadCloser, error) {
	return d.files.Open(path.Join(d.dir, name))
}

// layout is an OCI image layout.
type layout struct{ files layoutFiles }

func (l layout) manifest(ctx context.Context, d v1.Descriptor) (io.ReadCloser, error) {
	return l.blob(ctx, d)
}

func (l layout) blob(ctx context.Context, d v1.Descriptor) (io.ReadCloser, error) {
	if len(d.Data) > 0 {
		return io.NopCloser(bytes.NewReader(d.Data)), nil
	}
	return l.files.open(ctx, path.Join("blobs", d.Digest.Algorithm, d.Digest.Hex))
}

// resolve finds the image of that tag, "" for the only one.
func (l layout) resolve(ctx context.Context, tag string, want Platform) (Image, error) {
	r, err := l.files.open(ctx, "index.json")
	if err != nil {
		return Image{}, fmt.Errorf("no OCI layout: %w", err)
	}
	raw, err := readDocument(r)
	if err != nil {
		return Image{}, fmt.Errorf("index.json: %w", err)
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(raw))
	if err != nil {
		return Image{}, fmt.Errorf("index.json: %w", err)
	}
	top, err := pick(index.Manifests, tag, want)
	if err != nil {
		return Image{}, err
	}
	d, m, err := descend(ctx, l, top, want)
	if err != nil {
		return Image{}, err
	}
	return imageOf(ctx, l, d, m, want)
}

// The annotations by which layouts name their images.
const (
	refName       = "org.opencontainers.image.ref.name"
	containerdRef = "io.containerd.image.name"
)

// pick chooses among the entries of a layout's index.
func pick(all []v1.Descriptor, tag string, want Platform) (v1.Descriptor, error) {
	var found []v1.Descriptor
	var names []string
	for _, d := range all {
		if isAttestation(d) {
			continue
		}
		name := d.Annotations[refName]
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		if tag == "" || named(d, tag) {
			found = append(found, d)
		}
	}
	there := "it names no tags"
	if len(names) > 0 {
		there = "there is " + strings.Join(names, ", ")
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 && tag != "":
		return v1.Descriptor{}, fmt.Errorf("the layout has no image tagged %q; %s", tag, there)
	case len(found) == 0:
		return v1.Descriptor{}, errors.New("the layout holds no image")
	case tag == "" && len(names) > 1:
		return v1.Descriptor{}, fmt.Errorf("the layout holds more than one image; add :TAG; %s", there)
	}
	return choose(found, want)
}

// HasLayout says why an OCI layout has no image of the tag that a reference to
// it names, nil if it has. Of a layout in a tar only that it is there is looked
// at. Nothing is verified.
func HasLayout(f host.FileView, image string) error {
	ref, err := parseReference(image)
	if err != nil {
		return err
	}
	info, err := f.Stat(ref.path)
	if err != nil || !info.IsDir() {
		return err
	}
	name := path.Join(ref.path, "index.json")
	file, err := f.Open(name)
	if err != nil {
		return err
	}
	raw, err := readDocument(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, d := range index.Manifests {
		if !isAttestation(d) && (ref.tag == "" || named(d, ref.tag)) {
			return nil
		}
	}
	if ref.tag == "" {
		return fmt.Errorf("%s holds no image", ref.path)
	}
	return fmt.Errorf("%s holds no image with the tag %s", ref.path, ref.tag)
}

func named(d v1.Descriptor, tag string) bool {
	for _, key := range []string{refName, containerdRef} {
		if name := d.Annotations[key]; name == tag || strings.HasSuffix(name, ":"+tag) {
			return true
		}
	}
	return false
}
