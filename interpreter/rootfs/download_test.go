package rootfs_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hostler/interpreter/host/memory"
	"hostler/interpreter/rootfs"
)

// C65: a server that takes the connection and never answers does not take the
// whole run with it: the next try has a connection of its own.
func TestC65AServerThatDoesNotAnswerIsGivenUp(t *testing.T) {
	var requests atomic.Int32
	released := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			<-released
			return
		}
		_, _ = w.Write([]byte("content"))
	}))
	defer srv.Close()
	defer close(released)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	h := memory.New(memory.Options{}).Host()
	d := rootfs.Download{
		URL: srv.URL + "/file?sig=secret", MaxBytes: 100, Transport: transport, Clock: h.Clock,
		Store: rootfs.NewStore(h.Files, "/var/cache/x"), Answer: 50 * time.Millisecond,
	}
	digest, err := d.Fetch(context.Background())
	if err != nil || requests.Load() != 2 {
		t.Fatalf("%v after %d requests", err, requests.Load())
	}
	if there, err := rootfs.HasBlob(h.Files, "/var/cache/x", digest); err != nil || !there {
		t.Errorf("the blob is not in the store: %v", err)
	}
	if there, err := rootfs.HasBlob(h.Files, "/var/cache/x", "sha256:00"); err != nil || there {
		t.Errorf("another blob is in the store: %v", err)
	}
}

func TestAServerThatNeverAnswersIsAPassingFaultWithoutItsQuery(t *testing.T) {
	h := memory.New(memory.Options{}).Host()
	hangs := transportFunc(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	d := rootfs.Download{URL: "https://dl.example/f?sig=secret", MaxBytes: 10, Transport: hangs, Clock: h.Clock,
		Store: rootfs.NewStore(h.Files, "/c"), Answer: time.Millisecond}
	_, err := d.Fetch(context.Background())
	if !rootfs.Passing(err) || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "did not answer within 1ms") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.Fetch(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRedactURL(t *testing.T) {
	for in, want := range map[string]string{
		"https://u:p@dl.example:8443/a/b?sig=x#f": "https://dl.example:8443/a/b",
		"http://dl.example":                       "http://dl.example",
		"https://dl.example/?":                    "https://dl.example/",
		"https://dl.example/%zz?sig=x":            "a URL that cannot be parsed",
	} {
		if got := rootfs.RedactURL(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// What an earlier run left of a download may be damaged, as after a loss of
// power. It is thrown away and all of it fetched within the same run; bytes
// that are wrong from their start are not asked for again.
func TestADamagedRestIsFetchedAnew(t *testing.T) {
	const content = "all of the content"
	digest := sha256.Sum256([]byte(content))
	name := hex.EncodeToString(digest[:])
	for left, c := range map[string]struct {
		serves   string
		requests int32
		want     string // of the error, "" for none
	}{
		"all of \x00\x00":                      {content, 2, ""},
		"all of the c\x00\x00\x00\x00\x00\x00": {content, 2, ""}, // as long as the whole: there is no further byte
		"all of":                               {content, 1, ""},
		"":                                     {"something else now", 1, "what came has the digest"},
	} {
		var requests atomic.Int32
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(c.serves))
		}))
		h := memory.New(memory.Options{Files: map[string]memory.File{"/c/sha256/" + name + ".partial": {Content: left}}}).Host()
		d := rootfs.Download{URL: srv.URL, SHA256: name, MaxBytes: 100, Transport: http.DefaultTransport, Clock: h.Clock, Store: rootfs.NewStore(h.Files, "/c")}
		_, err := d.Fetch(t.Context())
		srv.Close()
		there, _ := rootfs.HasBlob(h.Files, "/c", "sha256:"+name)
		if requests.Load() != c.requests || there != (c.want == "") || (err == nil) != there || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q was left: %v after %d requests, stored: %v", left, err, requests.Load(), there)
		}
	}
}
