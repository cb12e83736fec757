package fault

import (
	"context"
	"fmt"

	"hostler/interpreter/host"
)

var _ host.Routing = network{}

func (n network) view() (host.RoutingView, error) { return host.RoutingViewOf(n.Network) }

// edit does an effect on the routing door below.
func (n network) edit(kind, name string, do func(host.Routing) error) error {
	r, err := host.RoutingOf(n.Network)
	if err != nil {
		return err
	}
	return n.w.run(kind, name, func() error { return do(r) })
}

func (n network) Addresses(ctx context.Context, link string) ([]string, error) {
	v, err := n.view()
	if err != nil {
		return nil, err
	}
	return v.Addresses(ctx, link)
}

func (n network) Routes(ctx context.Context, table int) ([]host.Route, error) {
	v, err := n.view()
	if err != nil {
		return nil, err
	}
	return v.Routes(ctx, table)
}

func (n network) PolicyRules(ctx context.Context) ([]host.PolicyRule, error) {
	v, err := n.view()
	if err != nil {
		return nil, err
	}
	return v.PolicyRules(ctx)
}

func (n network) AddLink(ctx context.Context, l host.LinkState) error {
	return n.edit("add link", l.Name, func(r host.Routing) error { return r.AddLink(ctx, l) })
}

func (n network) AddAddress(ctx context.Context, link, address string) error {
	return n.edit("add address", link+" "+address, func(r host.Routing) error { return r.AddAddress(ctx, link, address) })
}

func (n network) RemoveAddress(ctx context.Context, link, address string) error {
	return n.edit("remove address", link+" "+address, func(r host.Routing) error { return r.RemoveAddress(ctx, link, address) })
}

func (n network) AddRoute(ctx context.Context, route host.Route) error {
	return n.edit("add route", routeName(route), func(r host.Routing) error { return r.AddRoute(ctx, route) })
}

func (n network) RemoveRoute(ctx context.Context, route host.Route) error {
	return n.edit("remove route", routeName(route), func(r host.Routing) error { return r.RemoveRoute(ctx, route) })
}

func (n network) AddRule(ctx context.Context, rule host.PolicyRule) error {
	return n.edit("add rule", ruleName(rule), func(r host.Routing) error { return r.AddRule(ctx, rule) })
}

func (n network) RemoveRule(ctx context.Context, rule host.PolicyRule) error {
	return n.edit("remove rule", ruleName(rule), func(r host.Routing) error { return r.RemoveRule(ctx, rule) })
}

func routeName(r host.Route) string { return fmt.Sprintf("%s table %d", r.To, r.Table) }

func ruleName(r host.PolicyRule) string {
	return fmt.Sprintf("%s %d table %d", r.Family, r.Priority, r.Table)
}
