package host

import (
	"context"
	"fmt"
	"net/netip"
)

// RoutingView is offered, by type assertion, by the network doors of hosts with
// a network: what links, routes and policy rules are exactly. See
// [RoutingViewOf].
type RoutingView interface {
	// Addresses lists the addresses of a link with their prefix lengths, as
	// "192.0.2.1/32", but not those that the kernel gives every link
	// (fe80::/10). A link that is not there has none.
	Addresses(ctx context.Context, link string) ([]string, error)
	// Routes lists the routes of a table, of both families.
	Routes(ctx context.Context, table int) ([]Route, error)
	// PolicyRules lists policy rules of both families, as far as a PolicyRule
	// can say what they match.
	PolicyRules(ctx context.Context) ([]PolicyRule, error)
}

// LinkEdit changes links.
type LinkEdit interface {
	// AddLink makes a link of a kind that needs nothing else ("dummy",
	// "bridge") and sets it up, in one. A link of that name is an error, but
	// for one of that kind that is down: it is set up.
	AddLink(ctx context.Context, link LinkState) error
	// AddAddress gives a link an address; one that it has is no error.
	AddAddress(ctx context.Context, link, address string) error
	// RemoveAddress takes an address away; one that is gone is no error.
	RemoveAddress(ctx context.Context, link, address string) error
}

// RouteEdit changes routes and policy rules. To add what is there, and to
// remove what is gone, is no error.
type RouteEdit interface {
	AddRoute(ctx context.Context, r Route) error
	RemoveRoute(ctx context.Context, r Route) error
	AddRule(ctx context.Context, r PolicyRule) error
	RemoveRule(ctx context.Context, r PolicyRule) error
}

// Routing is what the network doors of hosts offer beyond, by type assertion.
// See [RoutingOf].
type Routing interface {
	RoutingView
	LinkEdit
	RouteEdit
}

// Route is one route. Routes with the same family, table, destination and
// metric are the same one.
type Route struct {
	Family Family `json:"family"`
	Table  int    `json:"table"`
	// To is the destination as a prefix, "0.0.0.0/0" for the default route.
	To string `json:"to"`
	// Via is the gateway and Link the name of the link; "" for none.
	Via  string `json:"via,omitempty"`
	Link string `json:"link,omitempty"`
	// Metric is its priority; 0 is that of the kernel.
	Metric int `json:"metric,omitempty"`
	// Type is "" for a route that delivers, else "blackhole", "unreachable" or
	// "prohibit".
	Type string `json:"type,omitempty"`
}

// Same says whether o is the same route, with whatever gateway.
func (r Route) Same(o Route) bool {
	return r.Family == o.Family && r.Table == o.Table && r.To == o.To && r.Metric == o.Metric
}

// PolicyRule is one policy rule.
type PolicyRule struct {
	Family   Family `json:"family"`
	Priority int    `json:"priority"`
	Table    int    `json:"table"`
	// From and To are prefixes, "" for any.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Mark and Mask are those of the packet's mark; a Mask of 0 is none.
	Mark uint32 `json:"mark,omitempty"`
	Mask uint32 `json:"mask,omitempty"`
	// In is the name of the link a packet comes in by, "" for any.
	In string `json:"in,omitempty"`
}

// RoutingViewOf returns what the door tells of links, routes and rules; where it
// tells nothing the error is an *UnknownError.
func RoutingViewOf(n NetworkView) (RoutingView, error) {
	if r, ok := n.(RoutingView); ok {
		return r, nil
	}
	return nil, Unknownf("routes of this host cannot be asked for")
}

// RoutingOf is [RoutingViewOf] for changes.
func RoutingOf(n Network) (Routing, error) {
	if r, ok := n.(Routing); ok {
		return r, nil
	}
	return nil, Unknownf("routes of this host cannot be changed")
}

// FamilyOf is the family of an address or a prefix.
func FamilyOf(s string) (Family, error) {
	addr, err := netip.ParseAddr(s)
	if err != nil {
		var p netip.Prefix
		if p, err = netip.ParsePrefix(s); err != nil {
			return "", fmt.Errorf("%q is no address and no prefix", s)
		}
		addr = p.Addr()
	}
	if addr.Is4() {
		return IPv4, nil
	}
	return IPv6, nil
}
