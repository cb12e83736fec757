//go:build e2e

package linux

import (
	"runtime"
	"slices"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// TestRoutingInANamespace changes links, routes and rules of a network
// namespace of its own, which goes with its thread. It needs root.
func TestRoutingInANamespace(t *testing.T) {
	calls, done := make(chan func()), make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the namespace
		err := unix.Unshare(unix.CLONE_NEWNET)
		done <- err
		for call := range calls {
			call()
		}
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	defer close(calls)
	n := network{enter: func(do func() error) error {
		result := make(chan error)
		calls <- func() { result <- do() }
		return <-result
	}}
	ctx := t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(n.AddLink(ctx, host.LinkState{Name: "br-test", Kind: "bridge"}))
	if err := n.AddLink(ctx, host.LinkState{Name: "br-test", Kind: "bridge"}); err == nil {
		t.Error("a link is made twice")
	}
	up := func() bool {
		t.Helper()
		all, err := n.Links(ctx)
		ok(err)
		return slices.Contains(all, host.LinkState{Name: "br-test", Kind: "bridge", Up: true})
	}
	if !up() {
		t.Error("the link that was made is down")
	}
	ok(n.talk(ctx, func(h *netlink.Handle) error {
		l, err := h.LinkByName("br-test")
		if err == nil {
			err = h.LinkSetDown(l)
		}
		return err
	}))
	if err := n.AddLink(ctx, host.LinkState{Name: "br-test", Kind: "dummy"}); err == nil || up() {
		t.Errorf("a link of another kind is set up: %v", err)
	}
	if ok(n.AddLink(ctx, host.LinkState{Name: "br-test", Kind: "bridge"})); !up() {
		t.Error("the link that is down is not set up")
	}
	for _, a := range []string{"169.254.10.10/32", "fd00::1/64"} {
		ok(n.AddAddress(ctx, "br-test", a))
		ok(n.AddAddress(ctx, "br-test", a))
	}
	list, err := n.Addresses(ctx, "br-test")
	ok(err)
	if slices.Sort(list); !slices.Equal(list, []string{"169.254.10.10/32", "fd00::1/64"}) {
		t.Errorf("addresses %v", list)
	}
	routes := []host.Route{
		{Family: host.IPv4, Table: 51850, To: "10.9.0.0/16", Link: "br-test"},
		{Family: host.IPv4, Table: 51850, To: "0.0.0.0/0", Type: "unreachable", Metric: 7},
		{Family: host.IPv6, Table: 51850, To: "fd01::/32", Via: "fd00::2", Link: "br-test"},
		{Family: host.IPv6, Table: 51850, To: "::/0", Type: "blackhole"},
	}
	for _, r := range routes {
		ok(n.AddRoute(ctx, r))
		ok(n.AddRoute(ctx, r))
	}
	found, err := n.Routes(ctx, 51850)
	ok(err)
	for _, r := range routes {
		if !slices.Contains(found, r) {
			t.Errorf("%+v is not among %+v", r, found)
		}
		ok(n.RemoveRoute(ctx, r))
		ok(n.RemoveRoute(ctx, r))
	}
	if found, err = n.Routes(ctx, 51850); err != nil || len(found) > 0 {
		t.Errorf("left are %+v, %v", found, err)
	}
	rules := []host.PolicyRule{
		{Family: host.IPv4, Priority: 100, Table: 51850, From: "10.9.0.0/16", Mark: 0x100, Mask: 0xff00},
		{Family: host.IPv6, Priority: 101, Table: 51850, To: "fd01::/32", In: "br-test"},
	}
	for _, r := range rules {
		ok(n.AddRule(ctx, r))
		ok(n.AddRule(ctx, r))
	}
	seen, err := n.PolicyRules(ctx)
	ok(err)
	for _, r := range rules {
		if !slices.Contains(seen, r) {
			t.Errorf("%+v is not among %+v", r, seen)
		}
		ok(n.RemoveRule(ctx, r))
		ok(n.RemoveRule(ctx, r))
	}
	if seen, err = n.PolicyRules(ctx); err != nil || slices.ContainsFunc(seen, func(r host.PolicyRule) bool { return r.Table == 51850 }) {
		t.Errorf("left are %+v, %v", seen, err)
	}
	ok(n.RemoveAddress(ctx, "br-test", "fd00::1/64"))
	ok(n.RemoveAddress(ctx, "gone", "fd00::1/64"))
	ok(n.DeleteLink(ctx, "br-test"))
	if list, err = n.Addresses(ctx, "br-test"); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}
