package iproute

import (
	"net/netip"

	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

func schema() block.Schema {
	to := block.Text("to").Names().Says("Where it leads: an address or a network, `\"0.0.0.0/0\"` or `\"::/0\"` for the default route.")
	to.Grammar, to.Check = "network", func(v cty.Value) error { _, err := parsePrefix(v.AsString()); return err }
	via := block.Text("via").Says("The gateway's address.")
	via.Grammar, via.Check = "address", func(v cty.Value) error {
		if addr, err := netip.ParseAddr(v.AsString()); err != nil || addr.Zone() != "" {
			return block.Advicef("%q is no address.", v.AsString())
		}
		return nil
	}
	return block.Schema{Attrs: []block.Attr{
		table(), to, via,
		block.Text("link").Says("The link it leads over. Left out, the kernel finds it by `via`."),
		metric(),
		block.Choice("type", "unicast", "unicast", "blackhole", "unreachable", "prohibit").Says("What happens to packets: all but `\"unicast\"` drop them, with or without an answer."),
		block.Choice("family", "", "ipv4", "ipv6").Names().Says("With `state = \"absent\"`: the address family; both when left out."),
		block.Choice("state", "present", "present", "absent").Says("`\"absent\"` removes every route of the table; then only `table` and `family` are given."),
	}}
}

func table() block.Attr {
	a := block.Count("table", 1).Must().Names().Says("The routing table, by its number; 254 is the main table.")
	check := a.Check
	a.Check = func(v cty.Value) error {
		if n, _ := v.AsBigFloat().Int64(); n > 1<<32-1 {
			return block.Advicef("%d is no routing table.", n)
		}
		return check(v)
	}
	return a
}

func metric() block.Attr {
	a := block.Count("metric", 0).Names().Says("Its metric: of several routes to one destination the lowest is taken.")
	check := a.Check
	a.Check = func(v cty.Value) error {
		if n, _ := v.AsBigFloat().Int64(); n > 1<<31-1 {
			return block.Advicef("%d is too large for a metric.", n)
		}
		return check(v)
	}
	return a
}

func parsePrefix(s string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(s); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return p, block.Advicef("%q is no address and no network; write one such as \"10.0.0.0/8\".", s)
	case p != p.Masked():
		return p, block.Advicef("%q has bits beyond its length; write %q.", s, p.Masked())
	}
	return p, nil
}

type arguments struct {
	Table  int     `cty:"table"`
	To     *string `cty:"to"`
	Via    *string `cty:"via"`
	Link   *string `cty:"link"`
	Metric *int    `cty:"metric"`
	Type   string  `cty:"type"`
	Family *string `cty:"family"`
	State  string  `cty:"state"`
}
