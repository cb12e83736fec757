package linux

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"hostler/interpreter/host"
)

// How long the parts of a request may take. The body is not bounded: it may be
// an image, and the caller's context bounds it.
const (
	dialTimeout   = 30 * time.Second
	tlsTimeout    = 15 * time.Second
	headerTimeout = 60 * time.Second
	idleTimeout   = 90 * time.Second
	idlePerHost   = 8
)

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// transport carries HTTP requests, through the proxy that the environment
// names. Redirects are followed by clients, never here. dial is nil for this
// process's own network.
func transport(dial dialFunc) http.RoundTripper {
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: dialTimeout}).DialContext
	}
	return host.HonourRoots(&http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dial,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   tlsTimeout,
		ResponseHeaderTimeout: headerTimeout,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       idleTimeout,
		MaxIdleConnsPerHost:   idlePerHost,
		ForceAttemptHTTP2:     true,
	})
}
