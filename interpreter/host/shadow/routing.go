package shadow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"syscall"

	"hostler/interpreter/host"
)

var _ host.Routing = &network{}

// routingState is what was added and removed beside networkState.
type routingState struct {
	links     map[string]host.LinkState
	addresses map[string][]string // of links that were touched
	added     []host.Route
	removed   []host.Route
	rules     []host.PolicyRule
	noRules   map[host.PolicyRule]bool
}

func routing[T any](ctx context.Context, n *network, question func(host.RoutingView) (T, error)) (T, error) {
	return ask(ctx, n.w, func(v host.View) (T, error) {
		r, err := host.RoutingViewOf(v.Network)
		if err != nil {
			var none T
			return none, err
		}
		return question(r)
	})
}

// Addresses are those of the base as they were changed.
func (n *network) Addresses(ctx context.Context, link string) ([]string, error) {
	return routing(ctx, n, func(r host.RoutingView) ([]string, error) { return n.addresses(ctx, r, link) })
}

func (n *network) addresses(ctx context.Context, r host.RoutingView, link string) ([]string, error) {
	if list, touched := n.w.routing.addresses[link]; touched {
		return slices.Clone(list), nil
	}
	if n.w.network.links[link] {
		return nil, nil
	}
	return r.Addresses(ctx, link)
}

// Routes are those of the base as they were changed.
func (n *network) Routes(ctx context.Context, table int) ([]host.Route, error) {
	return routing(ctx, n, func(r host.RoutingView) ([]host.Route, error) { return n.routes(ctx, r, table) })
}

func (n *network) routes(ctx context.Context, r host.RoutingView, table int) ([]host.Route, error) {
	all, err := r.Routes(ctx, table)
	all = left(all, n.gone)
	for _, r := range n.w.routing.added {
		if r.Table == table {
			all = append(slices.DeleteFunc(all, r.Same), r)
		}
	}
	return all, err
}

// gone says whether a route of the base was removed, by itself or with its
// table or link.
func (n *network) gone(r host.Route) bool {
	return n.w.network.tables[tableOf(r)] || n.w.network.links[r.Link] || slices.ContainsFunc(n.w.routing.removed, r.Same)
}

func tableOf(r host.Route) host.TableState { return host.TableState{Family: r.Family, Table: r.Table} }

// tables brings the tables that hold routes up to date: those to which routes
// were added, and without those all of whose routes were removed.
func (n *network) tables(ctx context.Context, v host.RoutingView, all []host.TableState) ([]host.TableState, error) {
	var emptied []host.TableState
	for _, t := range all {
		base, err := v.Routes(ctx, t.Table)
		if err != nil {
			return nil, err
		}
		base = slices.DeleteFunc(slices.Clone(base), func(r host.Route) bool { return r.Family != t.Family })
		if len(base) > 0 && len(left(base, n.gone)) == 0 {
			emptied = append(emptied, t)
		}
	}
	all = slices.DeleteFunc(all, func(t host.TableState) bool { return slices.Contains(emptied, t) })
	for _, r := range n.w.routing.added {
		if t := tableOf(r); !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all, nil
}

// PolicyRules are those of the base as they were changed.
func (n *network) PolicyRules(ctx context.Context) ([]host.PolicyRule, error) {
	return routing(ctx, n, func(r host.RoutingView) ([]host.PolicyRule, error) { return n.policyRules(ctx, r) })
}

func (n *network) policyRules(ctx context.Context, v host.RoutingView) ([]host.PolicyRule, error) {
	all, err := v.PolicyRules(ctx)
	all = left(all, func(r host.PolicyRule) bool { return n.w.routing.noRules[r] || n.w.network.rules[bareRule(r)] })
	for _, r := range n.w.routing.rules {
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all, err
}

func (n *network) bareRules(ctx context.Context, v host.RoutingView) (bare []host.RuleState, err error) {
	all, err := n.policyRules(ctx, v)
	for _, r := range all {
		bare = append(bare, bareRule(r))
	}
	return bare, err
}

func bareRule(r host.PolicyRule) host.RuleState {
	return host.RuleState{Family: r.Family, Priority: r.Priority, Table: r.Table}
}

// links are those of the base as they were changed.
func (n *network) links(ctx context.Context, v host.View) ([]host.LinkState, error) {
	all, err := v.Network.Links(ctx)
	all = left(all, func(l host.LinkState) bool { return n.w.network.links[l.Name] || hasKey(n.w.routing.links, l.Name) })
	for _, name := range slices.Sorted(maps.Keys(n.w.routing.links)) {
		all = append(all, n.w.routing.links[name])
	}
	return all, err
}

func hasKey[K comparable, V any](m map[K]V, k K) bool {
	_, there := m[k]
	return there
}

func hasLink(all []host.LinkState, name string) bool {
	return slices.ContainsFunc(all, func(l host.LinkState) bool { return l.Name == name })
}

// AddLink makes a link, or sets it up.
func (n *network) AddLink(ctx context.Context, l host.LinkState) error {
	return do(ctx, n.w, "add-link", l.Name, func(v host.View) error {
		all, err := n.links(ctx, v)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(have host.LinkState) bool { return have.Name == l.Name })
		if i >= 0 && (all[i].Up || all[i].Kind != l.Kind) {
			return fmt.Errorf("network link %s: %w", l.Name, syscall.EEXIST)
		}
		l.Up = true
		keep(&n.w.routing.links, l.Name, l)
		if i >= 0 {
			return nil // it keeps its addresses
		}
		keep(&n.w.routing.addresses, l.Name, nil)
		return nil
	})
}

// AddAddress gives a link an address.
func (n *network) AddAddress(ctx context.Context, link, address string) error {
	return n.address(ctx, "add-address", link, func(list []string) []string {
		if slices.Contains(list, address) {
			return list
		}
		return append(list, address)
	})
}

// RemoveAddress takes an address away.
func (n *network) RemoveAddress(ctx context.Context, link, address string) error {
	return n.address(ctx, "remove-address", link, func(list []string) []string {
		return slices.DeleteFunc(list, func(a string) bool { return a == address })
	})
}

func (n *network) address(ctx context.Context, kind, link string, change func([]string) []string) error {
	return do(ctx, n.w, kind, link, func(v host.View) error {
		all, err := n.links(ctx, v)
		if err == nil && !hasLink(all, link) {
			err = fmt.Errorf("network link %s: %w", link, syscall.ENODEV)
		}
		if err != nil {
			return err
		}
		r, err := host.RoutingViewOf(v.Network)
		if err != nil {
			return err
		}
		list, err := n.addresses(ctx, r, link)
		if err != nil {
			return err
		}
		keep(&n.w.routing.addresses, link, change(list))
		return nil
	})
}

// AddRoute adds a route, over a link that is there.
func (n *network) AddRoute(ctx context.Context, r host.Route) error {
	return do(ctx, n.w, "add-route", r.To, func(v host.View) error {
		all, err := n.links(ctx, v)
		if err == nil && r.Link != "" && !hasLink(all, r.Link) {
			err = fmt.Errorf("route %s: network link %s: %w", r.To, r.Link, syscall.ENODEV)
		}
		if err == nil {
			n.w.routing.added = append(slices.DeleteFunc(n.w.routing.added, r.Same), r)
		}
		return err
	})
}

// RemoveRoute removes a route.
func (n *network) RemoveRoute(ctx context.Context, r host.Route) error {
	return do(ctx, n.w, "remove-route", r.To, func(host.View) error {
		n.w.routing.added = slices.DeleteFunc(n.w.routing.added, r.Same)
		n.w.routing.removed = append(n.w.routing.removed, r)
		return nil
	})
}

// AddRule adds a policy rule.
func (n *network) AddRule(ctx context.Context, r host.PolicyRule) error {
	return do(ctx, n.w, "add-rule", fmt.Sprintf("%s %d table %d", r.Family, r.Priority, r.Table), func(host.View) error {
		delete(n.w.routing.noRules, r)
		if !slices.Contains(n.w.routing.rules, r) {
			n.w.routing.rules = append(n.w.routing.rules, r)
		}
		return nil
	})
}

// RemoveRule removes a policy rule.
func (n *network) RemoveRule(ctx context.Context, r host.PolicyRule) error {
	return do(ctx, n.w, "remove-rule", fmt.Sprintf("%s %d table %d", r.Family, r.Priority, r.Table), func(host.View) error {
		n.w.routing.rules = slices.DeleteFunc(n.w.routing.rules, func(o host.PolicyRule) bool { return o == r })
		keep(&n.w.routing.noRules, r, true)
		return nil
	})
}

// forgetLink takes an added link away again.
func (r *routingState) forgetLink(name string) {
	delete(r.links, name)
	delete(r.addresses, name)
	r.added = slices.DeleteFunc(r.added, func(o host.Route) bool { return o.Link == name })
}

// forgetTable takes the added routes of a table away again.
func (r *routingState) forgetTable(t host.TableState) {
	r.added = slices.DeleteFunc(r.added, func(o host.Route) bool { return o.Table == t.Table && o.Family == t.Family })
}

// forgetRule takes added rules away again.
func (r *routingState) forgetRule(t host.RuleState) {
	r.rules = slices.DeleteFunc(r.rules, func(o host.PolicyRule) bool { return bareRule(o) == t })
}
