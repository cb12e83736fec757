package rootfs

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
)

// archive is a tar on the host whose members are read by name. Members of an
// uncompressed tar are read where they lie; those of a compressed one by
// reading it again from the start, but small ones are kept from the first
// time.
type archive struct {
	files   host.FileView
	path    string
	packed  bool // compressed
	members map[string]member
}

type member struct {
	offset, size int64
	kept         []byte
	target       string // of links
}

// Bounds of what is kept of a compressed archive.
const (
	keepMember = 1 << 20
	keepAll    = 32 << 20
)

// maxMembers bounds the index of an archive that holds an image.
const maxMembers = 100_000

var errNoImage = errors.New("the archive holds no image layout")

// openArchive indexes a tar that holds an image. errNoImage means that it
// holds something else, which is found out early.
func openArchive(ctx context.Context, f host.FileView, name string) (*archive, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	a := &archive{files: f, path: name, members: map[string]member{}}
	err = a.index(ctx, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *archive) index(ctx context.Context, file afero.File) error {
	head := make([]byte, 512)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	a.packed = compression(head[:n]) != ""
	if !a.packed {
		return a.scan(ctx, tar.NewReader(file), func() (int64, error) { return file.Seek(0, io.SeekCurrent) })
	}
	z, err := decompress(file)
	if err != nil {
		return err
	}
	return errors.Join(a.scan(ctx, tar.NewReader(z), nil), z.Close())
}

func (a *archive) scan(ctx context.Context, r *tar.Reader, where func() (int64, error)) error {
	kept := 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: not a readable tar: %w", a.path, err)
		}
		name := strings.TrimPrefix(path.Clean("/"+h.Name), "/")
		if name == "" || h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if !belongsToImage(name) || len(a.members) > maxMembers {
			return errNoImage
		}
		if err := a.note(name, h, r, where, &kept); err != nil {
			return err
		}
	}
}

// belongsToImage says whether an archive with this member can be an image
// layout. Legacy docker archives have directories named by digests.
func belongsToImage(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	switch top {
	case "blobs", "oci-layout", "index.json", "manifest.json", "repositories":
		return true
	}
	top = strings.TrimPrefix(top, "sha256:")
	for _, suffix := range []string{".json", ".tar", ".tar.gz"} {
		top = strings.TrimSuffix(top, suffix)
	}
	return isHex(top)
}

func (a *archive) note(name string, h *tar.Header, r io.Reader, where func() (int64, error), kept *int) error {
	m := member{size: h.Size}
	switch h.Typeflag {
	case tar.TypeSymlink:
		m.target = path.Join(path.Dir("/"+name), h.Linkname)[1:]
	case tar.TypeLink:
		m.target = path.Clean("/" + h.Linkname)[1:]
	}
	var err error
	switch {
	case where != nil:
		m.offset, err = where()
	case h.Size <= keepMember && *kept < keepAll && isRegular(h):
		m.kept = make([]byte, h.Size)
		_, err = io.ReadFull(r, m.kept)
		*kept += len(m.kept)
	}
	a.members[name] = m
	return err
}

// has says whether there is a member of that name.
func (a *archive) has(name string) bool {
	_, ok := a.members[name]
	return ok
}

// open reads a member.
func (a *archive) open(ctx context.Context, name string) (io.ReadCloser, error) {
	m, ok := a.members[name]
	for hops := 0; ok && m.target != "" && hops < maxHops; hops++ {
		name = m.target
		m, ok = a.members[name]
	}
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: there is no %s in it", a.path, name)
	case m.kept != nil || m.size == 0:
		return io.NopCloser(bytes.NewReader(m.kept)), nil
	case a.packed:
		return a.again(ctx, name)
	}
	file, err := a.files.Open(a.path)
	if err != nil {
		return nil, err
	}
	return section{io.NewSectionReader(file, m.offset, m.size), file.Close}, nil
}

// section is a part of a file with something to close.
type section struct {
	*io.SectionReader
	close func() error
}

func (s section) Close() error { return s.close() }

// again reads a compressed archive up to the member.
func (a *archive) again(ctx context.Context, name string) (io.ReadCloser, error) {
	file, err := a.files.Open(a.path)
	if err != nil {
		return nil, err
	}
	z, err := decompress(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	both := func() error { return errors.Join(z.Close(), file.Close()) }
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", a.path, err), both())
		}
		if strings.TrimPrefix(path.Clean("/"+h.Name), "/") == name && isRegular(h) {
			return withClose{r, both}, nil
		}
	}
}

// withClose is a reader with something to close.
type withClose struct {
	io.Reader
	close func() error
}

func (w withClose) Close() error { return w.close() }
