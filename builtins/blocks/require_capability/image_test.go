package requirecapability_test

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	requirecapability "hostler/builtins/blocks/require_capability"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/rootfs"
)

// slowTLS is a network in which a registry takes its time over https, and
// somebody between answers at once over plain http.
type slowTLS struct {
	host.Network
	plain *atomic.Int32
}

func (n slowTLS) Transport() http.RoundTripper { return n }

func (n slowTLS) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == "http" {
		n.plain.Add(1)
	} else if strings.HasSuffix(req.URL.Path, "/v2/") {
		time.Sleep(500 * time.Millisecond)
	}
	header := http.Header{"Content-Type": {"application/vnd.oci.image.manifest.v1+json"}, "Docker-Content-Digest": {"sha256:" + strings.Repeat("0", 64)}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, ContentLength: 2, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
}

// C62: a CA that is given for images is trusted by the question for one as by
// the step that fetches it.
func TestC62TheCAOfImages(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Content-Length", "2")
		w.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("a", 64))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer server.Close()
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	address := strings.TrimPrefix(server.URL, "https://")
	for name, c := range map[string]struct{ file, option, want string }{
		"none":          {"", "", "cannot be had"},
		"of all images": {ca, "", ""},
		"of this one":   {"", "\nca_certificate = <<-EOT\n" + ca + "EOT\n", ""},
		"no file":       {"", "\nca_certificate = \"/gone.pem\"", "ca_certificate: "},
		"no PEM":        {"x", "", "registry-ca.pem: it holds no certificate"},
	} {
		files := map[string]memory.File{}
		if c.file != "" {
			files[rootfs.DefaultCA] = memory.File{Content: c.file}
		}
		for _, ref := range []string{`image = "` + address + `/worker:1"`, `image = "https://` + address + `/worker.tar"`} {
			h := memory.New(memory.Options{Files: files}).Host()
			h.Network = real{h.Network, host.HonourRoots(&http.Transport{})}
			_, err := blocktest.NewStage(h).Check(blocktest.Step(t, requirecapability.Type(), ref+c.option))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %s: %v, want %q", name, ref, err, c.want)
			}
		}
	}
}

type real struct {
	host.Network
	to http.RoundTripper
}

func (n real) Transport() http.RoundTripper { return n.to }

// What the cache holds is not asked for: a site without a network passes.
func TestAnImageInTheCacheNeedsNoNetwork(t *testing.T) {
	digest := strings.Repeat("a", 64)
	h := memory.New(memory.Options{Files: map[string]memory.File{"/var/lib/hostler/cache/sha256/" + digest: {Content: "{}"}}}).Host()
	s := blocktest.NewStage(h)
	s.MustHold(t, blocktest.Step(t, requirecapability.Type(), `image = "registry.example.com/worker@sha256:`+digest+`"`))
	archive := "image = \"https://files.example.com/x.tar\"\nsha256 = \""
	s.MustHold(t, blocktest.Step(t, requirecapability.Type(), archive+digest+`"`))
	if _, err := s.Check(blocktest.Step(t, requirecapability.Type(), archive+strings.Repeat("b", 64)+`"`)); err == nil || !strings.Contains(err.Error(), "cannot be had") {
		t.Error(err)
	}
	if got := blocktest.Faults(requirecapability.Type(), archive+`b"`); !strings.Contains(got, "64 hexadecimal digits") {
		t.Error(got)
	}
	for _, ref := range []string{"registry.example.com/worker@sha256:" + strings.Repeat("b", 64), "registry.example.com/worker:1"} {
		if _, err := s.Check(blocktest.Step(t, requirecapability.Type(), `image = "`+ref+`"`)); err == nil || !strings.Contains(err.Error(), "cannot be had") {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// C59: asking for an image tells nothing to who answers over plain http first,
// on a private address too.
func TestC59PlainHTTPIsNoWayOut(t *testing.T) {
	h := memory.New(memory.Options{}).Host()
	plain := new(atomic.Int32)
	h.Network = slowTLS{h.Network, plain}
	s := blocktest.NewStage(h)
	s.MustHold(t, blocktest.Step(t, requirecapability.Type(), `image = "10.0.0.5:5000/worker:1"`))
	if plain.Load() != 0 {
		t.Errorf("%d requests over plain http", plain.Load())
	}
}
