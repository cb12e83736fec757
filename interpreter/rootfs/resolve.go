package rootfs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"hostler/interpreter/host"
)

// Resolve finds out what an image is made of. Manifests and configurations are
// verified by digest here, layers when they are unpacked. A tar is read for
// its digest unless src.SHA256 gives it; one over https is fetched into the
// store first.
func Resolve(ctx context.Context, src Source, want Platform) (Image, error) {
	image, err := resolve(ctx, src, want)
	if err != nil {
		return Image{}, fmt.Errorf("image %s: %w", Redact(src.Image), err)
	}
	image.Ref = Redact(src.Image)
	image.Identity = Identity(src.Image, src.SHA256)
	return image, nil
}

func resolve(ctx context.Context, src Source, want Platform) (Image, error) {
	if err := CheckReference(src.Image, src.SHA256); err != nil {
		return Image{}, err
	}
	ref, err := parseReference(src.Image)
	if err != nil {
		return Image{}, err
	}
	switch ref.kind {
	case refLayout:
		return resolveLayout(ctx, src.Files, ref, want)
	case refFile:
		return resolveFile(ctx, localFile{src.Files, ref.path, src.SHA256}, want)
	case refHTTPS:
		return resolveHTTPS(ctx, src, want)
	}
	return resolveRegistry(ctx, src, want)
}

// resolveLayout resolves an OCI layout in a directory or in a tar.
func resolveLayout(ctx context.Context, f host.FileView, ref reference, want Platform) (Image, error) {
	info, err := f.Stat(ref.path)
	if err != nil {
		return Image{}, err
	}
	if info.IsDir() {
		return layout{dirFiles{f, ref.path}}.resolve(ctx, ref.tag, want)
	}
	a, err := openArchive(ctx, f, ref.path)
	if err != nil {
		return Image{}, err
	}
	image, err := layout{a}.resolve(ctx, ref.tag, want)
	image.packed = a.packed
	return image, err
}

// localFile is a tar on the host.
type localFile struct {
	files  host.FileView
	path   string
	sha256 string // "" if not said
}

// resolveFile resolves a tar, whatever it holds.
func resolveFile(ctx context.Context, file localFile, want Platform) (Image, error) {
	a, err := openArchive(ctx, file.files, file.path)
	if errors.Is(err, errNoImage) {
		return resolvePlain(ctx, file, want)
	}
	if err != nil {
		return Image{}, err
	}
	if !a.has("index.json") && !a.has("manifest.json") {
		return resolvePlain(ctx, file, want)
	}
	if err := file.verify(ctx); err != nil {
		return Image{}, err
	}
	var image Image
	if a.has("index.json") && a.has("oci-layout") {
		image, err = layout{a}.resolve(ctx, "", want)
	} else {
		image, err = resolveDocker(ctx, a, want)
	}
	image.packed = a.packed
	return image, err
}

// verify holds the file against the digest that was said.
func (l localFile) verify(ctx context.Context) error {
	if l.sha256 == "" {
		return nil
	}
	got, err := l.digest(ctx)
	if err == nil && got != "sha256:"+l.sha256 {
		err = fmt.Errorf("its bytes have the digest %s, not sha256:%s", got, l.sha256)
	}
	return err
}

func (l localFile) digest(ctx context.Context) (string, error) {
	r, err := l.files.Open(l.path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, withContext{ctx, r})
	return hexDigest(h), errors.Join(err, r.Close())
}

// withContext stops reading when the context ends.
type withContext struct {
	ctx context.Context
	io.Reader
}

func (w withContext) Read(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Reader.Read(b)
}

// resolvePlain makes an image of a tar of a root file system: one layer, of
// the platform that was asked for, for nothing says otherwise.
func resolvePlain(ctx context.Context, file localFile, want Platform) (Image, error) {
	digest := "sha256:" + file.sha256
	if file.sha256 == "" {
		var err error
		if digest, err = file.digest(ctx); err != nil {
			return Image{}, err
		}
	}
	info, err := file.files.Stat(file.path)
	if err != nil {
		return Image{}, err
	}
	if info.IsDir() {
		return Image{}, fmt.Errorf("%s is a directory; write oci-layout:%s for an OCI layout", file.path, file.path)
	}
	open := func(context.Context) (io.ReadCloser, error) { return file.files.Open(file.path) }
	return Image{
		Digest: digest, Platform: want, Size: info.Size(),
		Layers: []Layer{{Digest: digest, Size: info.Size(), plain: true, unsure: file.sha256 == "", open: open}},
	}, nil
}
