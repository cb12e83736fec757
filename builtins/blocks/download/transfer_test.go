package download_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"hostler/builtins/blocks/download"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host/memory"
)

// A transfer that breaks off goes on where it ended, also in a later run.
func TestATransferGoesOn(t *testing.T) {
	body := strings.Repeat("0123456789", 1000)
	var ranges []string
	srv := &server{files: map[string]string{"/agent": body}, handle: func(n int, w http.ResponseWriter, r *http.Request) bool {
		ranges = append(ranges, r.Header.Get("Range"))
		if n > 2 {
			return false
		}
		if n == 2 {
			w.Header().Set("Content-Range", "bytes 4000-9999/10000")
			w.Header().Set("Content-Length", "6000")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write([]byte(body[4000:7000]))
			return true
		}
		cut(w, body, 4000)
		return true
	}}
	s := stage(srv)
	s.MustApply(t, blocktest.Step(t, download.Type(), whole+sum(body)+"\"\n"))
	if !slices.Equal(ranges[:2], []string{"", "bytes=4000-"}) || ranges[2] != "bytes=7000-" || read(t, s.Host, "/usr/local/bin/agent") != body {
		t.Errorf("asked for %q", ranges)
	}
}

// C57, C63, C65: what passes is tried again, what does not is not.
func TestC57C63C65WhatIsTriedAgain(t *testing.T) {
	status := func(code int, head ...string) func(int, http.ResponseWriter) {
		return func(_ int, w http.ResponseWriter) {
			if len(head) > 0 {
				w.Header().Set("Retry-After", head[0])
			}
			w.WriteHeader(code)
		}
	}
	for name, c := range map[string]struct {
		first  func(int, http.ResponseWriter)
		fails  int // how often
		tries  int
		waited time.Duration // at least, in all
		want   string        // "" is success
	}{
		"429 with Retry-After":      {status(429, "40"), 1, 2, 40 * time.Second, ""},
		"503":                       {status(503), 3, 4, 7 * time.Second, ""},
		"C65 404 is final":          {status(404), 1, 1, 0, "404 Not Found"},
		"403 is final":              {status(403), 1, 1, 0, "403 Forbidden"},
		"500 for ever has an end":   {status(500), 99, 8, time.Minute, "after 8 tries"},
		"a body that breaks off":    {func(_ int, w http.ResponseWriter) { cut(w, agent, 3) }, 2, 3, time.Second, ""},
		"416 starts from the begin": {status(416), 0, 1, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var slept []time.Duration
			srv := &server{files: map[string]string{"/agent": agent}}
			srv.handle = func(n int, w http.ResponseWriter, _ *http.Request) bool {
				if n <= c.fails {
					c.first(n, w)
				}
				return n <= c.fails
			}
			s := stage(srv)
			s.Host.Clock = quick{s.Host.Clock, &slept}
			err := s.Apply(blocktest.Step(t, download.Type(), pinned()))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), "topsecret") || (block.Passing(err) == block.FaultNetwork) != (c.tries > 1)) {
				t.Errorf("class %q, text %v", block.Passing(err), err)
			}
			var waited time.Duration
			for _, d := range slept {
				waited += d
			}
			if len(srv.requests) != c.tries || waited < c.waited {
				t.Errorf("%d tries, waited %s", len(srv.requests), waited)
			}
			if len(s.Warnings) != c.tries-1 {
				t.Errorf("%d tries, warnings %v", c.tries, s.Warnings)
			}
			for i, w := range s.Warnings {
				if w.Summary != "Passing fault" || !strings.Contains(w.Detail, fmt.Sprintf("attempt %d, again in ", i+1)) || strings.Contains(w.Detail, "topsecret") {
					t.Errorf("warning %+v", w)
				}
			}
		})
	}
}

// A resolver that comes up 20 seconds after the network does not fail the run;
// a name that does not exist does at once.
func TestC63TemporaryNameFaultsAreTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		err   *net.DNSError
		until time.Duration
		good  bool
	}{
		"resolver not up yet": {&net.DNSError{Err: "server misbehaving", Name: "dl.example", IsTemporary: true}, 20 * time.Second, true},
		"no such host":        {&net.DNSError{Err: "no such host", Name: "dl.example", IsNotFound: true}, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			var slept []time.Duration
			var waited time.Duration
			s := stage(&server{files: map[string]string{"/agent": agent}})
			base := s.Host.Network.Transport()
			s.Host = withTransport(s.Host, roundTrip(func(r *http.Request) (*http.Response, error) {
				waited = 0
				for _, d := range slept {
					waited += d
				}
				if waited < c.until {
					return nil, c.err
				}
				return base.RoundTrip(r)
			}))
			s.Host.Clock = quick{s.Host.Clock, &slept}
			err := s.Apply(blocktest.Step(t, download.Type(), pinned()))
			if (err == nil) != c.good {
				t.Errorf("after %s: %v", waited, err)
			}
			if !c.good && (len(slept) > 0 || !strings.Contains(err.Error(), "dl.example")) {
				t.Errorf("tried again %d times: %v", len(slept), err)
			}
		})
	}
}

// C59: the header goes to the URL's own server only.
func TestC59TheHeaderStaysWithItsServer(t *testing.T) {
	for name, c := range map[string]struct {
		to   string
		want string // what of the error, "" is success
		auth bool   // whether the header may arrive
	}{
		"same server":     {"https://dl.example/blob", "", true},
		"other server":    {"https://blobs.example/blob", "", false},
		"other port":      {"https://dl.example:8443/blob", "", false},
		"subdomain":       {"https://a.dl.example/blob", "", false},
		"down to http":    {"http://dl.example/blob", "a redirect from https to plain http is refused", false},
		"http, elsewhere": {"http://blobs.example/blob", "refused", false},
	} {
		t.Run(name, func(t *testing.T) {
			var arrived []string
			target := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				arrived = append(arrived, r.Header.Get("Authorization"))
				_, _ = w.Write([]byte(agent))
			})
			mux := http.NewServeMux()
			mux.Handle("/blob", target)
			mux.HandleFunc("/agent", func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer token1" {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				http.Redirect(w, r, c.to, http.StatusFound)
			})
			h := memory.New(memory.Options{Network: memory.Network{HTTP: map[string]http.Handler{
				"dl.example": mux, "blobs.example": target, "a.dl.example": target, "dl.example:8443": target,
			}}}).Host()
			err := blocktest.NewStage(h).Apply(blocktest.Step(t, download.Type(), pinned()+"authorization = \"Bearer token1\""))
			if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "token1")) {
				t.Errorf("%v, want %q", err, c.want)
			}
			for _, got := range arrived {
				if (got != "") != c.auth {
					t.Errorf("the header arrived: %q", got)
				}
			}
		})
	}
}

// The transport of the host decides about proxies: everything goes through it,
// redirects too.
func TestProxiesAreTheTransports(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		if r.URL.Path == "/agent" {
			http.Redirect(w, r, "http://other.example/blob", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte(agent))
	}))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(at)}
	defer transport.CloseIdleConnections()
	s := blocktest.NewStage(withTransport(memory.New(memory.Options{}).Host(), transport))
	body := "url = \"http://dl.example/agent\"\npath = \"/f\"\nsha256 = \"" + sum(agent) + "\""
	s.MustApply(t, blocktest.Step(t, download.Type(), body))
	if !slices.Equal(asked, []string{"http://dl.example/agent", "http://other.example/blob"}) {
		t.Errorf("%v", asked)
	}
}
