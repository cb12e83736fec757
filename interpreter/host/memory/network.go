package memory

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"

	"hostler/interpreter/host"
)

// networkDoor is the network, which machines share with the host.
type networkDoor struct {
	m       *Memory
	machine string
}

var _ host.Network = networkDoor{}

func (d networkDoor) live(ctx context.Context, do func(*Network)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	err := d.m.liveness(d.machine, "the network")
	if err == nil {
		do(&d.m.network)
	}
	return err
}

// Listeners lists listening sockets.
func (d networkDoor) Listeners(ctx context.Context) (list []host.ListenerState, err error) {
	err = d.live(ctx, func(n *Network) { list = slices.Clone(n.Listeners) })
	return list, err
}

// Links lists network links.
func (d networkDoor) Links(ctx context.Context) (list []host.LinkState, err error) {
	err = d.live(ctx, func(n *Network) { list = slices.Clone(n.Links) })
	return list, err
}

// Rules lists policy rules.
func (d networkDoor) Rules(ctx context.Context) (list []host.RuleState, err error) {
	err = d.live(ctx, func(n *Network) { list = n.rules() })
	return list, err
}

// RouteTables lists the tables that hold routes.
func (d networkDoor) RouteTables(ctx context.Context) (list []host.TableState, err error) {
	err = d.live(ctx, func(n *Network) { list = n.tables() })
	return list, err
}

// DeleteLink deletes a link; one that is gone is no error.
func (d networkDoor) DeleteLink(ctx context.Context, name string) error {
	d.m.count("network")
	return d.live(ctx, func(n *Network) {
		n.Links = slices.DeleteFunc(slices.Clone(n.Links), func(l host.LinkState) bool { return l.Name == name })
		n.Routes = slices.DeleteFunc(slices.Clone(n.Routes), func(r host.Route) bool { return r.Link == name })
		delete(n.Addresses, name)
	})
}

// DeleteRule deletes a policy rule.
func (d networkDoor) DeleteRule(ctx context.Context, rule host.RuleState) error {
	d.m.count("network")
	return d.live(ctx, func(n *Network) {
		n.Rules = slices.DeleteFunc(slices.Clone(n.Rules), func(r host.RuleState) bool { return r == rule })
		n.PolicyRules = slices.DeleteFunc(slices.Clone(n.PolicyRules), func(r host.PolicyRule) bool { return bareRule(r) == rule })
	})
}

// FlushTable deletes all routes of a table.
func (d networkDoor) FlushTable(ctx context.Context, table host.TableState) error {
	d.m.count("network")
	return d.live(ctx, func(n *Network) {
		n.Tables = slices.DeleteFunc(slices.Clone(n.Tables), func(t host.TableState) bool { return t == table })
		n.Routes = slices.DeleteFunc(slices.Clone(n.Routes), func(r host.Route) bool { return r.Table == table.Table && r.Family == table.Family })
	})
}

// SetNetwork changes the network as workloads do. A boot goes back to what
// [Options] say.
func (m *Memory) SetNetwork(change func(*Network)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.network)
}

// bootNetwork is the network after a boot.
func (m *Memory) bootNetwork() {
	o := m.opts.Network
	m.network = Network{Listeners: slices.Clone(o.Listeners), Links: slices.Clone(o.Links),
		Rules: slices.Clone(o.Rules), Tables: slices.Clone(o.Tables), Addresses: maps.Clone(o.Addresses),
		Routes: slices.Clone(o.Routes), PolicyRules: slices.Clone(o.PolicyRules), HTTP: o.HTTP}
}

// Transport carries requests to the handlers of [Network.HTTP].
func (d networkDoor) Transport() http.RoundTripper { return transport(d) }

type transport networkDoor

// RoundTrip hands the request to its host's handler.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	t.m.mu.Lock()
	if err := t.m.liveness(t.machine, "the network"); err != nil {
		t.m.mu.Unlock()
		return nil, err
	}
	handler := t.m.network.HTTP[r.URL.Host]
	if handler == nil {
		handler = t.m.network.HTTP[r.URL.Hostname()]
	}
	t.m.mu.Unlock()
	if handler == nil {
		return nil, &net.DNSError{Err: "no such host", Name: r.URL.Hostname(), IsNotFound: true}
	}
	if r.Body == nil {
		r = r.Clone(r.Context())
		r.Body = http.NoBody
	}
	w := &answer{header: http.Header{}, code: http.StatusOK}
	if err := serve(handler, w, r); err != nil {
		return nil, err
	}
	return w.response(r), nil
}

// serve takes http.ErrAbortHandler for a connection that broke.
func serve(handler http.Handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			err = fmt.Errorf("connection to %s broke", r.URL.Host)
		} else if p != nil {
			panic(p)
		}
	}()
	handler.ServeHTTP(w, r)
	return nil
}

// answer takes down what a handler writes.
type answer struct {
	header http.Header
	sent   http.Header // as it was when the status was written
	code   int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(code int) {
	if a.sent == nil && code >= 200 {
		a.code, a.sent = code, a.header.Clone()
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

func (a *answer) response(r *http.Request) *http.Response {
	a.WriteHeader(http.StatusOK)
	length := int64(a.body.Len())
	if n, err := strconv.ParseInt(a.sent.Get("Content-Length"), 10, 64); err == nil {
		length = n
	}
	body := io.Reader(&a.body)
	switch {
	case r.Method == http.MethodHead:
		body = http.NoBody
	case length > int64(a.body.Len()):
		body = io.MultiReader(body, brokenBody{})
	}
	return &http.Response{Status: fmt.Sprintf("%d %s", a.code, http.StatusText(a.code)), StatusCode: a.code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: a.sent, Body: io.NopCloser(body),
		ContentLength: length, Request: r}
}

// brokenBody is the end of a body that is shorter than announced.
type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
