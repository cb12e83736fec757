package rootfs_test

import (
	"context"
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
