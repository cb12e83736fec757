package waitfor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// ready says why something is not ready yet, "" when it is. An error ends the
// wait.
type ready func(ctx context.Context, do block.Do) (why string, err error)

func fileReady(name string) ready {
	return func(_ context.Context, do block.Do) (string, error) {
		_, err := do.View.Files.Stat(name)
		if host.Absent(err) {
			return "it is not there", nil
		}
		return "", err
	}
}

func unitReady(name string) ready {
	return func(ctx context.Context, do block.Do) (string, error) {
		u, err := do.View.Units.Unit(ctx, name)
		switch {
		case err != nil:
			return "", err
		case u.ActiveState == "active" && u.JobType == "":
			return "", nil
		case u.LoadState == "not-found":
			return "there is no such unit", nil
		case u.Result != "" && u.Result != "success":
			return fmt.Sprintf("it is %s (%s)", u.ActiveState, u.Result), nil
		}
		return "it is " + u.ActiveState, nil
	}
}

func addressReady(address string) ready {
	return func(ctx context.Context, do block.Do) (string, error) {
		want, err := netip.ParseAddrPort(address)
		if err != nil {
			return "", err
		}
		listeners, err := do.View.Network.Listeners(ctx)
		if err != nil {
			return "", err
		}
		for _, l := range listeners {
			have, err := netip.ParseAddrPort(l.Address)
			if err == nil && have.Port() == want.Port() && serves(have.Addr(), want.Addr()) {
				return "", nil
			}
		}
		return "nothing listens there", nil
	}
}

// serves says whether a socket on one address takes connections to another.
func serves(socket, to netip.Addr) bool {
	return socket.Unmap() == to.Unmap() || socket.IsUnspecified() || to.IsUnspecified()
}

// patience bounds one request or run of a command.
const patience = 30 * time.Second

func urlReady(url string) ready {
	return func(ctx context.Context, do block.Do) (string, error) {
		within, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		req, err := http.NewRequestWithContext(within, http.MethodGet, url, nil)
		if err != nil {
			return "", err
		}
		res, err := do.View.Network.Transport().RoundTrip(req)
		switch {
		case errors.Is(err, host.ErrUnknown) || ctx.Err() != nil:
			return "", errors.Join(err, ctx.Err())
		case err != nil:
			return "it does not answer: " + err.Error(), nil
		}
		if err := res.Body.Close(); err != nil || res.StatusCode < http.StatusInternalServerError {
			return "", err
		}
		return fmt.Sprintf("it answers with status %d", res.StatusCode), nil
	}
}

func commandReady(argv []string) ready {
	return func(ctx context.Context, do block.Do) (string, error) {
		_, err := do.Host.Commands.Run(ctx, host.Command{Argv: argv, Timeout: patience})
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		_, failed := errors.AsType[*host.ExitError](err)
		if failed || errors.Is(err, context.DeadlineExceeded) {
			return err.Error(), nil
		}
		return "", err
	}
}
