package rootfs

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hostler/interpreter/host"
)

// between is somebody who answers what goes over plain http.
type between struct {
	to    http.RoundTripper
	slow  time.Duration // of the handshake over https
	evil  string        // host and port of who answers
	plain atomic.Int32
}

func (b *between) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == "https" {
		if strings.HasSuffix(req.URL.Path, "/v2/") {
			time.Sleep(b.slow)
		}
		return b.to.RoundTrip(req)
	}
	b.plain.Add(1)
	req = req.Clone(req.Context())
	req.URL.Host = b.evil
	return b.to.RoundTrip(req)
}

// C59: a registry that speaks https is never spoken to over plain http, on a
// private address too: not when it is slow, and not when its certificate is not
// trusted. One that does not speak it is.
func TestC59PlainHTTPIsNoWayOut(t *testing.T) {
	evil := startRegistry(t, nil)
	reg, ca := tlsRegistry(t, nil)
	push(t, evil+"/x:1", imageFrom(t, "linux/amd64", "f a evil"))
	pushTLS(t, reg, imageFrom(t, "linux/amd64", "f a good"))
	for name, c := range map[string]struct {
		slow     time.Duration
		ca, want string
	}{
		"slow":      {500 * time.Millisecond, ca, ""},
		"untrusted": {0, "", "its certificate is issued by"},
	} {
		b := &between{to: host.HonourRoots(&http.Transport{}), slow: c.slow, evil: evil}
		src, _ := netSource(t, reg+"/x:1")
		src.Transport, src.CA = b, c.ca
		image, err := Resolve(context.Background(), src, amd64)
		if c.want == "" && err == nil {
			if tree := strings.Join(unpackTo(t, image), ";"); tree != `f a "good"` {
				t.Errorf("%s: tree %s", name, tree)
			}
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || b.plain.Load() != 0 {
			t.Errorf("%s: %v, want %q, after %d requests over plain http", name, err, c.want, b.plain.Load())
		}
	}
	b := &between{to: &http.Transport{}, evil: evil}
	src, _ := netSource(t, evil+"/x:1")
	src.Transport = b
	if _, err := Resolve(context.Background(), src, amd64); err != nil || b.plain.Load() == 0 {
		t.Errorf("a registry without https: %v after %d requests over plain http", err, b.plain.Load())
	}
}

// The wait for https ends with the request.
func TestTheWaitForHTTPSEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://10.0.0.1/v2/", nil)
	if _, err := newSecureFirst(http.DefaultTransport, "10.0.0.1").RoundTrip(req); err != context.Canceled {
		t.Error(err)
	}
}
