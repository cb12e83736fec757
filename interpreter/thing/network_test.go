package thing_test

import (
	"context"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

// Things of the running host answer "unknown" on one that does not run, and
// leave it alone.
func TestLiveThingsOnAHostAtRest(t *testing.T) {
	ctx := context.Background()
	h := memory.New(memory.Options{Offline: true}).Host()
	rule := host.PolicyRule{Family: host.IPv4, Priority: 1, Table: 2, From: "10.0.0.0/8", To: "10.1.0.0/16", In: "eth0", Mark: 1, Mask: 3}
	route := host.Route{Family: host.IPv4, Table: 2, To: "10.0.0.0/8", Metric: 5}
	for _, th := range []thing.Thing{
		thing.Sysctl("vm.swappiness"), thing.Module("overlay"), thing.Swap{}, thing.NetLink{Name: "a", Kind: "dummy"},
		thing.RuleSet{Rule: &rule}, thing.RouteSet{Route: &route}, thing.RuleSet{Table: 2, Families: []host.Family{host.IPv4}},
		thing.RouteSet{Table: 2, Families: []host.Family{host.IPv4}},
	} {
		if _, err := th.Look(ctx, h.View()); host.Cause(err) == "" {
			t.Errorf("%s: %v", th.Key(), err)
		}
		for _, o := range []thing.Origin{{}, {Kind: thing.OriginAbsent}, {Kind: thing.OriginAdopted}, {Kind: thing.OriginSaved, State: &thing.State{Value: "x"}}} {
			if err := th.PutBack(ctx, h, o, nil); err != nil {
				t.Errorf("%s: %v", th.Key(), err)
			}
		}
	}
}

func TestKeysOfTheNetwork(t *testing.T) {
	rule := host.PolicyRule{Family: host.IPv4, Priority: 1, Table: 2, From: "10.0.0.0/8", To: "10.1.0.0/16", In: "eth0", Mark: 1, Mask: 3}
	route := host.Route{Family: host.IPv6, Table: 2, To: "::/0", Metric: 5}
	both := []host.Family{host.IPv4, host.IPv6}
	for want, th := range map[thing.Key]thing.Thing{
		"ip-rule:ipv4 priority 1 from 10.0.0.0/8 to 10.1.0.0/16 in eth0 mark 0x1/0x3 table 2": thing.RuleSet{Rule: &rule},
		"ip-rules:2":                     thing.RuleSet{Table: 2, Families: both},
		"ip-rules:ipv6/2":                thing.RuleSet{Table: 2, Families: both[1:]},
		"ip-route:::/0 metric 5 table 2": thing.RouteSet{Route: &route},
		"ip-routes:2":                    thing.RouteSet{Table: 2, Families: both},
		"ip-routes:ipv4/2":               thing.RouteSet{Table: 2, Families: both[:1]},
		"link:a":                         thing.NetLink{Name: "a"},
	} {
		if th.Key() != want {
			t.Errorf("%q, want %q", th.Key(), want)
		}
	}
}

// A former link that cannot be made again is an error: it is not back.
func TestALinkThatCannotBeMadeAgain(t *testing.T) {
	h := memory.New(memory.Options{}).Host()
	o := thing.Origin{Kind: thing.OriginSaved, State: &thing.State{Kind: thing.Present, Value: "wireguard"}}
	if err := (thing.NetLink{Name: "a", Kind: "dummy"}).PutBack(context.Background(), h, o, nil); err == nil {
		t.Error("it is said to be back")
	}
	o.State.Value = "{"
	if err := (thing.RouteSet{Table: 2}).PutBack(context.Background(), h, o, nil); err == nil {
		t.Error("a damaged record is taken")
	}
}
