package rootfs

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// stalled is how long a connection may bring nothing.
const stalled = 60 * time.Second

// get asks for a URL. It follows redirects but not from https to http. The
// answer is 200, or 206 when an offset is asked for; its body fails when it
// brings nothing for a while.
func get(ctx context.Context, rt http.RoundTripper, req *http.Request, what string) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := time.AfterFunc(stalled, func() { cancel(errors.New("the connection brought nothing for a minute")) })
	client := http.Client{Transport: rt, CheckRedirect: refuseDowngrade}
	res, err := client.Do(req.WithContext(ctx))
	if err != nil {
		watch.Stop()
		err = transportError(req.URL.Host, err, context.Cause(ctx))
		cancel(nil)
		return nil, err
	}
	body := &watched{body: res.Body, watch: watch, ctx: ctx, cancel: cancel}
	res.Body = body
	if res.StatusCode == http.StatusOK || res.StatusCode == http.StatusPartialContent {
		return res, nil
	}
	return nil, errors.Join(statusFault(req, res, what), body.Close())
}

func statusFault(req *http.Request, res *http.Response, what string) error {
	e := &statusError{host: req.URL.Host, what: what, status: res.StatusCode, after: retryAfter(res.Header)}
	switch res.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return passing{e}
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		// A redirect's address is signed for a while only; asking again gives
		// a new one.
		if elsewhere := res.Request.URL.Host; elsewhere != req.URL.Host {
			e.host = elsewhere
			return passing{e}
		}
	}
	if res.StatusCode >= 500 {
		return passing{e}
	}
	return e
}

// retryAfter reads a number of seconds or a date, which is held against the
// server's own clock.
func retryAfter(h http.Header) time.Duration {
	said := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(said); err == nil {
		return min(time.Duration(max(0, min(seconds, int(maxAfter/time.Second))))*time.Second, maxAfter)
	}
	until, err := http.ParseTime(said)
	now, nerr := http.ParseTime(h.Get("Date"))
	if err != nil || nerr != nil {
		return 0
	}
	return max(0, min(until.Sub(now), maxAfter))
}

// refuseDowngrade also keeps the address that led to the next one to itself:
// it may be signed.
func refuseDowngrade(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("more than 10 redirects")
	}
	// What asked for https may be a transport below, so the answer tells, too.
	secure := via[0].URL.Scheme == "https" || req.Response != nil && req.Response.TLS != nil
	if secure && req.URL.Scheme != "https" {
		return errors.New("a redirect from https to plain http is refused")
	}
	req.Header.Del("Referer")
	return nil
}

// transportError makes an error text without addresses, which may be signed,
// and says which faults may pass.
func transportError(hostname string, err, cause error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	if ca, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		e := &untrustedError{host: hostname}
		if ca.Cert != nil {
			e.issuer = ca.Cert.Issuer.String()
		}
		return e
	}
	if t, ok := errors.AsType[*transport.Error](err); ok { // of the server that gives tokens
		return tokenError(hostname, t)
	}
	err = fmt.Errorf("%s: %w", hostname, err)
	if mayPass(err) || cause != nil && errors.Is(err, cause) && !errors.Is(cause, context.Canceled) {
		return passing{err}
	}
	return err
}

func mayPass(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsNotFound
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// watched is a body that is given up when it stalls.
type watched struct {
	body   io.ReadCloser
	watch  *time.Timer
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.body.Read(b)
	if n > 0 {
		w.watch.Reset(stalled)
	}
	if err != nil && w.ctx.Err() != nil {
		err = context.Cause(w.ctx)
	}
	return n, err
}

func (w *watched) Close() error {
	w.watch.Stop()
	err := w.body.Close()
	w.cancel(nil)
	return err
}
