package rootfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

func (src Source) checkNetwork() error {
	if src.Store == nil || src.Transport == nil || src.Clock == nil || src.Files == nil {
		return errors.New("the image is not local and there is no network here")
	}
	return nil
}

// resolveHTTPS fetches a tar and resolves it from the store.
func resolveHTTPS(ctx context.Context, src Source, want Platform) (Image, error) {
	if err := src.checkNetwork(); err != nil {
		return Image{}, err
	}
	if err := src.trust(); err != nil {
		return Image{}, err
	}
	digest := "sha256:" + src.SHA256
	w := wanted{digest: digest, max: DefaultMaxBytes}
	err := src.fetch(ctx, w, func(ctx context.Context, offset int64) (io.ReadCloser, bool, error) {
		return openURL(src.trusting(ctx), src.Transport, src.Image, offset)
	})
	if err != nil {
		return Image{}, err
	}
	image, err := resolveFile(ctx, localFile{src.Store.files, src.Store.path(digest), src.SHA256}, want)
	if err != nil {
		return Image{}, src.Store.recheck(ctx, digest, err)
	}
	image.store = src.Store
	for i := range image.Layers {
		image.Layers[i].blob = digest
	}
	return image, nil
}

// openURL opens what is at an address from an offset on.
func openURL(ctx context.Context, rt http.RoundTripper, address string, offset int64) (io.ReadCloser, bool, error) {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, false, errors.New("the address cannot be parsed")
	}
	if offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	return openBody(ctx, rt, req, "the archive")
}

// openBody gets a body, and says whether it starts at 0. A server that cannot
// go on where the last try ended is asked for all of it.
func openBody(ctx context.Context, rt http.RoundTripper, req *http.Request, what string) (io.ReadCloser, bool, error) {
	res, err := get(ctx, rt, req, what)
	if e, ok := errors.AsType[*statusError](err); ok && e.status == http.StatusRequestedRangeNotSatisfiable {
		req = req.Clone(ctx)
		req.Header.Del("Range")
		res, err = get(ctx, rt, req, what)
	}
	if err != nil {
		return nil, false, err
	}
	return res.Body, res.StatusCode == http.StatusOK, nil
}
