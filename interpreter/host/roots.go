package host

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
)

type rootsKey struct{}

// WithRoots returns a context whose requests, through [NetworkView.Transport],
// trust these certificates instead of the system's. It passes through
// transports that wrap others.
func WithRoots(ctx context.Context, roots *x509.CertPool) context.Context {
	return context.WithValue(ctx, rootsKey{}, roots)
}

// HonourRoots returns a transport that is base, but for requests whose context
// comes from [WithRoots]: those get a connection of their own that trusts those
// certificates.
func HonourRoots(base *http.Transport) http.RoundTripper { return honouring{base} }

type honouring struct{ base *http.Transport }

// RoundTrip sends the request.
func (h honouring) RoundTrip(r *http.Request) (*http.Response, error) {
	roots, ok := r.Context().Value(rootsKey{}).(*x509.CertPool)
	if !ok {
		return h.base.RoundTrip(r)
	}
	own := h.base.Clone()
	if own.TLSClientConfig == nil {
		own.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	own.TLSClientConfig.RootCAs = roots
	own.DisableKeepAlives = true
	return own.RoundTrip(r)
}
