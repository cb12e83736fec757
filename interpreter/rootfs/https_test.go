package rootfs

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"hostler/interpreter/host"
)

// TestHTTPSArchive: fetched once, verified, redirected only to https.
func TestHTTPSArchive(t *testing.T) {
	root := tarOf(t, "f etc/os-release ID=x\n f a one")
	file := gz(t, root)
	requests := 0
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(file) }))
	t.Cleanup(plain.Close)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		switch r.URL.Path {
		case "/x.tar.gz":
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(file)))
		case "/range":
			if r.Header.Get("Range") != "" {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			_, _ = w.Write(file)
		case "/down":
			http.Redirect(w, r, plain.URL, http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	src, _ := netSource(t, server.URL+"/x.tar.gz?sig=secret")
	src.SHA256 = strings.TrimPrefix(sum(file), "sha256:")
	src.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	for range 2 {
		image, err := Resolve(context.Background(), src, amd64)
		if err != nil {
			t.Fatal(err)
		}
		if tree := strings.Join(unpackTo(t, image), ";"); !strings.Contains(tree, `f a "one"`) || image.Digest != sum(file) {
			t.Errorf("tree %s, digest %s", tree, image.Digest)
		}
	}
	if requests != 1 {
		t.Errorf("%d requests", requests)
	}
	for path, want := range map[string]string{
		"/down?sig=secret": "a redirect from https to plain http is refused", "/loop": "more than 10 redirects",
		"/gone?sig=secret": "answers 404 Not Found to a request for the archive",
	} {
		src.Image, src.Store = server.URL+path, NewStore(src.Store.files, t.TempDir())
		_, err := Resolve(context.Background(), src, amd64)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
	// What an earlier run left of it is used, or given up when the server
	// cannot go on.
	for _, path := range []string{"/x.tar.gz", "/range"} {
		src.Image, src.Store = server.URL+path, NewStore(src.Store.files, "/other"+path)
		if err := ensureDir(src.Store.files, src.Store.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := host.Replace(src.Store.files, src.Store.path(sum(file))+partialSuffix, host.Content{Bytes: file[:50], Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := Resolve(context.Background(), src, amd64); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	src.Transport, src.Store = &http.Transport{}, NewStore(src.Store.files, "/third")
	_, err := Resolve(context.Background(), src, amd64)
	if err == nil || !strings.Contains(err.Error(), "does not trust") || Passing(err) {
		t.Errorf("C62 unknown CA: %v", err)
	}
}

func TestTransportErrors(t *testing.T) {
	cases := []struct {
		err, cause error
		passing    bool
	}{
		{&url.Error{Op: "Get", URL: "https://h/?secret", Err: io.ErrUnexpectedEOF}, nil, true},
		{&net.DNSError{IsNotFound: true}, nil, false},
		{&net.DNSError{IsTemporary: true}, nil, true},
		{&net.OpError{Op: "dial", Err: syscall.ECONNRESET}, nil, true},
		{context.Canceled, errors.New("the connection brought nothing"), true},
		{context.Canceled, context.Canceled, false},
		{errors.New("other"), nil, false},
	}
	for _, c := range cases {
		err := transportError("h", c.err, c.cause)
		if Passing(err) != c.passing || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, %v: %v passing %v", c.err, c.cause, err, Passing(err))
		}
	}
	if err := registryError("h", &transport.Error{StatusCode: 503}); !Passing(err) {
		t.Errorf("503: %v", err)
	}
	if err := registryError("h", &transport.Error{StatusCode: 403}); Passing(err) || !strings.Contains(err.Error(), "403 Forbidden") {
		t.Errorf("403: %v", err)
	}
}
