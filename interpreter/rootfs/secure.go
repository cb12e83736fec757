package rootfs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
)

// secureFirst keeps plain http from a registry that speaks https. The handshake
// with one on a private address tries both, would take whichever answers first,
// and plain http where the certificate is not trusted: whoever stands between
// could have it either way.
type secureFirst struct {
	to   http.RoundTripper
	host string

	once   sync.Once
	asked  chan struct{} // closed once https was tried
	secure bool
}

// SecureFirst returns a transport for one handshake with a registry, and what
// comes after, that speaks plain http to it only where it does not speak https,
// and then only where that is allowed: on loopback and private addresses.
func SecureFirst(to http.RoundTripper, r name.Registry) http.RoundTripper {
	if r.Scheme() != "http" {
		return to
	}
	return newSecureFirst(to, r.RegistryStr())
}

func newSecureFirst(to http.RoundTripper, host string) *secureFirst {
	return &secureFirst{to: to, host: host, asked: make(chan struct{})}
}

var errSecure = errors.New("it speaks https, so that plain http is not spoken to it")

// RoundTrip carries a request; one over plain http waits until https was
// tried.
func (s *secureFirst) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.URL.Host != s.host:
		return s.to.RoundTrip(req)
	case req.URL.Scheme == "https":
		res, err := s.to.RoundTrip(req)
		s.once.Do(func() {
			s.secure = speaksTLS(err)
			close(s.asked)
		})
		return res, err
	}
	select {
	case <-s.asked:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	if s.secure {
		return nil, errSecure
	}
	return s.to.RoundTrip(req)
}

// speaksTLS says whether a server that answered a request over https so speaks
// it: it does when its certificate is refused, and when it refuses ours.
func speaksTLS(err error) bool {
	if err == nil {
		return true
	}
	_, refused := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	op, failed := errors.AsType[*net.OpError](err)
	return refused || unknown || failed && op.Op == "remote error"
}
