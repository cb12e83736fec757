package requirecapability

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/rootfs"
)

// picture is an image that is asked for.
type picture struct{ ref, sha256, ca string }

func image(p picture, o Options) probe {
	ref := p.ref
	return func(ctx context.Context, in block.Look) (*finding, error) {
		if there, err := p.cached(in); there || err != nil {
			return nil, err
		}
		within, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		var err error
		if !rootfs.IsLocal(ref) {
			if within, err = rootfs.Trusting(within, in.View.Files, p.ca); err != nil {
				return nil, fmt.Errorf("ca_certificate: %w", err)
			}
		}
		err = o.Image(within, in.View, ref)
		if err == nil || errors.Is(err, host.ErrUnknown) || ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		f := &finding{summary: fmt.Sprintf("the image %s cannot be had: %v", rootfs.Redact(ref), plainCause(err)), advice: "check the reference, the network and who may read it"}
		if refused, ok := errors.AsType[*transport.Error](err); !ok || refused.Temporary() {
			f.passing = block.FaultNetwork
		}
		return f, nil
	}
}

// cached says whether the cache has what is named by a digest: then no network
// is needed.
func (p picture) cached(in block.Look) (bool, error) {
	digest := rootfs.Identity(p.ref, p.sha256)
	if in.Cache == "" || !strings.HasPrefix(digest, "sha256:") || rootfs.IsLocal(p.ref) {
		return false, nil
	}
	return rootfs.HasBlob(in.Outer.Files, in.Cache, digest)
}

// plainCause is an error without the address in it, whose query may be a
// signature.
func plainCause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// checkImage holds a registry reference to its full form: nothing is guessed.
func checkImage(v cty.Value) error {
	ref := v.AsString()
	if path.IsAbs(ref) {
		return block.CheckPath(ref)
	}
	switch {
	case strings.HasPrefix(ref, "https://"):
		return nil
	case strings.HasPrefix(ref, "oci-layout:"), strings.HasPrefix(ref, "http://"):
		if err := rootfs.CheckReference(ref, ""); err != nil {
			return block.Advicef("%v.", err)
		}
		return nil
	}
	if _, err := name.ParseReference(ref, name.StrictValidation); err != nil {
		return block.Advicef("%q is no full reference; write the registry, the repository and a tag or digest, for example \"registry.example.com/worker:1.2.0\".", ref)
	}
	return nil
}

// hasManifest says whether an image is there, without fetching its layers.
func hasManifest(ctx context.Context, v host.View, ref string) error {
	if strings.HasPrefix(ref, "oci-layout:") {
		return rootfs.HasLayout(v.Files, ref)
	}
	if strings.HasPrefix(ref, "https://") {
		return hasArchive(ctx, v, ref)
	}
	if path.IsAbs(ref) {
		_, err := v.Files.Stat(ref)
		return err
	}
	parsed, err := name.ParseReference(ref, name.StrictValidation)
	if err != nil {
		return err
	}
	to := rootfs.SecureFirst(v.Network.Transport(), parsed.Context().Registry)
	_, err = remote.Head(parsed, remote.WithContext(ctx), remote.WithTransport(to), remote.WithAuthFromKeychain(rootfs.Keys(v.Files, rootfs.DefaultKeys()...)))
	return err
}

// hasArchive asks for the head of the archive, or for the archive where that
// is not allowed; its body is not read.
func hasArchive(ctx context.Context, v host.View, address string) error {
	client := &http.Client{Transport: v.Network.Transport()}
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		req, err := http.NewRequestWithContext(ctx, method, address, nil)
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		if err := res.Body.Close(); err != nil {
			return err
		}
		if res.StatusCode < http.StatusBadRequest {
			return nil
		}
		if method == http.MethodGet || res.StatusCode == http.StatusNotFound {
			return fmt.Errorf("the server answers with status %d", res.StatusCode)
		}
	}
	return nil
}
