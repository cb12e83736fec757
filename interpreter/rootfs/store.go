package rootfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
)

// Store keeps blobs below a directory of the host by their digest: what lies
// there under its final name is whole and durable. It may be filled beforehand
// with files sha256/HEX. It is safe for use by several goroutines of one
// process.
type Store struct {
	files host.Files
	dir   string
	turns *host.Turns // at a digest
}

// NewStore returns the store in a directory, which is made when first needed.
func NewStore(f host.Files, dir string) *Store {
	return &Store{files: f, dir: path.Join(dir, "sha256"), turns: &host.Turns{}}
}

// Shared returns a view of the store that takes turns with others who have a
// store in the same directory; nil changes nothing.
func (s *Store) Shared(turns *host.Turns) *Store {
	if turns == nil {
		return s
	}
	return &Store{files: s.files, dir: s.dir, turns: turns}
}

// partialSuffix is on the names of blobs that are not whole.
const partialSuffix = ".partial"

func (s *Store) path(digest string) string {
	return path.Join(s.dir, strings.TrimPrefix(digest, "sha256:"))
}

func (s *Store) has(digest string) (bool, error) {
	info, err := host.Lstat(s.files, s.path(digest))
	if host.Absent(err) {
		return false, nil
	}
	return err == nil && info.Mode().IsRegular(), err
}

func (s *Store) open(digest string) (afero.File, error) { return s.files.Open(s.path(digest)) }

// touch notes that a blob was used. One in a store that cannot be changed
// stays as it is.
func (s *Store) touch(digest string, now time.Time) error {
	err := s.files.Chtimes(s.path(digest), now, now)
	if errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EPERM) {
		return nil
	}
	return err
}

// whole says whether a blob is there as its digest says. One that is damaged is
// removed.
func (s *Store) whole(ctx context.Context, digest string) (bool, error) {
	if there, err := s.has(digest); !there || err != nil {
		return false, err
	}
	got, err := localFile{files: s.files, path: s.path(digest)}.digest(ctx)
	if err != nil || got == digest {
		return err == nil, err
	}
	return false, s.Drop(digest)
}

// recheck looks for the cause of a fault in what was read from a blob: where
// that is damaged, it is removed, and the next try fetches it again.
func (s *Store) recheck(ctx context.Context, digest string, fault error) error {
	whole, err := s.whole(ctx, digest)
	if err != nil || whole {
		return errors.Join(fault, err)
	}
	return passing{fmt.Errorf("%w; its copy in the cache was damaged and is removed now", fault)}
}

// put stores bytes that are in memory.
func (s *Store) put(ctx context.Context, digest string, b []byte) error {
	give, err := s.turns.Take(ctx, digest)
	if err != nil {
		return err
	}
	defer give()
	if err := ensureDir(s.files, s.dir, 0o700); err != nil {
		return err
	}
	return host.Replace(s.files, s.path(digest), host.Content{Bytes: b, Mode: 0o600})
}

// wanted is a blob that is to be fetched.
type wanted struct {
	digest string
	size   int64 // 0 if unknown
	max    int64 // bytes, if the size is unknown
}

// opener opens a blob from an offset on. whole is true when it starts at 0
// whatever the offset.
type opener func(ctx context.Context, offset int64) (body io.ReadCloser, whole bool, err error)

// pull makes one try to bring a blob into the store. Bytes that an earlier try
// or run got are kept and only the rest is asked for. got is how many bytes
// came.
func (s *Store) pull(ctx context.Context, w wanted, from opener, seen func(int64)) (got int64, err error) {
	if err := ensureDir(s.files, s.dir, 0o700); err != nil {
		return 0, err
	}
	partial := s.path(w.digest) + partialSuffix
	file, err := s.files.OpenFile(partial, syscall.O_RDWR|syscall.O_CREAT, 0o600)
	if err != nil {
		return 0, err
	}
	kept, got, err := s.append(ctx, file, w, from, seen)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return got, err
	}
	err = s.accept(w, partial)
	if _, wrong := errors.AsType[*digestError](err); wrong && kept > 0 {
		// What an earlier try or run left may be what is damaged.
		err = passing{err}
	}
	return got, err
}

// append adds to the partial file what it has not. kept is how many bytes it
// had.
func (s *Store) append(ctx context.Context, file afero.File, w wanted, from opener, seen func(int64)) (kept, got int64, err error) {
	offset, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, 0, err
	}
	if w.size > 0 && offset == w.size {
		return offset, 0, nil
	}
	if w.size > 0 && offset > w.size {
		offset = 0
	}
	body, whole, err := from(ctx, offset)
	if err != nil {
		return offset, 0, err
	}
	if whole {
		offset = 0
	}
	n, err := rewrite(file, offset, body, w.limit(), seen)
	err = errors.Join(err, body.Close())
	if err == nil && w.size > 0 && offset+n != w.size {
		err = passing{fmt.Errorf("the blob ended after %d of %d bytes", offset+n, w.size)}
	}
	return offset, n, err
}

func (w wanted) limit() int64 {
	if w.size > 0 {
		return w.size
	}
	return w.max
}

// rewrite puts body at the offset of the file, which ends there.
func rewrite(file afero.File, offset int64, body io.Reader, limit int64, seen func(int64)) (int64, error) {
	if err := file.Truncate(offset); err != nil {
		return 0, err
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	var n int64
	buf := make([]byte, 1<<17)
	for {
		got, err := body.Read(buf)
		if offset+n+int64(got) > limit {
			return n, fmt.Errorf("the blob is larger than %d bytes", limit)
		}
		if _, werr := file.Write(buf[:got]); werr != nil {
			return n, werr
		}
		n += int64(got)
		seen(offset + n)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, passing{fmt.Errorf("the transfer broke off after %d bytes: %w", offset+n, err)}
		}
	}
}

// digestError is a blob that is not what it was asked for as.
type digestError struct{ got, want string }

func (e *digestError) Error() string {
	return fmt.Sprintf("what came has the digest %s, not %s", e.got, e.want)
}

// accept verifies a partial file and gives it its final name.
func (s *Store) accept(w wanted, partial string) error {
	got, err := localFile{files: s.files, path: partial}.digest(context.Background())
	if err != nil {
		return err
	}
	if got != w.digest {
		return errors.Join(&digestError{got, w.digest}, host.Remove(s.files, partial))
	}
	return host.Rename(s.files, partial, s.path(w.digest))
}
