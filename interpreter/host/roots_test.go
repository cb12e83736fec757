package host_test

import (
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"hostler/interpreter/host"
)

func TestHonourRootsTrustsWhatTheContextSays(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	base := &http.Transport{}
	transport := host.HonourRoots(base)
	for _, trusted := range []bool{false, true} {
		ctx := t.Context()
		if trusted {
			ctx = host.WithRoots(ctx, roots)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := transport.RoundTrip(req)
		if (err == nil) != trusted {
			t.Errorf("trusted %v: %v", trusted, err)
		}
		if err == nil && (res.StatusCode != http.StatusNotFound || res.Body.Close() != nil) {
			t.Errorf("status %d", res.StatusCode)
		}
	}
	if base.TLSClientConfig != nil && base.TLSClientConfig.RootCAs != nil {
		t.Error("the transport itself trusts the certificates now")
	}
}
