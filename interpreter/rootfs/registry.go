package rootfs

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// registry gives the parts of an image from a registry, through the store.
type registry struct {
	src  Source
	repo name.Repository

	mu sync.Mutex
	rt http.RoundTripper // authenticated; nil before the first request
}

// resolveRegistry resolves a registry reference. A tag is asked for once.
func resolveRegistry(ctx context.Context, src Source, want Platform) (Image, error) {
	if err := src.checkNetwork(); err != nil {
		return Image{}, err
	}
	ref, err := name.ParseReference(src.Image, name.StrictValidation)
	if err != nil {
		return Image{}, err
	}
	if err := src.trust(); err != nil {
		return Image{}, err
	}
	r := &registry{src: src, repo: ref.Context()}
	top, err := r.top(ctx, ref)
	if err != nil {
		return Image{}, err
	}
	d, m, err := descend(ctx, r, top, want)
	if err != nil {
		return Image{}, err
	}
	image, err := imageOf(ctx, r, d, m, want)
	image.store = src.Store
	for i := range image.Layers {
		l := m.Layers[i]
		image.Layers[i].blob = l.Digest.String()
		image.Layers[i].fetch = func(ctx context.Context) error { return r.fetch(ctx, l) }
	}
	return image, err
}

// top is the descriptor of what a reference names.
func (r *registry) top(ctx context.Context, ref name.Reference) (v1.Descriptor, error) {
	if d, ok := ref.(name.Digest); ok {
		hash, err := v1.NewHash(d.DigestStr())
		return v1.Descriptor{Digest: hash}, err
	}
	raw, err := r.getManifest(ctx, ref.Identifier())
	if err != nil {
		return v1.Descriptor{}, err
	}
	hash, err := v1.NewHash(digestBytes(raw))
	if err != nil {
		return v1.Descriptor{}, err
	}
	return v1.Descriptor{Digest: hash}, r.src.Store.put(ctx, hash.String(), raw)
}

// manifest gives a manifest from the store if it is whole there, else from the
// registry.
func (r *registry) manifest(ctx context.Context, d v1.Descriptor) (io.ReadCloser, error) {
	digest := d.Digest.String()
	if whole, err := r.src.Store.whole(ctx, digest); err != nil {
		return nil, err
	} else if whole {
		return r.src.Store.open(digest)
	}
	raw, err := r.getManifest(ctx, digest)
	if err != nil {
		return nil, err
	}
	if digestBytes(raw) == digest {
		err = r.src.Store.put(ctx, digest, raw)
	}
	return io.NopCloser(bytes.NewReader(raw)), err
}

// acceptManifests are the kinds of documents that are understood; schema 1 is
// among them so that it can be named when it is refused.
func acceptManifests() string {
	return strings.Join([]string{
		string(types.OCIManifestSchema1), string(types.OCIImageIndex), string(types.DockerManifestSchema2),
		string(types.DockerManifestList), string(types.DockerManifestSchema1Signed), string(types.DockerManifestSchema1),
	}, ", ")
}

func (r *registry) getManifest(ctx context.Context, id string) (raw []byte, err error) {
	err = r.src.retry(ctx, func() (bool, error) {
		body, _, err := r.request(ctx, "manifests/"+id, byteRange{})
		if err != nil {
			return false, err
		}
		raw, err = readDocument(body)
		return false, err
	})
	return raw, err
}

// blob gives a blob from the store and brings it there first. Layers are held
// against their digest when they are unpacked.
func (r *registry) blob(ctx context.Context, d v1.Descriptor) (io.ReadCloser, error) {
	if d.MediaType.IsConfig() {
		if _, err := r.src.Store.whole(ctx, d.Digest.String()); err != nil {
			return nil, err
		}
	}
	if err := r.fetch(ctx, d); err != nil {
		return nil, err
	}
	return r.src.Store.open(d.Digest.String())
}

func (r *registry) fetch(ctx context.Context, d v1.Descriptor) error {
	w := wanted{digest: d.Digest.String(), size: d.Size, max: DefaultMaxBytes}
	return r.src.fetch(ctx, w, func(ctx context.Context, offset int64) (io.ReadCloser, bool, error) {
		return r.request(ctx, "blobs/"+d.Digest.String(), byteRange{offset, d.Size - 1})
	})
}

// byteRange is a closed range, because registries do not all take an open one;
// one from 0 is everything.
type byteRange struct{ from, to int64 }

// request asks the registry for a manifest or a blob.
func (r *registry) request(ctx context.Context, what string, part byteRange) (io.ReadCloser, bool, error) {
	ctx = r.src.trusting(ctx)
	rt, err := r.transport(ctx)
	if err != nil {
		return nil, false, err
	}
	address := fmt.Sprintf("%s://%s/v2/%s/%s", r.repo.Scheme(), r.repo.RegistryStr(), r.repo.RepositoryStr(), what)
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, false, err
	}
	if strings.HasPrefix(what, "manifests/") {
		req.Header.Set("Accept", acceptManifests())
	}
	if part.from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", part.from, part.to))
	}
	return openBody(ctx, rt, req, what)
}

// transport is the transport that authenticates, made once.
func (r *registry) transport(ctx context.Context) (http.RoundTripper, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rt != nil {
		return r.rt, nil
	}
	auth := authn.Anonymous
	if r.src.Keys != nil {
		var err error
		if auth, err = authn.Resolve(ctx, r.src.Keys, r.repo); err != nil {
			return nil, fmt.Errorf("credentials for %s: %w", r.repo.RegistryStr(), err)
		}
	}
	to := SecureFirst(r.src.Transport, r.repo.Registry)
	rt, err := transport.NewWithContext(ctx, r.repo.Registry, auth, to, []string{r.repo.Scope(transport.PullScope)})
	if err != nil {
		return nil, registryError(r.repo.RegistryStr(), err)
	}
	r.rt = rt
	return rt, nil
}

// registryError says which faults of the handshake may pass. A registry on a
// private address is tried without TLS, too, and then both answers are in err:
// a certificate tells more.
func registryError(hostname string, err error) error {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return transportError(hostname, err, nil)
	}
	if t, ok := errors.AsType[*transport.Error](err); ok {
		return tokenError(hostname, t)
	}
	return transportError(hostname, err, nil)
}

// tokenError is an answer to the handshake that is not the one wanted.
func tokenError(hostname string, t *transport.Error) error {
	e := fmt.Errorf("%s refuses access (%d %s)", hostname, t.StatusCode, http.StatusText(t.StatusCode))
	if t.Temporary() {
		return passing{e}
	}
	return e
}
