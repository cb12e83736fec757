package linux

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// network is the network of a network namespace.
type network struct {
	// proc is the directory in /proc of a process in the namespace.
	proc string
	// enter runs a call in the namespace; nil when it is this process's own.
	enter     func(do func() error) error
	transport http.RoundTripper
}

var _ host.Network = network{}

// Transport carries HTTP requests.
func (n network) Transport() http.RoundTripper { return n.transport }

// talk runs do with a netlink socket in the namespace. A listing that changed
// while it was read is read again.
func (n network) talk(ctx context.Context, do func(h *netlink.Handle) error) error {
	const tries = 5
	run := n.enter
	if run == nil {
		run = func(do func() error) error { return do() }
	}
	return run(func() error {
		h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return fmt.Errorf("netlink: %w", err)
		}
		defer h.Close()
		for i := 0; ; i++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(h); !errors.Is(err, netlink.ErrDumpInterrupted) || i == tries {
				return err
			}
		}
	})
}

// Links lists network links.
func (n network) Links(ctx context.Context) (links []host.LinkState, err error) {
	err = n.talk(ctx, func(h *netlink.Handle) error {
		all, err := h.LinkList()
		links = make([]host.LinkState, len(all))
		for i, l := range all {
			links[i] = linkState(l)
		}
		return wrap("listing the network links", err)
	})
	return links, err
}

func linkState(l netlink.Link) host.LinkState {
	kind := l.Type()
	if kind == "device" { // the library's word for a link without a kind
		kind = ""
	}
	return host.LinkState{Name: l.Attrs().Name, Kind: kind, Up: l.Attrs().RawFlags&unix.IFF_UP != 0}
}

// Rules lists policy rules.
func (n network) Rules(ctx context.Context) (rules []host.RuleState, err error) {
	err = n.talk(ctx, func(h *netlink.Handle) error {
		rules = nil
		return eachFamily(func(family host.Family, number int) error {
			all, err := h.RuleList(number)
			for _, r := range all {
				rules = append(rules, host.RuleState{Family: family, Priority: r.Priority, Table: r.Table})
			}
			return wrap("listing the policy rules", err)
		})
	})
	return rules, err
}

// RouteTables lists the tables that hold a route.
func (n network) RouteTables(ctx context.Context) (tables []host.TableState, err error) {
	err = n.talk(ctx, func(h *netlink.Handle) error {
		tables = nil
		seen := map[host.TableState]bool{}
		return eachFamily(func(family host.Family, number int) error {
			all, err := routes(h, number, unix.RT_TABLE_UNSPEC)
			for _, r := range all {
				t := host.TableState{Family: family, Table: r.Table}
				if r.Table > 0 && !seen[t] {
					seen[t] = true
					tables = append(tables, t)
				}
			}
			return wrap("listing the routes", err)
		})
	})
	return tables, err
}

// routes lists those of a table, or of all tables.
func routes(h *netlink.Handle, family, table int) ([]netlink.Route, error) {
	return h.RouteListFiltered(family, &netlink.Route{Table: table}, netlink.RT_FILTER_TABLE)
}

// eachFamily goes through both families. A kernel without IPv6 has nothing of
// it.
func eachFamily(do func(family host.Family, number int) error) error {
	if err := do(host.IPv4, unix.AF_INET); err != nil {
		return err
	}
	if err := do(host.IPv6, unix.AF_INET6); !errors.Is(err, unix.EAFNOSUPPORT) && !errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	return nil
}

func wrap(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
