package shadow

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"hostler/interpreter/host"
)

// network is the network door.
type network struct{ w *world }

// networkState is what was deleted.
type networkState struct {
	links  map[string]bool
	rules  map[host.RuleState]bool
	tables map[host.TableState]bool
}

// Listeners are the base's.
func (n *network) Listeners(ctx context.Context) ([]host.ListenerState, error) {
	return ask(ctx, n.w, func(v host.View) ([]host.ListenerState, error) { return v.Network.Listeners(ctx) })
}

// Links are those of the base that were not deleted.
func (n *network) Links(ctx context.Context) ([]host.LinkState, error) {
	return ask(ctx, n.w, func(v host.View) ([]host.LinkState, error) { return n.links(ctx, v) })
}

// Rules are those of the base that were not deleted.
func (n *network) Rules(ctx context.Context) ([]host.RuleState, error) {
	return ask(ctx, n.w, func(v host.View) ([]host.RuleState, error) {
		if r, err := host.RoutingViewOf(v.Network); err == nil {
			return n.bareRules(ctx, r)
		}
		all, err := v.Network.Rules(ctx)
		return left(all, func(r host.RuleState) bool { return n.w.network.rules[r] }), err
	})
}

// RouteTables are those of the base that were not flushed.
func (n *network) RouteTables(ctx context.Context) ([]host.TableState, error) {
	return ask(ctx, n.w, func(v host.View) ([]host.TableState, error) {
		all, err := v.Network.RouteTables(ctx)
		all = left(all, func(t host.TableState) bool { return n.w.network.tables[t] })
		if r, asked := host.RoutingViewOf(v.Network); err == nil && asked == nil {
			return n.tables(ctx, r, all)
		}
		return all, err
	})
}

func left[T any](all []T, gone func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), gone)
}

// DeleteLink deletes a link.
func (n *network) DeleteLink(ctx context.Context, name string) error {
	return do(ctx, n.w, "delete-link", name, func(v host.View) error {
		keep(&n.w.network.links, name, true)
		n.w.routing.forgetLink(name)
		_, err := v.Network.Links(ctx)
		return err
	})
}

// DeleteRule deletes a policy rule.
func (n *network) DeleteRule(ctx context.Context, r host.RuleState) error {
	name := fmt.Sprintf("%s %d table %d", r.Family, r.Priority, r.Table)
	return do(ctx, n.w, "delete-rule", name, func(v host.View) error {
		keep(&n.w.network.rules, r, true)
		n.w.routing.forgetRule(r)
		_, err := v.Network.Rules(ctx)
		return err
	})
}

// FlushTable deletes the routes of a table.
func (n *network) FlushTable(ctx context.Context, t host.TableState) error {
	name := fmt.Sprintf("%s %d", t.Family, t.Table)
	return do(ctx, n.w, "flush-table", name, func(v host.View) error {
		keep(&n.w.network.tables, t, true)
		n.w.routing.forgetTable(t)
		_, err := v.Network.RouteTables(ctx)
		return err
	})
}

// Transport carries the requests that only read: GET and HEAD.
func (n *network) Transport() http.RoundTripper { return reader{n.w} }

type reader struct{ w *world }

// RoundTrip passes a request to the base, or refuses it.
func (r reader) RoundTrip(req *http.Request) (*http.Response, error) {
	base, err := ask(req.Context(), r.w, func(v host.View) (http.RoundTripper, error) {
		if req.Method != "" && req.Method != http.MethodGet && req.Method != http.MethodHead {
			return nil, host.Unknownf("the answer to a %s request is not foreseeable: a plan only reads", req.Method)
		}
		return v.Network.Transport(), nil
	})
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // nothing was written
		}
		return nil, err
	}
	return base.RoundTrip(req)
}
