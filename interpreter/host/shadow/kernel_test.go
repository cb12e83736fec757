package shadow_test

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/shadow"
)

func TestKernelParameters(t *testing.T) {
	h, _ := over(t, &still{
		sysctls: map[string]string{"vm.panic_on_oom": "1", "net/ipv4/conf/eth0.1/rp_filter": "2"},
		modules: map[string]bool{"br_netfilter": false, "overlay": true},
	}, nil)
	k, ctx := h.Kernel, t.Context()
	must(t, k.SetSysctl(ctx, "vm.panic_on_oom", "0\n"))
	must(t, k.SetSysctl(ctx, "net/ipv4/conf/eth0.1/rp_filter", "0"))
	for _, key := range []string{"vm.panic_on_oom", "vm/panic_on_oom", "net.ipv4.conf.eth0/1.rp_filter"} {
		if got, err := k.Sysctl(ctx, key); err != nil || got != "0" {
			t.Errorf("%s is %q, %v", key, got, err)
		}
	}
	const bridge = "net.bridge.bridge-nf-call-iptables"
	is(t, k.SetSysctl(ctx, bridge, "1"), fs.ErrNotExist)
	must(t, k.LoadModule(ctx, "overlay"))
	is(t, k.SetSysctl(ctx, bridge, "1"), fs.ErrNotExist)
	must(t, k.LoadModule(ctx, "br_netfilter"))
	_, err := k.Sysctl(ctx, bridge)
	unknown(t, err, "module br_netfilter, which may bring the kernel parameter "+bridge+", is not loaded yet")
	must(t, k.SetSysctl(ctx, bridge, "1"))
	if got, err := k.Sysctl(ctx, bridge); err != nil || got != "1" {
		t.Errorf("%s is %q, %v", bridge, got, err)
	}
}

func TestModulesAndSwaps(t *testing.T) {
	h, s := over(t, &still{modules: map[string]bool{"br_netfilter": false}, swaps: []string{"/dev/sda2", "/swap"}}, nil)
	k, ctx := h.Kernel, t.Context()
	is(t, k.LoadModule(ctx, "none"), fs.ErrNotExist)
	must(t, k.LoadModule(ctx, "br_netfilter"))
	for name, want := range map[string]bool{"br_netfilter": true, "br-netfilter": true, "other": false} {
		if got, err := k.ModuleLoaded(ctx, name); err != nil || got != want {
			t.Errorf("%s loaded: %v, %v", name, got, err)
		}
	}
	must(t, k.SwapOff(ctx, "/swap"))
	is(t, k.SwapOff(ctx, "/swap"), syscall.EINVAL)
	must(t, k.SwapOn(ctx, host.SwapArea{Name: "/new", Priority: 7}))
	is(t, k.SwapOn(ctx, host.SwapArea{Name: "/new", Priority: 7}), syscall.EBUSY)
	if got, err := k.Swaps(ctx); err != nil || !slices.Equal(got, []host.SwapArea{{Name: "/dev/sda2"}, {Name: "/new", Priority: 7}}) {
		t.Errorf("swaps are %v, %v", got, err)
	}
	if r, err := k.Release(ctx); err != nil || r != "6.1.0" {
		t.Errorf("release %q, %v", r, err)
	}
	if c, err := k.CgroupVersion(ctx); err != nil || c != 2 {
		t.Errorf("cgroup version %d, %v", c, err)
	}
	want := []shadow.Effect{
		{Kind: "load-module", Name: "br_netfilter"}, {Kind: "swap-off", Name: "/swap"}, {Kind: "swap-on", Name: "/new"},
	}
	if got := s.Effects(); !slices.Equal(got, want) {
		t.Errorf("effects are %v", got)
	}
}

func TestNetworkEdits(t *testing.T) {
	rule := host.RuleState{Family: host.IPv4, Priority: 1, Table: 51820}
	table := host.TableState{Family: host.IPv6, Table: 51820}
	h, _ := over(t, &still{
		links: []host.LinkState{{Name: "wg51820"}, {Name: "eth0"}}, rules: []host.RuleState{rule, {Table: 254}},
		tables: []host.TableState{table, {Family: host.IPv4, Table: 254}},
	}, nil)
	n, ctx := h.Network, t.Context()
	for range 2 {
		must(t, n.DeleteLink(ctx, "wg51820"))
		must(t, n.DeleteRule(ctx, rule))
		must(t, n.FlushTable(ctx, table))
	}
	links, err := n.Links(ctx)
	must(t, err)
	rules, err := n.Rules(ctx)
	must(t, err)
	tables, err := n.RouteTables(ctx)
	must(t, err)
	if len(links) != 1 || links[0].Name != "eth0" || len(rules) != 1 || rules[0].Table != 254 || len(tables) != 1 || tables[0].Table != 254 {
		t.Errorf("left are %v %v %v", links, rules, tables)
	}
	if l, err := n.Listeners(ctx); err != nil || len(l) != 1 {
		t.Errorf("listeners are %v, %v", l, err)
	}
}

// refused is the transport of a host at rest.
type refused struct{}

func (refused) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, host.Unknownf("the host is not running")
}

// echo answers with the method.
type echo struct{ asked int }

func (e *echo) RoundTrip(r *http.Request) (*http.Response, error) {
	e.asked++
	return &http.Response{StatusCode: 200, Status: r.Method, Body: http.NoBody}, nil
}

// closing tells whether a body was closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

func TestTransportOnlyReads(t *testing.T) {
	e := &echo{}
	h, _ := over(t, &still{transport: e}, nil)
	for _, method := range []string{"", "GET", "HEAD"} {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1/", nil)
		must(t, err)
		resp, err := h.Network.Transport().RoundTrip(r)
		must(t, err)
		must(t, resp.Body.Close())
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "CONNECT", "get"} {
		body := &closing{Reader: strings.NewReader("x")}
		r, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1/", body)
		must(t, err)
		resp, err := h.Network.Transport().RoundTrip(r)
		if err == nil {
			must(t, resp.Body.Close())
		}
		unknown(t, err, "the answer to a "+method+" request is not foreseeable: a plan only reads")
		if !body.closed {
			t.Errorf("%s: the body was not closed", method)
		}
	}
	if e.asked != 3 {
		t.Errorf("%d requests reached the base", e.asked)
	}
}

func TestCommandsAreNotRun(t *testing.T) {
	h, s := over(t, &still{}, nil)
	_, err := h.Commands.Run(t.Context(), host.Command{Argv: []string{"/usr/sbin/nft", "-f", "secret"}})
	unknown(t, err, "the effect of running nft is not foreseeable")
	if _, err := h.Commands.Run(t.Context(), host.Command{}); err == nil {
		t.Error("nothing can be run")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, err = h.Commands.Run(ended, host.Command{Argv: []string{"x"}})
	is(t, err, context.Canceled)
	if got := s.Effects(); len(got) != 1 || got[0] != (shadow.Effect{Kind: "run", Name: "nft"}) {
		t.Errorf("effects are %v", got)
	}
}

func TestLockIsFree(t *testing.T) {
	h, _ := over(t, &still{}, nil)
	for range 2 {
		release, err := h.Locks.Acquire(t.Context(), host.LockExclusive, host.Holder{PID: 1})
		must(t, err)
		t.Cleanup(func() { must(t, release()) })
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := h.Locks.Acquire(ended, host.LockShared, host.Holder{})
	is(t, err, context.Canceled)
}

func TestSleepMovesTheClock(t *testing.T) {
	h, _ := over(t, &still{}, nil)
	began := time.Now()
	must(t, h.Clock.Sleep(t.Context(), time.Hour))
	must(t, h.Clock.Sleep(t.Context(), -time.Hour))
	if time.Since(began) > time.Minute {
		t.Error("it slept")
	}
	if got := h.Clock.Now(); !got.Equal(bootTime.Add(time.Hour)) {
		t.Errorf("it is %v", got)
	}
	if got := h.Clock.Monotonic(); got != 2*time.Hour {
		t.Errorf("up for %v", got)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	is(t, h.Clock.Sleep(ended, time.Hour), context.Canceled)
}
