package shadow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/host/offline"
	"hostler/interpreter/host/shadow"
)

func routed() host.Host {
	return memory.New(memory.Options{Network: memory.Network{
		Links:       []host.LinkState{{Name: "eth0", Up: true}, {Name: "old", Kind: "dummy", Up: true}, {Name: "low", Kind: "dummy"}},
		Addresses:   map[string][]string{"eth0": {"192.0.2.5/24"}, "old": {"10.0.0.1/8"}, "low": {"10.3.0.1/8"}},
		Routes:      []host.Route{{Family: host.IPv4, Table: 7, To: "10.0.0.0/8", Link: "old"}, {Family: host.IPv6, Table: 7, To: "::/0", Link: "eth0"}},
		Rules:       []host.RuleState{{Family: host.IPv4, Priority: 9, Table: 7}},
		PolicyRules: []host.PolicyRule{{Family: host.IPv4, Priority: 5, Table: 7, From: "10.0.0.0/8"}},
	}}).Host()
}

// seen describes a network.
func seen(t *testing.T, n host.NetworkView) string {
	t.Helper()
	ctx := context.Background()
	r, err := host.RoutingViewOf(n)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	add := func(list any, err error) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Fields(fmt.Sprintf("%+v", list))...)
	}
	links, err := n.Links(ctx)
	add(links, err)
	for _, name := range []string{"eth0", "old", "new", "none"} {
		list, err := r.Addresses(ctx, name)
		lines = append(lines, name)
		add(list, err)
	}
	for _, table := range []int{7, 8} {
		list, err := r.Routes(ctx, table)
		add(list, err)
	}
	rules, err := r.PolicyRules(ctx)
	add(rules, err)
	bare, err := n.Rules(ctx)
	add(bare, err)
	tables, err := n.RouteTables(ctx)
	add(tables, err)
	slices.Sort(lines)
	return strings.Join(lines, " ")
}

// A shadow answers after every change as the host does, and leaves the host as
// it was.
func TestRoutingIsThatOfTheHost(t *testing.T) {
	ctx := context.Background()
	base, real := routed(), fault.Wrap(routed(), fault.Count())
	over := shadow.Over(base.View()).Host()
	before := seen(t, base.Network)
	rule := host.PolicyRule{Family: host.IPv6, Priority: 3, Table: 8, Mark: 1, Mask: 1}
	route := host.Route{Family: host.IPv4, Table: 8, To: "10.1.0.0/16", Link: "new"}
	for i, change := range []func(host.Network, host.Routing) error{
		func(_ host.Network, r host.Routing) error {
			return r.AddLink(ctx, host.LinkState{Name: "new", Kind: "dummy"})
		},
		func(_ host.Network, r host.Routing) error {
			return r.AddLink(ctx, host.LinkState{Name: "old", Kind: "dummy"})
		},
		func(_ host.Network, r host.Routing) error {
			return r.AddLink(ctx, host.LinkState{Name: "low", Kind: "bridge"})
		},
		func(_ host.Network, r host.Routing) error {
			return r.AddLink(ctx, host.LinkState{Name: "low", Kind: "dummy"})
		},
		func(_ host.Network, r host.Routing) error { return r.AddAddress(ctx, "new", "10.9.0.1/32") },
		func(_ host.Network, r host.Routing) error { return r.AddAddress(ctx, "new", "10.9.0.1/32") },
		func(_ host.Network, r host.Routing) error { return r.AddAddress(ctx, "none", "10.9.0.1/32") },
		func(_ host.Network, r host.Routing) error { return r.RemoveAddress(ctx, "eth0", "192.0.2.5/24") },
		func(_ host.Network, r host.Routing) error { return r.AddRoute(ctx, route) },
		func(_ host.Network, r host.Routing) error {
			return r.AddRoute(ctx, host.Route{To: "10.2.0.0/16", Table: 8, Link: "none"})
		},
		func(_ host.Network, r host.Routing) error { return r.AddRule(ctx, rule) },
		func(_ host.Network, r host.Routing) error { return r.AddRule(ctx, rule) },
		func(n host.Network, _ host.Routing) error { return n.DeleteLink(ctx, "old") },
		func(_ host.Network, r host.Routing) error {
			return r.RemoveRoute(ctx, host.Route{Family: host.IPv6, Table: 7, To: "::/0"})
		},
		func(_ host.Network, r host.Routing) error {
			return r.RemoveRule(ctx, host.PolicyRule{Family: host.IPv4, Priority: 5, Table: 7, From: "10.0.0.0/8"})
		},
		func(n host.Network, _ host.Routing) error {
			return n.DeleteRule(ctx, host.RuleState{Family: host.IPv6, Priority: 3, Table: 8})
		},
		func(n host.Network, _ host.Routing) error {
			return n.FlushTable(ctx, host.TableState{Family: host.IPv4, Table: 8})
		},
		func(_ host.Network, r host.Routing) error { return r.AddRule(ctx, rule) },
		func(_ host.Network, r host.Routing) error { return r.RemoveRule(ctx, rule) },
		func(n host.Network, _ host.Routing) error { return n.DeleteLink(ctx, "new") },
	} {
		var failed [2]error
		for j, h := range []host.Host{real, over} {
			r, err := host.RoutingOf(h.Network)
			if err != nil {
				t.Fatal(err)
			}
			failed[j] = change(h.Network, r)
		}
		if (failed[0] == nil) != (failed[1] == nil) {
			t.Errorf("change %d: the host says %v, the shadow %v", i, failed[0], failed[1])
		}
		if want, got := seen(t, real.Network), seen(t, over.Network); want != got {
			t.Errorf("after change %d the host has\n%s\nand the shadow\n%s", i, want, got)
		}
	}
	if after := seen(t, base.Network); after != before {
		t.Errorf("the host below was changed:\n%s\n%s", before, after)
	}
}

func TestRoutingOfAHostAtRestIsUnknown(t *testing.T) {
	ctx := context.Background()
	for _, n := range []host.Network{offline.Network{}, fault.Wrap(host.Host{Network: offline.Network{}}, fault.Count()).Network} {
		r, err := host.RoutingOf(n)
		if err != nil {
			t.Fatal(err)
		}
		_, addresses := r.Addresses(ctx, "a")
		_, routes := r.Routes(ctx, 1)
		_, rules := r.PolicyRules(ctx)
		for _, err := range []error{addresses, routes, rules, r.AddLink(ctx, host.LinkState{}), r.AddAddress(ctx, "a", "b"), r.RemoveAddress(ctx, "a", "b"),
			r.AddRoute(ctx, host.Route{}), r.RemoveRoute(ctx, host.Route{}), r.AddRule(ctx, host.PolicyRule{}), r.RemoveRule(ctx, host.PolicyRule{})} {
			if !errors.Is(err, host.ErrUnknown) {
				t.Error(err)
			}
		}
	}
	bare := struct{ host.Network }{}
	if _, err := host.RoutingOf(bare); !errors.Is(err, host.ErrUnknown) {
		t.Error(err)
	}
	if _, err := host.RoutingViewOf(bare); !errors.Is(err, host.ErrUnknown) {
		t.Error(err)
	}
}

func TestFamilyOf(t *testing.T) {
	for in, want := range map[string]host.Family{"10.0.0.1": host.IPv4, "10.0.0.0/8": host.IPv4, "fd00::1": host.IPv6, "::/0": host.IPv6, "x": ""} {
		if got, err := host.FamilyOf(in); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
}
