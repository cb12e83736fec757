package rootfs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
)

// Download is one file to fetch over HTTP into a store.
type Download struct {
	URL string
	// SHA256 is the digest of the bytes, in lower-case hexadecimal; "" takes
	// what comes.
	SHA256 string
	// MaxBytes bounds the size.
	MaxBytes int64
	// Authorization, if not "", is sent as the header of that name, to the
	// URL's own scheme, host and port only, wherever redirects lead.
	Authorization string
	Store         *Store
	Transport     http.RoundTripper
	Clock         host.Clock
	// Answer bounds how long a server may take to begin to answer; 0 is 30
	// seconds.
	Answer time.Duration
	// Progress, if set, is told how much is there, in bytes.
	Progress func(done int64)
	// Again, if set, is told before a failed try is made again.
	Again Again
}

// The bounds of the tries for one download. They outlast a resolver that comes
// up a while after the network, and end.
const (
	idleDownloads = 8
	answerWithin  = 30 * time.Second
)

// Fetch brings the file into the store unless it is there, and returns its
// digest, "sha256:HEX". With a digest, bytes that an earlier try or run got are
// kept and only the rest is asked for. Faults that may pass are tried again,
// within bounds; see [Passing]. Errors hold the server's name and never a query
// or a header.
func (d Download) Fetch(ctx context.Context) (digest string, err error) {
	if d.SHA256 != "" {
		digest = "sha256:" + d.SHA256
		give, err := d.Store.turns.Take(ctx, digest)
		if err != nil {
			return digest, err
		}
		defer give()
		if there, err := d.Store.has(digest); there || err != nil {
			return digest, err
		}
	}
	err = d.retry(ctx, func() (moved bool, err error) {
		var got int64
		if d.SHA256 != "" {
			got, err = d.Store.pull(ctx, wanted{digest: digest, max: d.MaxBytes}, d.open, d.seen)
		} else {
			got, digest, err = d.take(ctx)
		}
		return got > 0, err
	})
	return digest, err
}

// Text returns a small file of at most max bytes, which is not stored.
func (d Download) Text(ctx context.Context, max int64) (text []byte, err error) {
	d.MaxBytes = max
	err = d.retry(ctx, func() (bool, error) {
		body, _, err := d.open(ctx, 0)
		if err != nil {
			return false, err
		}
		text, err = io.ReadAll(io.LimitReader(body, max+1))
		if err != nil {
			err = passing{fmt.Errorf("the transfer broke off: %w", err)}
		}
		if err = errors.Join(err, body.Close()); err == nil && int64(len(text)) > max {
			err = fmt.Errorf("the file is larger than %d bytes", max)
		}
		return false, err
	})
	return text, err
}

// Has says whether a blob is in the store.
func (s *Store) Has(digest string) (bool, error) { return s.has(digest) }

// Open opens a blob of the store.
func (s *Store) Open(digest string) (afero.File, error) { return s.open(digest) }

// Drop removes a blob that turned out not to be what its name says.
func (s *Store) Drop(digest string) error { return host.Remove(s.files, s.path(digest)) }

// Decompress returns the tar in r, whatever it is compressed with: gzip, zstd
// or nothing. The caller closes it.
func Decompress(r io.Reader) (io.ReadCloser, error) { return decompress(r) }

// RedactURL returns a URL as it may be shown: without user, query and
// fragment.
func RedactURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "a URL that cannot be parsed"
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

func (d Download) seen(done int64) {
	if d.Progress != nil {
		d.Progress(done)
	}
}

func (d Download) retry(ctx context.Context, try func() (moved bool, err error)) error {
	idle, wait := 0, firstWait
	for tries := 1; ; tries++ {
		moved, err := try()
		if err == nil || !Passing(err) || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if idle++; moved {
			idle, wait = 0, firstWait
		}
		if idle >= idleDownloads || tries >= maxTries {
			return fmt.Errorf("%w (after %d tries)", err, tries)
		}
		delay := pause(err, wait)
		d.Again.tell(err, tries, delay)
		if slept := d.Clock.Sleep(ctx, delay); slept != nil {
			return errors.Join(err, slept)
		}
		wait = min(2*wait, longWait)
	}
}

// open asks for the file from an offset on.
func (d Download) open(ctx context.Context, offset int64) (io.ReadCloser, bool, error) {
	req, err := http.NewRequest(http.MethodGet, d.URL, nil)
	if err != nil {
		return nil, false, errors.New("the URL cannot be parsed")
	}
	if offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	return openBody(ctx, caller{d, req.URL}, req, path.Base(RedactURL(d.URL)))
}

// take fetches a file whose digest is not known, always from its start, and
// gives it the name of its digest.
func (d Download) take(ctx context.Context) (got int64, digest string, err error) {
	s := d.Store
	name := sha256.Sum256([]byte(d.URL))
	partial := path.Join(s.dir, "url-"+hex.EncodeToString(name[:])+partialSuffix)
	give, err := s.turns.Take(ctx, partial)
	if err != nil {
		return 0, "", err
	}
	defer give()
	if err := ensureDir(s.files, s.dir, 0o700); err != nil {
		return 0, "", err
	}
	file, err := s.files.OpenFile(partial, syscall.O_RDWR|syscall.O_CREAT, 0o600)
	if err != nil {
		return 0, "", err
	}
	body, _, err := d.open(ctx, 0)
	if err == nil {
		got, err = rewrite(file, 0, body, d.MaxBytes, d.seen)
		err = errors.Join(err, body.Close())
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		// Without a digest nothing says whether a rest would belong to it.
		return 0, "", errors.Join(err, host.Remove(s.files, partial))
	}
	if digest, err = (localFile{files: s.files, path: partial}).digest(ctx); err != nil {
		return got, "", err
	}
	return got, digest, host.Rename(s.files, partial, s.path(digest))
}

// caller carries the requests of a download: it gives the header to the
// download's own server only, and gives up a server that does not answer or
// announces too much.
type caller struct {
	d      Download
	origin *url.URL
}

var errNoAnswer = errors.New("the server took the connection and did not answer")

// RoundTrip carries one request.
func (c caller) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	req = req.Clone(ctx)
	req.Header.Del("Authorization")
	if c.d.Authorization != "" && req.URL.Scheme == c.origin.Scheme && strings.EqualFold(req.URL.Host, c.origin.Host) {
		req.Header.Set("Authorization", c.d.Authorization)
	}
	limit := c.d.Answer
	if limit == 0 {
		limit = answerWithin
	}
	timer := time.AfterFunc(limit, func() { cancel(errNoAnswer) })
	res, err := c.d.Transport.RoundTrip(req)
	timer.Stop()
	if err == nil && res.StatusCode < 300 && res.ContentLength > c.d.MaxBytes {
		err = errors.Join(fmt.Errorf("the file has %d bytes, and %d are the most", res.ContentLength, c.d.MaxBytes), res.Body.Close())
	}
	if err != nil {
		if errors.Is(context.Cause(ctx), errNoAnswer) {
			err = &net.OpError{Op: "read", Net: "tcp", Err: fmt.Errorf("%w within %s", errNoAnswer, limit)}
		}
		cancel(nil)
		return nil, err
	}
	body := res.Body
	res.Body = withClose{body, func() error { defer cancel(nil); return body.Close() }}
	return res, nil
}

// HasBlob says whether the store in a directory has a blob, without a store.
func HasBlob(f host.FileView, dir, digest string) (bool, error) {
	info, err := host.Lstat(f, path.Join(dir, "sha256", strings.TrimPrefix(digest, "sha256:")))
	if host.Absent(err) {
		return false, nil
	}
	return err == nil && info.Mode().IsRegular(), err
}
