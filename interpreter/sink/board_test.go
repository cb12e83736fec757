package sink_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/sink"
)

// network is a network of this process.
type network struct {
	host.NetworkView
	http.RoundTripper
}

func (n network) Transport() http.RoundTripper { return n.RoundTripper }

func door(m *memory.Memory) sink.Door {
	d := sink.DoorOf(m.Host())
	d.Network = network{d.Network, host.HonourRoots(&http.Transport{})}
	return d
}

// server is an HTTPS server that notes what it gets.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	got   []string // method, path and authorization
	bodys []string
}

func serve(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *server {
	s := &server{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.got = append(s.got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		s.bodys = append(s.bodys, string(body))
		n := len(s.got)
		s.mu.Unlock()
		answer(n, w, r)
	}))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	return s
}

func (s *server) ca() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

func (s *server) last() (request, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.got) == 0 {
		return "", ""
	}
	return s.got[len(s.got)-1], s.bodys[len(s.bodys)-1]
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got)
}

var (
	at     = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	failed = sink.Status{
		FormatVersion: "1", Host: "w1", Recipe: "worker", RecipeVersion: "1.0.0", Command: "ensure", Phase: "installing", Result: sink.Failed,
		Stage: "host", Step: "command.a", Reason: "AFailed", Cause: "exit status 3\nmore", Advice: "look at a", Began: at, Time: at.Add(time.Minute),
	}
)

func running(stage string) sink.Status {
	s := failed
	s.Result, s.Reason, s.Stage, s.Step, s.Cause, s.Advice = sink.Running, "Running", stage, "", "", ""
	return s
}

func hook(s *server, timeout time.Duration, access block.SinkAccess) []block.Sink {
	access.CA = s.ca()
	return []block.Sink{{Label: "hook", Timeout: timeout, Webhook: &block.WebhookSink{URL: s.URL + "/h", SinkAccess: access}}}
}

func TestWebhook(t *testing.T) {
	s := serve(t, func(int, http.ResponseWriter, *http.Request) {})
	b := sink.NewBoard(context.Background(), door(memory.New(memory.Options{})), hook(s, time.Minute, block.SinkAccess{Token: "tok"}))
	b.Tell(running("host"))
	if faults := b.Close(failed); faults != nil {
		t.Fatal(faults)
	}
	request, body := s.last()
	var got sink.Status
	if err := json.Unmarshal([]byte(body), &got); err != nil || request != "POST /h Bearer tok" {
		t.Fatalf("%s: %v", request, err)
	}
	if d := cmp.Diff(failed, got); d != "" {
		t.Error(d)
	}
}

// TestR151NoSinks: a board that is not there can be told everything.
func TestR151NoSinks(t *testing.T) {
	var b *sink.Board
	b.Tell(running("host"))
	if faults := b.Close(failed); faults != nil {
		t.Error(faults)
	}
}

// TestBound: whatever a server does, the end of a run waits no longer than it
// was said.
func TestBound(t *testing.T) {
	const bound = 300 * time.Millisecond
	release := make(chan struct{})
	defer close(release)
	for name, c := range map[string]struct {
		answer func(n int, w http.ResponseWriter, r *http.Request)
		says   string
	}{
		"slow": {func(_ int, _ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}, "not told within 300ms"},
		"500":  {func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "answers 500"},
		"cut":  {func(int, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"401":  {func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "answers 401"},
		"late": {func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, "answers 429"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.answer)
			b := sink.NewBoard(context.Background(), door(memory.New(memory.Options{})), hook(s, bound, block.SinkAccess{Token: "topsecret"}))
			b.Tell(running("host"))
			began := time.Now()
			faults := b.Close(failed)
			if took := time.Since(began); took > 3*bound {
				t.Errorf("it took %s", took)
			}
			if len(faults) != 1 || !strings.Contains(faults[0].Err.Error(), c.says) || strings.Contains(faults[0].Err.Error(), "topsecret") {
				t.Errorf("faults: %v", faults)
			}
		})
	}
}

// TestAgain: what may pass is tried again, what does not is not.
func TestAgain(t *testing.T) {
	s := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n < 3 {
			w.WriteHeader(503)
		}
	})
	b := sink.NewBoard(context.Background(), door(memory.New(memory.Options{})), hook(s, 10*time.Second, block.SinkAccess{}))
	if faults := b.Close(failed); faults != nil || s.count() != 3 {
		t.Errorf("%d requests, %v", s.count(), faults)
	}
	s = serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) })
	b = sink.NewBoard(context.Background(), door(memory.New(memory.Options{})), hook(s, 10*time.Second, block.SinkAccess{}))
	if faults := b.Close(failed); len(faults) != 1 || s.count() != 1 {
		t.Errorf("%d requests, %v", s.count(), faults)
	}
}

// TestR149TokenFile: a credential that an earlier step writes is waited for while the
// run lasts, and not after it.
func TestR149TokenFile(t *testing.T) {
	s := serve(t, func(int, http.ResponseWriter, *http.Request) {})
	m := memory.New(memory.Options{Files: map[string]memory.File{"/etc/keep": {}}})
	d := door(m)
	b := sink.NewBoard(context.Background(), d, hook(s, time.Minute, block.SinkAccess{TokenFile: "/etc/token"}))
	b.Tell(running("host"))
	if err := host.Replace(d.Files, "/etc/token", host.Content{Bytes: []byte(" late\n"), Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	for s.count() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	if faults := b.Close(failed); faults != nil {
		t.Fatal(faults)
	}
	if request, _ := s.last(); request != "POST /h Bearer late" {
		t.Error(request)
	}

	began := time.Now()
	b = sink.NewBoard(context.Background(), d, hook(s, time.Minute, block.SinkAccess{TokenFile: "/etc/other"}))
	faults := b.Close(failed)
	if len(faults) != 1 || !strings.Contains(faults[0].Err.Error(), "/etc/other is not there yet") || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %s", faults, time.Since(began))
	}
}

// TestUntrusted: a server that nobody vouches for gets no token.
func TestUntrusted(t *testing.T) {
	s := serve(t, func(int, http.ResponseWriter, *http.Request) {})
	for ca, says := range map[string]string{"": "certificate", "nonsense": "holds no certificate in PEM"} {
		sinks := hook(s, 300*time.Millisecond, block.SinkAccess{Token: "tok"})
		sinks[0].Webhook.CA = ca
		faults := sink.NewBoard(context.Background(), door(memory.New(memory.Options{})), sinks).Close(failed)
		if len(faults) != 1 || !strings.Contains(faults[0].Err.Error(), says) || s.count() != 0 {
			t.Errorf("%q: %v, %d requests", ca, faults, s.count())
		}
	}
	for token, says := range map[string]string{"a\nb": "its token is no token"} {
		faults := sink.NewBoard(context.Background(), door(memory.New(memory.Options{})), hook(s, time.Second, block.SinkAccess{Token: token})).Close(failed)
		if len(faults) != 1 || !strings.Contains(faults[0].Err.Error(), says) || strings.Contains(faults[0].Err.Error(), token) {
			t.Errorf("%v", faults)
		}
	}
}
