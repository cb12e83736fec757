package iprule

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

func table(doc string) block.Attr { return number("table", 1, 1<<32-1, doc).Must() }

func number(name string, min, max int64, doc string) block.Attr {
	a := block.Count(name, min).Names().Says(doc)
	check := a.Check
	a.Check = func(v cty.Value) error {
		err := check(v)
		if n, _ := v.AsBigFloat().Int64(); err == nil && n > max {
			return block.Advicef("%d is too large; %d is the most.", n, max)
		}
		return err
	}
	return a
}

func family() block.Attr {
	return block.Choice("family", "", "ipv4", "ipv6").Names().Says("The address family. That of `from` or `to`, else both, when left out.")
}

func prefix(name, doc string) block.Attr {
	a := block.Text(name).Names().Says(doc + " An address or a network, `\"10.0.0.0/8\"`.")
	a.Grammar = "network"
	a.Check = func(v cty.Value) error {
		if _, err := parsePrefix(v.AsString()); err != nil {
			return err
		}
		return nil
	}
	return a
}

// parsePrefix is a network with its length, from an address too.
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

func mark() block.Attr {
	a := block.Text("mark").Names().Says("The packets' mark, with a mask behind a slash: `\"0x100/0xff00\"`.")
	a.Grammar = "mark"
	a.Check = func(v cty.Value) error {
		_, _, err := parseMark(v.AsString())
		return err
	}
	return a
}

func parseMark(s string) (mark, mask uint32, err error) {
	text, bits, given := strings.Cut(s, "/")
	if !given {
		bits = "0xffffffff"
	}
	m, err1 := strconv.ParseUint(text, 0, 32)
	k, err2 := strconv.ParseUint(bits, 0, 32)
	if err1 != nil || err2 != nil || k == 0 || m&^k != 0 {
		return 0, 0, block.Advicef("%q is no mark; write one such as \"0x100\" or \"0x100/0xff00\", with no bit outside of the mask.", s)
	}
	return uint32(m), uint32(k), nil
}

type arguments struct {
	Table    int     `cty:"table"`
	State    string  `cty:"state"`
	Family   *string `cty:"family"`
	Priority *int    `cty:"priority"`
	From     *string `cty:"from"`
	To       *string `cty:"to"`
	Mark     *string `cty:"mark"`
	In       *string `cty:"in"`
}
