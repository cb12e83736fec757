package functions

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

const aPrefix = "A network prefix such as 10.0.0.0/16 or fd00::/48."

func networkFunctions() map[string]function.Function {
	bits := numeral("newbits", "How many bits longer than the prefix it is.")
	subnets := numeral("newbits", "For each network, how many bits longer than the prefix it is.")
	return map[string]function.Function{
		"cidrhost": network(cidrHost, cty.String, "Returns an address in a network by its number.",
			[]function.Parameter{numeral("hostnum", "The number of the host; negative counts from the end.")}),
		"cidrnetmask": network(cidrNetmask, cty.String, "Returns the netmask of an IPv4 network in dotted form.", nil),
		"cidrsubnet": network(cidrSubnet, cty.String, "Returns a network inside a network by its number.",
			[]function.Parameter{bits, numeral("netnum", "The number of the network.")}),
		"cidrsubnets": function.New(&function.Spec{
			Description: "Returns networks inside a network, one after the other.",
			Params:      []function.Parameter{param("prefix", aPrefix)},
			VarParam:    &subnets,
			Type:        function.StaticReturnType(cty.List(cty.String)),
			Impl:        ofPrefix(cidrSubnets),
		}),
	}
}

// inNetwork computes something from a prefix and all arguments.
type inNetwork func(netip.Prefix, []cty.Value) (cty.Value, error)

func network(f inNetwork, ty cty.Type, doc string, rest []function.Parameter) function.Function {
	return function.New(&function.Spec{
		Description: doc,
		Params:      append([]function.Parameter{param("prefix", aPrefix)}, rest...),
		Type:        function.StaticReturnType(ty),
		Impl:        ofPrefix(f),
	})
}

// ofPrefix reads the first argument as a prefix.
func ofPrefix(f inNetwork) function.ImplFunc {
	return func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		prefix, err := netip.ParsePrefix(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "%q is no network prefix such as 10.0.0.0/16", args[0].AsString())
		}
		return f(prefix.Masked(), args)
	}
}

func cidrHost(prefix netip.Prefix, args []cty.Value) (cty.Value, error) {
	num, err := whole(args, 1)
	if err != nil {
		return cty.NilVal, err
	}
	size := new(big.Int).Lsh(big.NewInt(1), uint(prefix.Addr().BitLen()-prefix.Bits()))
	if num.Sign() < 0 {
		num = new(big.Int).Add(size, num)
	}
	if num.Sign() < 0 || num.Cmp(size) >= 0 {
		return cty.NilVal, function.NewArgErrorf(1, "the network %s has only %s addresses", prefix, size)
	}
	return cty.StringVal(offset(prefix.Addr(), num).String()), nil
}

func cidrNetmask(prefix netip.Prefix, _ []cty.Value) (cty.Value, error) {
	if !prefix.Addr().Is4() {
		return cty.NilVal, function.NewArgErrorf(0, "only IPv4 networks have netmasks")
	}
	mask := uint32(0)
	if prefix.Bits() > 0 {
		mask = ^uint32(0) << (32 - prefix.Bits())
	}
	return cty.StringVal(fmt.Sprintf("%d.%d.%d.%d", byte(mask>>24), byte(mask>>16), byte(mask>>8), byte(mask))), nil
}

func cidrSubnet(prefix netip.Prefix, args []cty.Value) (cty.Value, error) {
	bits, err := longer(prefix, args, 1)
	if err != nil {
		return cty.NilVal, err
	}
	num, err := whole(args, 2)
	if err != nil {
		return cty.NilVal, err
	}
	if num.Sign() < 0 || num.BitLen() > bits-prefix.Bits() {
		return cty.NilVal, function.NewArgErrorf(2, "%d more bits number no network %s", bits-prefix.Bits(), num)
	}
	shift := uint(prefix.Addr().BitLen() - bits)
	return cty.StringVal(netip.PrefixFrom(offset(prefix.Addr(), new(big.Int).Lsh(num, shift)), bits).String()), nil
}

func cidrSubnets(prefix netip.Prefix, args []cty.Value) (cty.Value, error) {
	var out []cty.Value
	next := new(big.Int) // offset of the first free address
	size := new(big.Int).Lsh(big.NewInt(1), uint(prefix.Addr().BitLen()-prefix.Bits()))
	for i := 1; i < len(args); i++ {
		bits, err := longer(prefix, args, i)
		if err != nil {
			return cty.NilVal, err
		}
		length := new(big.Int).Lsh(big.NewInt(1), uint(prefix.Addr().BitLen()-bits))
		next = alignUp(next, length)
		at := next
		if next = new(big.Int).Add(next, length); next.Cmp(size) > 0 {
			return cty.NilVal, function.NewArgErrorf(i, "there is no room left in %s for a network of /%d", prefix, bits)
		}
		out = append(out, cty.StringVal(netip.PrefixFrom(offset(prefix.Addr(), at), bits).String()))
	}
	if len(out) == 0 {
		return cty.ListValEmpty(cty.String), nil
	}
	return cty.ListVal(out), nil
}

// alignUp is the next multiple of a power of two.
func alignUp(n, to *big.Int) *big.Int {
	last := new(big.Int).Sub(to, big.NewInt(1))
	return new(big.Int).AndNot(new(big.Int).Add(n, last), last)
}

// longer is the length of a prefix with more bits, by argument i.
func longer(prefix netip.Prefix, args []cty.Value, i int) (int, error) {
	n, err := whole(args, i)
	if err != nil {
		return 0, err
	}
	most := prefix.Addr().BitLen() - prefix.Bits()
	if n.Sign() < 0 || !n.IsInt64() || n.Int64() > int64(most) {
		return 0, function.NewArgErrorf(i, "must be from 0 to %d for %s", most, prefix)
	}
	return prefix.Bits() + int(n.Int64()), nil
}

// whole is argument i as a whole number.
func whole(args []cty.Value, i int) (*big.Int, error) {
	f := args[i].AsBigFloat()
	if !f.IsInt() || f.MantExp(nil) > 256 {
		return nil, function.NewArgError(i, errors.New("must be a whole number, and no larger than an address"))
	}
	n, _ := f.Int(nil)
	return n, nil
}

// offset is the address n after another; it must exist.
func offset(addr netip.Addr, n *big.Int) netip.Addr {
	sum := new(big.Int).Add(new(big.Int).SetBytes(addr.AsSlice()), n)
	out, _ := netip.AddrFromSlice(sum.FillBytes(make([]byte, addr.BitLen()/8)))
	return out
}
