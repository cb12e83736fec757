package rootfs

import (
	"context"
	"io"
)

// Image is a resolved image.
type Image struct {
	// Ref is the image's name for people: addresses are without query.
	Ref string
	// Identity is [Identity] of the source.
	Identity string
	// Digest is "sha256:HEX" of the manifest; of the configuration for a
	// docker archive, of the bytes for a plain tar.
	Digest   string
	Platform Platform
	// Layers are in the order in which they are applied.
	Layers []Layer
	// Size is the number of bytes of all layers as stored, 0 if unknown.
	Size int64

	store *Store // where blobs are kept; nil for local images
	// packed is true when opening a layer means to read a compressed archive
	// up to it.
	packed bool
}

// title is the image's name with the digest that it stands for.
func (i Image) title() string {
	if i.Digest == "" || i.Identity == i.Digest {
		return i.Ref
	}
	return i.Ref + " (" + i.Digest + ")"
}

// Layer is one layer of an image.
type Layer struct {
	// Digest is of the bytes as stored and DiffID of the tar in them; one of
	// them may be "" where the image does not say it.
	Digest, DiffID string
	// Size is the number of bytes as stored, 0 if unknown.
	Size int64
	// plain is true for a tar of a whole root file system, where names that
	// look like whiteouts are files.
	plain bool
	// unsure is true where Digest was taken from the bytes as they were found,
	// so that it cannot tell whether they are all: the end mark of the tar has
	// to.
	unsure bool
	open   func(ctx context.Context) (io.ReadCloser, error)
	// blob is the digest of the blob in the image's store that the layer is
	// read from, "" for local ones.
	blob string
	// fetch brings a layer that is not local into the store; nil for others.
	fetch func(ctx context.Context) error
}
