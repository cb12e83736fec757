package requirecapability

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
)

func checkAddress(v cty.Value) error {
	if _, err := netip.ParseAddrPort(v.AsString()); err != nil {
		return block.Advicef("%q is no address and port; write one such as \"0.0.0.0:10250\" or \"[::1]:8080\".", v.AsString())
	}
	return nil
}

// freeAddress looks for listeners that would be in the way. With an owner,
// those whose process root and executable both belong to one of its machines
// are not.
func freeAddress(address, owner string) probe {
	return func(ctx context.Context, in block.Look) (*finding, error) {
		listeners, err := in.View.Network.Listeners(ctx)
		if err != nil {
			return nil, err
		}
		want, err := netip.ParseAddrPort(address)
		if err != nil {
			return nil, err
		}
		for _, l := range listeners {
			if !inTheWay(want, l.Address) || owner != "" && ownedBy(l, slots(in, owner)) {
				continue
			}
			return &finding{
				summary: fmt.Sprintf("%s is taken: %s listens on %s", address, who(l), l.Address),
				advice:  "stop that process, or give it another port",
			}, nil
		}
		return nil, nil
	}
}

// inTheWay says whether a listener keeps others from the address: same port,
// and the same address or one of both is any.
func inTheWay(want netip.AddrPort, listener string) bool {
	have, err := netip.ParseAddrPort(listener)
	if err != nil || have.Port() != want.Port() {
		return false
	}
	a, b := have.Addr().Unmap().WithZone(""), want.Addr().Unmap().WithZone("")
	return a == b || a.IsUnspecified() || b.IsUnspecified()
}

func slots(in block.Look, owner string) []string {
	if names, ok := in.Slots[owner]; ok {
		return names
	}
	return []string{owner}
}

func ownedBy(l host.ListenerState, machines []string) bool {
	for _, name := range machines {
		root := host.MachineRoot(name)
		if path.Clean(l.Root) == root && strings.HasPrefix(path.Clean(l.Exe), root+"/") {
			return true
		}
	}
	return false
}

func who(l host.ListenerState) string {
	switch {
	case l.PID == 0:
		return "a process that cannot be found"
	case l.Exe == "":
		return fmt.Sprintf("process %d, which cannot be inspected,", l.PID)
	}
	return fmt.Sprintf("process %d (%s)", l.PID, l.Exe)
}

// patience bounds one request.
const patience = 15 * time.Second

func reachable(url, ca string) probe {
	return func(ctx context.Context, in block.Look) (*finding, error) {
		within, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		within, err := trusting(within, in.View, ca)
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(within, http.MethodGet, url, nil)
		if err != nil {
			return nil, err
		}
		res, err := in.View.Network.Transport().RoundTrip(req)
		switch {
		case errors.Is(err, host.ErrUnknown), ctx.Err() != nil:
			return nil, errors.Join(err, ctx.Err())
		case err != nil:
			return &finding{summary: fmt.Sprintf("%s does not answer: %v", rootfs.RedactURL(url), err), advice: "check name resolution, routes, proxies and firewalls", passing: block.FaultNetwork}, nil
		}
		if err := res.Body.Close(); err != nil {
			return nil, err
		}
		if res.StatusCode < http.StatusInternalServerError {
			return nil, nil
		}
		return &finding{summary: fmt.Sprintf("%s answers with status %d", rootfs.RedactURL(url), res.StatusCode), advice: "wait until the server is well", passing: block.FaultNetwork}, nil
	}
}

// trusting returns a context whose requests trust the certificates, if any are
// given.
func trusting(ctx context.Context, v host.View, ca string) (context.Context, error) {
	if ca == "" {
		return ctx, nil
	}
	pem := []byte(ca)
	if path.IsAbs(ca) {
		var err error
		if pem, err = thing.ReadAll(v.Files, ca); err != nil {
			return nil, fmt.Errorf("ca_certificate: %w", err)
		}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("ca_certificate holds no certificate in PEM form")
	}
	return host.WithRoots(ctx, pool), nil
}
