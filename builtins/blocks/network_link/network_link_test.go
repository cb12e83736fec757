package networklink_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	networklink "hostler/builtins/blocks/network_link"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

func on(n memory.Network, offline bool) func(*testing.T) host.Host {
	return func(*testing.T) host.Host { return memory.New(memory.Options{Network: n, Offline: offline}).Host() }
}

const body = `
	name      = "localdns"
	addresses = ["169.254.10.11/32", "169.254.10.10/32"]
`

func dummy(addresses ...string) memory.Network {
	return memory.Network{Links: []host.LinkState{{Name: "localdns", Kind: "dummy", Up: true}, {Name: "eth0"}}, Addresses: map[string][]string{"localdns": addresses}}
}

func TestContract(t *testing.T) {
	for name, c := range map[string]blocktest.Case{
		"new":             {Host: on(memory.Network{}, false)},
		"other addresses": {Host: on(dummy("10.0.0.1/8", "169.254.10.10/32"), false)},
		"down":            {Host: on(memory.Network{Links: []host.LinkState{{Name: "localdns", Kind: "dummy"}}}, false)},
		"right already":   {Host: on(dummy("169.254.10.10/32", "169.254.10.11/32"), false), Quiet: true},
		"offline":         {Host: on(memory.Network{}, true), Quiet: true},
		"absent":          {Body: "name = \"localdns\"\nstate = \"absent\"", Host: on(dummy("10.0.0.1/8"), false)},
		"absent already":  {Body: "name = \"localdns\"\nstate = \"absent\"", Host: on(memory.Network{}, false), Quiet: true},
	} {
		c.Type = networklink.Type()
		if c.Body == "" {
			c.Body = body
		}
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

func TestMade(t *testing.T) {
	s := blocktest.NewStage(on(memory.Network{}, false)(t))
	s.MustApply(t, blocktest.Step(t, networklink.Type(), body))
	links, err := s.Host.Network.Links(context.Background())
	if err != nil || !slices.Equal(links, []host.LinkState{{Name: "localdns", Kind: "dummy", Up: true}}) {
		t.Errorf("%+v (%v)", links, err)
	}
	state, err := thing.NetLink{Name: "localdns", Kind: "dummy"}.Look(context.Background(), s.Host.View())
	if err != nil || state.Value != "dummy 169.254.10.10/32 169.254.10.11/32" {
		t.Errorf("%+v (%v)", state, err)
	}
}

// A link that is down carries nothing, whatever its addresses: one that a crash
// or an operator left so is set up.
func TestALinkThatIsDownIsSetUp(t *testing.T) {
	down := dummy("169.254.10.10/32", "169.254.10.11/32")
	down.Links[0].Up = false
	s := blocktest.NewStage(on(down, false)(t))
	step := blocktest.Step(t, networklink.Type(), body)
	if change := s.MustCheck(t, step); change.Action != block.ActionUpdate || change.Reason != "it is down" {
		t.Errorf("%+v", change)
	}
	s.MustApply(t, step)
	s.MustHold(t, step)
	links, err := s.Host.Network.Links(context.Background())
	if err != nil || !slices.Contains(links, host.LinkState{Name: "localdns", Kind: "dummy", Up: true}) {
		t.Errorf("%+v (%v)", links, err)
	}
	gone := blocktest.Step(t, networklink.Type(), "name = \"other\"\nstate = \"absent\"")
	s.MustHold(t, gone)
}

// H31: a link of another kind is an error and stays, on apply and on reset.
func TestH31ALinkOfAnotherKindStays(t *testing.T) {
	wireguard := memory.Network{Links: []host.LinkState{{Name: "localdns", Kind: "wireguard"}}}
	for _, b := range []string{body, "name = \"localdns\"\nstate = \"absent\""} {
		s := blocktest.NewStage(on(wireguard, false)(t))
		step := blocktest.Step(t, networklink.Type(), b)
		_, checked := s.Check(step)
		for _, err := range []error{checked, s.Apply(step), step.Reset(context.Background(), s.Do(), nil, thing.Origin{Kind: thing.OriginAbsent})} {
			if err == nil || !strings.Contains(err.Error(), "not ours") {
				t.Error(err)
			}
		}
		if links, err := s.Host.Network.Links(context.Background()); err != nil || len(links) != 1 {
			t.Errorf("%+v (%v)", links, err)
		}
	}
}

func TestOfflineIsDeferred(t *testing.T) {
	s := blocktest.NewStage(on(memory.Network{}, true)(t))
	change := s.MustCheck(t, blocktest.Step(t, networklink.Type(), body))
	if change.Action != block.ActionNone || len(change.Deferred) != 1 {
		t.Errorf("%+v", change)
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		`name = "a-name-that-is-too-long"`:                               "at most 15",
		`name = "a/b"`:                                                   "no name for a link",
		`name = "lo"`:                                                    "no name for a link",
		"name = \"a\"\nkind = \"wireguard\"":                             "none of the values",
		"name = \"a\"\naddresses = [\"10.0.0.1\"]":                       "no address with a prefix length",
		"name = \"a\"\naddresses = [\"fe80::1/64\"]":                     "no address with a prefix length",
		"name = \"a\"\naddresses = [\"10.0.0.1/8\"]\nstate = \"absent\"": "leave them out",
	} {
		if got := blocktest.Faults(networklink.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
