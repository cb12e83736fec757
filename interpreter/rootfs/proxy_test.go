package rootfs

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	ggcr "github.com/google/go-containerregistry/pkg/registry"

	"hostler/interpreter/host"
)

const proxyEnv = "HOSTLER_TEST_PROXY"

// TestC62Proxy: registries, what they redirect to and archives go through the
// proxy of the environment, by one set of rules. The rules are read once in a
// process, so another one asks; this one serves, and notes what the proxy is
// asked for.
func TestC62Proxy(t *testing.T) {
	if os.Getenv(proxyEnv) != "" {
		askThroughProxy(t)
		return
	}
	img := imageFrom(t, "linux/amd64", "f a one")
	digest, blob := layerBlob(t, img)
	archive := gz(t, tarOf(t, "f etc/b two"))
	registry := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	backend := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere := map[string]string{"10.1.2.3:5000": "blobs.other", "192.168.7.7:5000": "blobs.corp"}[r.Host]
		switch {
		case r.URL.Path == "/archive.tar.gz":
			_, _ = w.Write(archive)
		case r.URL.Path == "/blob":
			_, _ = w.Write(blob)
		case elsewhere != "" && strings.HasSuffix(r.URL.Path, digest):
			http.Redirect(w, r, "http://"+elsewhere+"/blob", http.StatusFound)
		default:
			registry.ServeHTTP(w, r)
		}
	})
	plain, secure := httptest.NewServer(backend), httptest.NewUnstartedServer(backend)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	proxy := &testProxy{plain: plain.Listener.Addr().String(), secure: secure.Listener.Addr().String()}
	front := httptest.NewServer(proxy)
	for _, s := range []*httptest.Server{plain, secure, front} {
		t.Cleanup(s.Close)
	}
	push(t, proxy.plain+"/x:1", img)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestC62Proxy$", "-test.v")
	cmd.Env = append(os.Environ(), proxyEnv+"="+strings.Join([]string{front.Listener.Addr().String(), proxy.plain, proxy.secure, sum(archive)}, " "),
		"HTTP_PROXY="+front.URL, "HTTPS_PROXY="+front.URL, "NO_PROXY=10.0.0.0/8,.corp,registry.local:5000")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Fatalf("%v\n%s", err, out)
	}
	want := []string{"192.168.7.7:5000", "blobs.other", "files.example.com:443", "images.example.com:443", "registry.local:5001"}
	if d := cmp.Diff(want, proxy.asked()); d != "" {
		t.Errorf("asked of the proxy, wanted (-), got (+):\n%s", d)
	}
}

// overTLS says which of the names in the test stand for the server with TLS.
func overTLS(address string) bool {
	return strings.HasSuffix(address, ":443") || strings.HasPrefix(address, "registry.local:")
}

// testProxy is a proxy for which every name is one of two servers.
type testProxy struct {
	plain, secure string
	mu            sync.Mutex
	hosts         []string
}

func (p *testProxy) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.Sort(p.hosts)
	return slices.Compact(p.hosts)
}

func (p *testProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect && !overTLS(r.Host) {
		w.WriteHeader(http.StatusForbidden) // as most do
		return
	}
	p.mu.Lock()
	p.hosts = append(p.hosts, r.Host)
	p.mu.Unlock()
	if r.Method == http.MethodConnect {
		p.tunnel(w)
		return
	}
	res, err := (&http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, p.plain)
	}}).RoundTrip(r)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	for k, v := range res.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
	_ = res.Body.Close()
}

func (p *testProxy) tunnel(w http.ResponseWriter) {
	there, err := net.Dial("tcp", p.secure)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	here, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(there, here) }()
	_, _ = io.Copy(here, there)
	_ = here.Close()
}

// askThroughProxy fetches from all kinds of places, and holds which of them it
// asked by itself.
func askThroughProxy(t *testing.T) {
	given := strings.Fields(os.Getenv(proxyEnv))
	front, plain, secure, archive := given[0], given[1], given[2], given[3]
	var mu sync.Mutex
	var direct []string
	transport := host.HonourRoots(&http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			to := plain
			switch {
			case address == front:
				to = front
			case overTLS(address):
				to = secure
			}
			if address != front {
				mu.Lock()
				direct = append(direct, address)
				mu.Unlock()
			}
			return (&net.Dialer{}).DialContext(ctx, network, to)
		},
	})
	for _, ref := range []string{"10.1.2.3:5000/x:1", "192.168.7.7:5000/x:1", "registry.local:5000/x:1", "registry.local:5001/x:1",
		"a.corp/x:1", "images.example.com/x:1", "https://files.example.com/archive.tar.gz", "https://b.corp/archive.tar.gz"} {
		src, _ := netSource(t, ref)
		src.Transport = transport
		if strings.HasPrefix(ref, "https://") {
			src.SHA256 = strings.TrimPrefix(archive, "sha256:")
		}
		image, err := Resolve(context.Background(), src, amd64)
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		if tree := unpackTo(t, image); len(tree) == 0 {
			t.Errorf("%s: an empty tree", ref)
		}
	}
	slices.Sort(direct)
	want := []string{"10.1.2.3:5000", "a.corp:443", "b.corp:443", "blobs.corp:80", "registry.local:5000"}
	if d := cmp.Diff(want, slices.Compact(direct)); d != "" {
		t.Errorf("asked directly, wanted (-), got (+):\n%s", d)
	}
}
