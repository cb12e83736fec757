package linux

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

var _ host.Routing = network{}

// metricIPv6 is the metric that the kernel gives an IPv6 route without one.
const metricIPv6 = 1024

// routeTypes are the types of routes that a host.Route can be.
func routeTypes() map[int]string {
	return map[int]string{
		unix.RTN_UNICAST: "", unix.RTN_BLACKHOLE: "blackhole", unix.RTN_UNREACHABLE: "unreachable", unix.RTN_PROHIBIT: "prohibit",
	}
}

// Addresses lists the addresses of a link, but for link-local IPv6 ones.
func (n network) Addresses(ctx context.Context, link string) (list []string, err error) {
	err = n.talk(ctx, func(h *netlink.Handle) error {
		list = nil
		l, err := h.LinkByName(link)
		if _, missing := errors.AsType[netlink.LinkNotFoundError](err); missing {
			return nil
		}
		if err != nil {
			return wrap("network link "+link, err)
		}
		all, err := h.AddrList(l, netlink.FAMILY_ALL)
		for _, a := range all {
			if !a.IP.IsLinkLocalUnicast() || a.IP.To4() != nil {
				list = append(list, a.IPNet.String())
			}
		}
		return wrap("listing the addresses of "+link, err)
	})
	return list, err
}

// Routes lists the routes of a table that deliver or refuse; those that the
// kernel keeps for its own addresses are left out.
func (n network) Routes(ctx context.Context, table int) (list []host.Route, err error) {
	err = n.talk(ctx, func(h *netlink.Handle) error {
		list = nil
		names, err := linkNames(h)
		if err != nil {
			return err
		}
		return eachFamily(func(family host.Family, number int) error {
			all, err := routes(h, number, table)
			types := routeTypes()
			for _, r := range all {
				kind, known := types[r.Type]
				if r.Table == table && known {
					list = append(list, routeState(family, kind, names, r))
				}
			}
			return wrap(fmt.Sprintf("listing the routes of table %d", table), err)
		})
	})
	return list, err
}

func linkNames(h *netlink.Handle) (map[int]string, error) {
	all, err := h.LinkList()
	names := map[int]string{}
	for _, l := range all {
		names[l.Attrs().Index] = l.Attrs().Name
	}
	return names, wrap("listing the network links", err)
}

func routeState(family host.Family, kind string, names map[int]string, r netlink.Route) host.Route {
	s := host.Route{Family: family, Table: r.Table, To: "0.0.0.0/0", Link: names[r.LinkIndex], Metric: r.Priority, Type: kind}
	if family == host.IPv6 {
		s.To = "::/0"
		if s.Metric == metricIPv6 {
			s.Metric = 0
		}
	}
	if r.Dst != nil {
		s.To = r.Dst.String()
	}
	if r.Gw != nil {
		s.Via = r.Gw.String()
	}
	if kind != "" {
		s.Link = "" // IPv6 shows such routes on the loopback
	}
	return s
}

// PolicyRules lists policy rules.
func (n network) PolicyRules(ctx context.Context) (list []host.PolicyRule, err error) {
	err = n.talk(ctx, func(h *netlink.Handle) error {
		list = nil
		return eachFamily(func(family host.Family, number int) error {
			all, err := h.RuleList(number)
			for _, r := range all {
				list = append(list, ruleState(family, r))
			}
			return wrap("listing the policy rules", err)
		})
	})
	return list, err
}

func ruleState(family host.Family, r netlink.Rule) host.PolicyRule {
	s := host.PolicyRule{Family: family, Priority: max(r.Priority, 0), Table: r.Table, From: prefix(r.Src), To: prefix(r.Dst), Mark: r.Mark, In: r.IifName}
	if r.Mask != nil {
		s.Mask = *r.Mask
	}
	return s
}

func prefix(n *net.IPNet) string {
	if n == nil {
		return ""
	}
	return n.String()
}

// AddLink makes a link that is up, or sets it up.
func (n network) AddLink(ctx context.Context, l host.LinkState) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.Flags = l.Name, net.FlagUp // with the first message: a crash leaves no link that is down
	var link netlink.Link
	switch l.Kind {
	case "dummy":
		link = &netlink.Dummy{LinkAttrs: attrs}
	case "bridge":
		link = &netlink.Bridge{LinkAttrs: attrs}
	default:
		return fmt.Errorf("network link %s: links of kind %q are not made here", l.Name, l.Kind)
	}
	return n.talk(ctx, func(h *netlink.Handle) error {
		err := h.LinkAdd(link)
		if errors.Is(err, unix.EEXIST) {
			there, lerr := h.LinkByName(l.Name)
			if lerr == nil && there.Type() == l.Kind && there.Attrs().RawFlags&unix.IFF_UP == 0 {
				err = h.LinkSetUp(there)
			}
		}
		return wrap("making the network link "+l.Name, err)
	})
}

// onLink runs do with a link and an address.
func (n network) onLink(ctx context.Context, link, address string, do func(*netlink.Handle, netlink.Link, *netlink.Addr) error) error {
	addr, err := netlink.ParseAddr(address)
	if err != nil {
		return fmt.Errorf("%q is no address with a prefix length: %w", address, err)
	}
	return n.talk(ctx, func(h *netlink.Handle) error {
		l, err := h.LinkByName(link)
		if err == nil {
			err = do(h, l, addr)
		}
		return wrap(fmt.Sprintf("address %s of %s", address, link), err)
	})
}

// AddAddress gives a link an address.
func (n network) AddAddress(ctx context.Context, link, address string) error {
	return n.onLink(ctx, link, address, func(h *netlink.Handle, l netlink.Link, a *netlink.Addr) error {
		if a.IP.To4() == nil {
			a.Flags |= unix.IFA_F_NODAD // nobody else is on such a link
		}
		return h.AddrReplace(l, a)
	})
}

// RemoveAddress takes an address away.
func (n network) RemoveAddress(ctx context.Context, link, address string) error {
	err := n.onLink(ctx, link, address, func(h *netlink.Handle, l netlink.Link, a *netlink.Addr) error {
		return unless(h.AddrDel(l, a), unix.EADDRNOTAVAIL)
	})
	if _, missing := errors.AsType[netlink.LinkNotFoundError](err); missing {
		return nil
	}
	return err
}

// AddRoute adds a route; another gateway replaces the former one.
func (n network) AddRoute(ctx context.Context, r host.Route) error {
	there, err := n.Routes(ctx, r.Table)
	if err != nil || slices.Contains(there, r) {
		return err
	}
	if slices.ContainsFunc(there, r.Same) {
		return n.route(ctx, r, (*netlink.Handle).RouteReplace)
	}
	return n.route(ctx, r, (*netlink.Handle).RouteAdd)
}

// RemoveRoute removes a route.
func (n network) RemoveRoute(ctx context.Context, r host.Route) error {
	return n.route(ctx, r, func(h *netlink.Handle, route *netlink.Route) error {
		return unless(h.RouteDel(route), unix.ESRCH, unix.ENODEV, unix.ENOENT)
	})
}

func (n network) route(ctx context.Context, r host.Route, do func(*netlink.Handle, *netlink.Route) error) error {
	_, dst, err := net.ParseCIDR(r.To)
	if err != nil {
		return fmt.Errorf("route %s: %w", r.To, err)
	}
	route := &netlink.Route{Family: familyNumber(r.Family), Table: r.Table, Dst: dst, Priority: r.Metric}
	for number, name := range routeTypes() {
		if name == r.Type {
			route.Type = number
		}
	}
	if r.Via != "" {
		route.Gw = net.ParseIP(r.Via)
	}
	return n.talk(ctx, func(h *netlink.Handle) error {
		if r.Link != "" {
			l, err := h.LinkByName(r.Link)
			if err != nil {
				return wrap("route "+r.To+" over "+r.Link, err)
			}
			route.LinkIndex = l.Attrs().Index
			if r.Via == "" && r.Family == host.IPv4 {
				route.Scope = netlink.SCOPE_LINK
			}
		}
		return wrap(fmt.Sprintf("route %s in table %d", r.To, r.Table), do(h, route))
	})
}

// AddRule adds a policy rule.
func (n network) AddRule(ctx context.Context, r host.PolicyRule) error {
	return n.rule(ctx, r, func(h *netlink.Handle, rule *netlink.Rule) error { return unless(h.RuleAdd(rule), unix.EEXIST) })
}

// RemoveRule removes a policy rule.
func (n network) RemoveRule(ctx context.Context, r host.PolicyRule) error {
	return n.rule(ctx, r, func(h *netlink.Handle, rule *netlink.Rule) error {
		return unless(h.RuleDel(rule), unix.ENOENT, unix.ESRCH)
	})
}

func (n network) rule(ctx context.Context, r host.PolicyRule, do func(*netlink.Handle, *netlink.Rule) error) error {
	rule := netlink.NewRule()
	rule.Family, rule.Priority, rule.Table, rule.Mark, rule.IifName = familyNumber(r.Family), r.Priority, r.Table, r.Mark, r.In
	if r.Mask != 0 {
		rule.Mask = &r.Mask
	}
	for _, side := range []struct {
		text string
		to   **net.IPNet
	}{{r.From, &rule.Src}, {r.To, &rule.Dst}} {
		if side.text == "" {
			continue
		}
		_, parsed, err := net.ParseCIDR(side.text)
		if err != nil {
			return fmt.Errorf("policy rule %d: %w", r.Priority, err)
		}
		*side.to = parsed
	}
	return n.talk(ctx, func(h *netlink.Handle) error {
		return wrap(fmt.Sprintf("the %s rule %d for table %d", r.Family, r.Priority, r.Table), do(h, rule))
	})
}
