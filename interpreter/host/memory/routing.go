package memory

import (
	"context"
	"fmt"
	"slices"
	"syscall"

	"hostler/interpreter/host"
)

var _ host.Routing = networkDoor{}

// Addresses lists the addresses of a link.
func (d networkDoor) Addresses(ctx context.Context, link string) (list []string, err error) {
	err = d.live(ctx, func(n *Network) { list = slices.Clone(n.Addresses[link]) })
	return list, err
}

// Routes lists the routes of a table.
func (d networkDoor) Routes(ctx context.Context, table int) (list []host.Route, err error) {
	err = d.live(ctx, func(n *Network) {
		list = slices.DeleteFunc(slices.Clone(n.Routes), func(r host.Route) bool { return r.Table != table })
	})
	return list, err
}

// PolicyRules lists policy rules.
func (d networkDoor) PolicyRules(ctx context.Context) (list []host.PolicyRule, err error) {
	err = d.live(ctx, func(n *Network) {
		for _, r := range n.Rules {
			list = append(list, host.PolicyRule{Family: r.Family, Priority: r.Priority, Table: r.Table})
		}
		list = append(list, n.PolicyRules...)
	})
	return list, err
}

// edit changes the network.
func (d networkDoor) edit(ctx context.Context, change func(*Network) error) error {
	d.m.count("network")
	var failed error
	if err := d.live(ctx, func(n *Network) { failed = change(n) }); err != nil {
		return err
	}
	return failed
}

func (n *Network) hasLink(name string) bool {
	return slices.ContainsFunc(n.Links, func(l host.LinkState) bool { return l.Name == name })
}

// AddLink makes a link, or sets it up.
func (d networkDoor) AddLink(ctx context.Context, l host.LinkState) error {
	return d.edit(ctx, func(n *Network) error {
		if i := slices.IndexFunc(n.Links, func(have host.LinkState) bool { return have.Name == l.Name }); i >= 0 {
			if n.Links[i].Up || n.Links[i].Kind != l.Kind {
				return fmt.Errorf("network link %s: %w", l.Name, syscall.EEXIST)
			}
			n.Links = slices.Clone(n.Links)
			n.Links[i].Up = true
			return nil
		}
		l.Up = true
		n.Links = append(slices.Clone(n.Links), l)
		return nil
	})
}

// AddAddress gives a link an address.
func (d networkDoor) AddAddress(ctx context.Context, link, address string) error {
	return d.edit(ctx, func(n *Network) error {
		if !n.hasLink(link) {
			return fmt.Errorf("network link %s: %w", link, syscall.ENODEV)
		}
		if n.Addresses == nil {
			n.Addresses = map[string][]string{}
		}
		if !slices.Contains(n.Addresses[link], address) {
			n.Addresses[link] = append(slices.Clone(n.Addresses[link]), address)
		}
		return nil
	})
}

// RemoveAddress takes an address away.
func (d networkDoor) RemoveAddress(ctx context.Context, link, address string) error {
	return d.edit(ctx, func(n *Network) error {
		if list, ok := n.Addresses[link]; ok {
			n.Addresses[link] = slices.DeleteFunc(slices.Clone(list), func(a string) bool { return a == address })
		}
		return nil
	})
}

// AddRoute adds a route.
func (d networkDoor) AddRoute(ctx context.Context, r host.Route) error {
	return d.edit(ctx, func(n *Network) error {
		if r.Link != "" && !n.hasLink(r.Link) {
			return fmt.Errorf("route %s: network link %s: %w", r.To, r.Link, syscall.ENODEV)
		}
		n.Routes = append(slices.DeleteFunc(slices.Clone(n.Routes), r.Same), r)
		return nil
	})
}

// RemoveRoute removes a route.
func (d networkDoor) RemoveRoute(ctx context.Context, r host.Route) error {
	return d.edit(ctx, func(n *Network) error {
		n.Routes = slices.DeleteFunc(slices.Clone(n.Routes), r.Same)
		return nil
	})
}

// AddRule adds a policy rule.
func (d networkDoor) AddRule(ctx context.Context, r host.PolicyRule) error {
	return d.edit(ctx, func(n *Network) error {
		if !slices.Contains(n.PolicyRules, r) {
			n.PolicyRules = append(slices.Clone(n.PolicyRules), r)
		}
		return nil
	})
}

// RemoveRule removes a policy rule.
func (d networkDoor) RemoveRule(ctx context.Context, r host.PolicyRule) error {
	return d.edit(ctx, func(n *Network) error {
		n.PolicyRules = slices.DeleteFunc(slices.Clone(n.PolicyRules), func(o host.PolicyRule) bool { return o == r })
		if bare := (host.PolicyRule{Family: r.Family, Priority: r.Priority, Table: r.Table}); bare == r {
			n.Rules = slices.DeleteFunc(slices.Clone(n.Rules), func(o host.RuleState) bool { return o == bareRule(r) })
		}
		return nil
	})
}

func bareRule(r host.PolicyRule) host.RuleState {
	return host.RuleState{Family: r.Family, Priority: r.Priority, Table: r.Table}
}

// rules are all policy rules, by what a RuleState says of them.
func (n *Network) rules() []host.RuleState {
	list := slices.Clone(n.Rules)
	for _, r := range n.PolicyRules {
		list = append(list, bareRule(r))
	}
	return list
}

// tables are all tables that hold a route.
func (n *Network) tables() []host.TableState {
	list := slices.Clone(n.Tables)
	for _, r := range n.Routes {
		if t := (host.TableState{Family: r.Family, Table: r.Table}); !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}
