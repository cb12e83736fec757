package rootfs

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"hostler/interpreter/host"
)

// layerBlob is the digest and the bytes of an image's first layer.
func layerBlob(t *testing.T, img v1.Image) (string, []byte) {
	t.Helper()
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := layers[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String(), compressed(t, layers[0])
}

// tokenRegistry is a registry behind tokens that are good for a few requests,
// which sends who asks for the layer to a store whose addresses expire.
type tokenRegistry struct {
	mu                   sync.Mutex
	layer                string
	blob                 []byte
	good                 int // requests that the token is good for
	tokens, asked, stale int
	leaked               string
}

func (r *tokenRegistry) serve(address, storage string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, req *http.Request) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.layer == "" {
			return false
		}
		if req.URL.Path == "/token" {
			r.tokens++
			r.good = 3
			_, _ = fmt.Fprintf(w, `{"token":"t%d"}`, r.tokens)
			return true
		}
		if r.good--; r.good < 0 || req.Header.Get("Authorization") != fmt.Sprintf("Bearer t%d", r.tokens) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+req.Host+`/token",service="s",scope="repository:x:pull"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		if strings.HasSuffix(req.URL.Path, r.layer) {
			r.asked++
			http.Redirect(w, req, fmt.Sprintf("%s/%s?sig=secret%d", storage, r.layer, r.asked), http.StatusTemporaryRedirect)
			return true
		}
		return false
	}
}

// store gives a third of the blob and breaks off; old addresses are refused.
func (r *tokenRegistry) store(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaked += req.Header.Get("Authorization") + req.Header.Get("Referer")
	if r.stale > 0 {
		r.stale--
		w.WriteHeader(http.StatusForbidden)
		return
	}
	rec := httptest.NewRecorder()
	http.ServeContent(rec, req, "", time.Time{}, strings.NewReader(string(r.blob)))
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(rec.Code)
	body := rec.Body.Bytes()
	if r.asked < 4 {
		body = body[:min(len(body), len(r.blob)/3)]
	}
	_, _ = w.Write(body)
}

// TestC57ExpiredToken: tokens and signed addresses that expire while a blob is
// fetched in pieces are asked for again, and nobody else sees them.
func TestC57ExpiredToken(t *testing.T) {
	r := &tokenRegistry{}
	storage := httptest.NewServer(http.HandlerFunc(r.store))
	t.Cleanup(storage.Close)
	elsewhere := strings.Replace(storage.URL, "127.0.0.1", "localhost", 1)
	reg := startRegistry(t, func(w http.ResponseWriter, req *http.Request) bool { return r.serve(req.Host, elsewhere)(w, req) })
	img := imageFrom(t, "linux/amd64", "f a "+strings.Repeat("0123456789abcdef", 50))
	push(t, reg+"/x:1", img)
	digest, blob := layerBlob(t, img)
	r.mu.Lock()
	r.layer, r.blob, r.stale = digest, blob, 1
	r.mu.Unlock()
	src, clock := netSource(t, reg+"/x:1")
	image, err := Resolve(context.Background(), src, amd64)
	if err != nil {
		t.Fatal(err)
	}
	if tree := unpackTo(t, image); len(tree) != 1 || !strings.HasSuffix(tree[0], `abcdef"`) {
		t.Errorf("tree %.80q", tree)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tokens < 2 || r.asked < 4 || len(clock.waits) < 3 {
		t.Errorf("%d tokens, %d addresses, waits %v: nothing expired", r.tokens, r.asked, clock.waits)
	}
	if r.leaked != "" {
		t.Errorf("the storage saw %q", r.leaked)
	}
}

// TestC57RefusedToken: a server of tokens that refuses says so, without what
// was sent.
func TestC57RefusedToken(t *testing.T) {
	for status, passes := range map[int]bool{403: false, 503: true} {
		reg := startRegistry(t, func(w http.ResponseWriter, req *http.Request) bool {
			if req.URL.Path == "/token" {
				w.WriteHeader(status)
				return true
			}
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+req.Host+`/token"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		})
		src, _ := netSource(t, reg+"/x:1")
		_, err := Resolve(context.Background(), src, amd64)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%s refuses access (%d", reg, status)) || Passing(err) != passes {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// TestC57RetryAfter: a date counts from the server's own clock, and a wait
// that outlasts the step is not begun.
func TestC57RetryAfter(t *testing.T) {
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	for said, want := range map[string]time.Duration{
		"": 0, "x": 0, "-3": 0, "7": 7 * time.Second, "99999": maxAfter,
		at.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		at.Add(-time.Hour).Format(http.TimeFormat):       0,
		at.Add(time.Hour).Format(http.TimeFormat):        maxAfter,
	} {
		h := http.Header{"Retry-After": {said}, "Date": {at.Format(http.TimeFormat)}}
		if got := retryAfter(h); got != want {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {at.Format(http.TimeFormat)}}); got != 0 {
		t.Errorf("a date without a clock: %s", got)
	}
	reg := startRegistry(t, func(w http.ResponseWriter, req *http.Request) bool {
		if !strings.Contains(req.URL.Path, "/manifests/") {
			return false
		}
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	src, clock := netSource(t, reg+"/x:1")
	ctx, cancel := context.WithDeadline(context.Background(), clock.Now().Add(200*365*24*time.Hour))
	defer cancel()
	src.Clock = ahead200Years{clock}
	_, err := Resolve(ctx, src, amd64)
	if err == nil || !strings.Contains(err.Error(), "is later than the step's timeout") || !strings.Contains(err.Error(), "429 Too Many Requests") || len(clock.waits) != 0 {
		t.Errorf("error %v, waits %v", err, clock.waits)
	}
}

// ahead200Years is a clock for deadlines that the test's own clock never
// reaches.
type ahead200Years struct{ *sleepless }

func (a ahead200Years) Now() time.Time {
	return a.sleepless.Now().Add(200*365*24*time.Hour - time.Minute)
}

// tlsRegistry is a registry over TLS, and its certificate as PEM text.
func tlsRegistry(t *testing.T, around func(w http.ResponseWriter, r *http.Request) bool) (address, ca string) {
	t.Helper()
	inner := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if around == nil || !around(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	ca = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	return strings.TrimPrefix(server.URL, "https://"), ca
}

// TestC59Downgrade: a registry that is asked over TLS, on whatever address,
// leads nobody to plain http; nor does the server of an archive, and what
// stands in an address stays with its server.
func TestC59Downgrade(t *testing.T) {
	var leaked string
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaked += "plain: " + r.Header.Get("Authorization")
	}))
	t.Cleanup(plain.Close)
	reg, ca := tlsRegistry(t, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/manifests/") {
			http.Redirect(w, r, plain.URL+"/m", http.StatusFound)
			return true
		}
		return false
	})
	src, _ := netSource(t, reg+"/x:1")
	src.Transport, src.CA = host.HonourRoots(&http.Transport{}), ca
	_, err := Resolve(context.Background(), src, amd64)
	if err == nil || !strings.Contains(err.Error(), "a redirect from https to plain http is refused") {
		t.Errorf("registry: %v", err)
	}
	file := gz(t, tarOf(t, "f a"))
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaked += r.Header.Get("Authorization") + r.Header.Get("Referer")
		_, _ = w.Write(file)
	}))
	t.Cleanup(other.Close)
	asked := ""
	first := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, pass, _ := r.BasicAuth()
		asked = user + ":" + pass
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
	}))
	t.Cleanup(first.Close)
	src, _ = netSource(t, strings.Replace(first.URL, "https://", "https://u:secret@", 1)+"/x.tar.gz?sig=secret")
	src.SHA256 = strings.TrimPrefix(sum(file), "sha256:")
	src.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	if _, err := Resolve(context.Background(), src, amd64); err != nil {
		t.Error(err)
	}
	if asked != "u:secret" || leaked != "" {
		t.Errorf("the server was asked as %q, others saw %q", asked, leaked)
	}
}

// TestC62UnknownCA: the error names host, issuer and where a CA is given; with
// it the image comes, over TLS from a private address, too.
func TestC62UnknownCA(t *testing.T) {
	reg, ca := tlsRegistry(t, nil)
	img := imageFrom(t, "linux/amd64", "f a one")
	h, _ := realHost(t)
	src, _ := netSource(t, reg+"/x:1")
	src.Files, src.Transport = h.Files, host.HonourRoots(&http.Transport{})
	pushTLS(t, reg, img)
	_, err := Resolve(context.Background(), src, amd64)
	for _, want := range []string{reg + ": its certificate is issued by", "Acme Co", "or, for images only, to " + DefaultCA} {
		if err == nil || !strings.Contains(err.Error(), want) || Passing(err) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := ensureDir(h.Files, filepath.Dir(DefaultCA), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := host.Replace(h.Files, DefaultCA, host.Content{Bytes: []byte(ca), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	for _, option := range []string{"", DefaultCA, ca} {
		src.CA, src.Store = option, NewStore(h.Files, "/cache-"+sum([]byte(option)))
		image, err := Resolve(context.Background(), src, amd64)
		if err != nil {
			t.Fatalf("%.30q: %v", option, err)
		}
		if tree := strings.Join(unpackTo(t, image), ";"); tree != `f a "one"` {
			t.Errorf("%.30q: tree %s", option, tree)
		}
	}
	for option, want := range map[string]string{"/gone.pem": "gone.pem", "no PEM": "holds no certificate", "/etc": "etc"} {
		src.CA = option
		if _, err := Resolve(context.Background(), src, amd64); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", option, err)
		}
		src.Image = strings.Replace("https://R/x.tar", "R", reg, 1)
		src.SHA256 = strings.Repeat("0", 64)
		if _, err := Resolve(context.Background(), src, amd64); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("archive, %s: %v", option, err)
		}
		src.Image, src.SHA256 = reg+"/x:1", ""
	}
}
