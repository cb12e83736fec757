package requirecapability_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	requirecapability "hostler/builtins/blocks/require_capability"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
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
