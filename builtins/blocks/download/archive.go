package download

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/rootfs"
)

// hostile says whether a member's name tries to lead somewhere: absolute, with
// "..", a backslash or a NUL.
func hostile(name string) bool {
	return name == "" || name[0] == '/' || strings.ContainsAny(name, "\\\x00") || slices.Contains(strings.Split(name, "/"), "..")
}

// cleaned is a member's name without "./" and a final slash.
func cleaned(name string) string { return path.Clean(name) }

// maxMembers bounds how many entries an archive may have, unpackedMax how many
// times larger than max_bytes it may be unpacked.
const (
	maxMembers  = 1_000_000
	unpackedMax = 64
)

// placeMembers takes members out of the archive. Of two with one name the last
// wins, so the archive is gone through twice: nothing is written before all of
// it was seen.
func (s *step) placeMembers(ctx context.Context, do block.Do, store *rootfs.Store, made resolution) error {
	last := map[int]string{}
	err := s.walk(ctx, store, made.Blob, func(n int, h *tar.Header, _ io.Reader) error {
		if hostile(h.Name) {
			return fmt.Errorf("the archive has a member with the hostile name %q; it is not unpacked", h.Name)
		}
		for _, to := range s.paths {
			if s.files[to] == cleaned(h.Name) {
				return s.note(last, n, to, h)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.complete(last); err != nil {
		return err
	}
	return s.walk(ctx, store, made.Blob, func(n int, _ *tar.Header, in io.Reader) error {
		to, wanted := last[n]
		if !wanted || made.Files[to] != "" {
			return nil
		}
		got, err := s.place(ctx, do.Host.Files, to, in, "")
		made.Files[to] = got
		return err
	})
}

// note remembers which entry is the one to take for a path.
func (s *step) note(last map[int]string, n int, to string, h *tar.Header) error {
	switch {
	case h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink:
		return fmt.Errorf("member %s is a link to %q; name the member it leads to", s.files[to], h.Linkname)
	case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeGNUSparse || strings.HasSuffix(h.Name, "/"):
		return fmt.Errorf("member %s is no regular file", s.files[to])
	case h.Size > s.args.MaxBytes:
		return fmt.Errorf("member %s has %d bytes, and max_bytes is %d", s.files[to], h.Size, s.args.MaxBytes)
	}
	for earlier, path := range last {
		if path == to {
			delete(last, earlier)
		}
	}
	last[n] = to
	return nil
}

func (s *step) complete(last map[int]string) error {
	var missing []string
	for _, to := range s.paths {
		found := false
		for _, path := range last {
			found = found || path == to
		}
		if !found {
			missing = append(missing, s.files[to])
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the archive has no member %s", strings.Join(missing, ", "))
	}
	return nil
}

// walk visits every entry of the archive, numbered.
func (s *step) walk(ctx context.Context, store *rootfs.Store, blob string, visit func(n int, h *tar.Header, in io.Reader) error) error {
	file, err := store.Open(blob)
	if err != nil {
		return err
	}
	plain, err := rootfs.Decompress(bound{ctx, file})
	if err != nil {
		return errors.Join(fmt.Errorf("the archive cannot be read: %w", err), file.Close())
	}
	limit := &io.LimitedReader{R: plain, N: s.args.MaxBytes * unpackedMax}
	return errors.Join(entries(limit, visit), plain.Close(), file.Close())
}

func entries(limit *io.LimitedReader, visit func(n int, h *tar.Header, in io.Reader) error) error {
	r := tar.NewReader(limit)
	for n := 0; ; n++ {
		h, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) && limit.N > 0:
			return nil
		case limit.N <= 0 || n >= maxMembers:
			return fmt.Errorf("the archive is too large: it unpacks to more than %d times max_bytes, or has more than %d members", unpackedMax, maxMembers)
		case err != nil:
			return fmt.Errorf("the archive cannot be read as a tar: %w", err)
		case h.Typeflag == tar.TypeXGlobalHeader:
			continue
		}
		if err := visit(n, h, r); err != nil {
			return err
		}
	}
}

// sameOrigin says whether two URLs are on one server.
func sameOrigin(a, b string) bool {
	x, err := url.Parse(a)
	y, also := url.Parse(b)
	return err == nil && also == nil && x.Scheme == y.Scheme && strings.EqualFold(x.Host, y.Host)
}
