package rootfs

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"path"

	"hostler/interpreter/host"
)

// DefaultCA is a file of the host with certificates in PEM form, in which
// images' servers may be trusted beside those that the host trusts anyway. It
// is for private registries and for proxies that look into what goes through
// them.
const DefaultCA = "/etc/hostler/registry-ca.pem"

// untrustedError is a server whose certificate nobody here vouches for.
type untrustedError struct {
	host, issuer string
	option       string // where to put the CA, beside the host's own place
}

func (e *untrustedError) Error() string {
	return fmt.Sprintf("%s: its certificate is issued by %q, which this host does not trust: add that CA to the host's own%s", e.host, e.issuer, e.option)
}

// trust reads the certificates that src.CA or [DefaultCA] give.
func (src *Source) trust() error {
	pem, from := []byte(src.CA), "the CA of the image's server"
	name := src.CA
	if name == "" {
		name = DefaultCA
	}
	if path.IsAbs(name) {
		from = name
		file, err := src.Files.Open(name)
		if host.Absent(err) && src.CA == "" {
			return nil
		}
		if err != nil {
			return err
		}
		if pem, err = readDocument(file); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return fmt.Errorf("%s: it holds no certificate in PEM form", from)
	}
	src.roots = roots
	return nil
}

// Trusting returns a context whose requests, through a transport that heeds
// [host.WithRoots], trust what those for an image do: the host's certificates,
// and those of ca, or of [DefaultCA] if ca is "" and that is there.
func Trusting(ctx context.Context, f host.FileView, ca string) (context.Context, error) {
	src := Source{Files: f, CA: ca}
	if err := src.trust(); err != nil {
		return nil, err
	}
	return src.trusting(ctx), nil
}

// trusting returns a context whose requests trust what src does.
func (src Source) trusting(ctx context.Context) context.Context {
	if src.roots == nil {
		return ctx
	}
	return host.WithRoots(ctx, src.roots)
}

// advise names the place for a CA in an error that speaks of one.
func (src Source) advise(err error) error {
	if e, ok := errors.AsType[*untrustedError](err); ok && e.option == "" {
		e.option = " or, for images only, to " + DefaultCA
		if path.IsAbs(src.CA) {
			e.option = " or to " + src.CA
		}
	}
	return err
}
