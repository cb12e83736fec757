package iproute_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	iproute "hostler/builtins/blocks/ip_route"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func on(offline bool, routes ...host.Route) func(*testing.T) host.Host {
	return func(*testing.T) host.Host {
		return memory.New(memory.Options{Network: memory.Network{
			Routes: routes, Links: []host.LinkState{{Name: "eth0", Up: true}},
		}, Offline: offline}).Host()
	}
}

const body = `
	table = 51850
	to    = "10.9.0.0/16"
	via   = "192.0.2.1"
	link  = "eth0"
`

const absent = `
	table = 51850
	state = "absent"
`

var (
	ours    = host.Route{Family: host.IPv4, Table: 51850, To: "10.9.0.0/16", Via: "192.0.2.1", Link: "eth0"}
	former  = host.Route{Family: host.IPv4, Table: 51850, To: "10.9.0.0/16", Via: "192.0.2.9", Link: "eth0"}
	six     = host.Route{Family: host.IPv6, Table: 51850, To: "fd00::/8", Type: "blackhole"}
	another = host.Route{Family: host.IPv4, Table: 12345, To: "0.0.0.0/0", Link: "eth0"}
)

func TestContract(t *testing.T) {
	for name, c := range map[string]blocktest.Case{
		"new":            {Body: body, Host: on(false)},
		"other gateway":  {Body: body, Host: on(false, former)},
		"right already":  {Body: body, Host: on(false, ours), Quiet: true},
		"offline":        {Body: body, Host: on(true), Quiet: true},
		"no link":        {Body: strings.Replace(body, "link", "#link", 1), Host: on(false)},
		"link found":     {Body: strings.Replace(body, "link", "#link", 1), Host: on(false, ours), Quiet: true},
		"drops":          {Body: "table = 9\nto = \"fd00::1\"\ntype = \"prohibit\"\nmetric = 3", Host: on(false)},
		"absent":         {Body: absent, Host: on(false, ours, six, another)},
		"absent already": {Body: absent, Host: on(false, another), Quiet: true},
		"offline absent": {Body: absent, Host: on(true), Quiet: true},
	} {
		c.Type = iproute.Type()
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

func routes(t *testing.T, h host.Host, table int) []host.Route {
	t.Helper()
	view, err := host.RoutingViewOf(h.Network)
	if err != nil {
		t.Fatal(err)
	}
	all, err := view.Routes(context.Background(), table)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// H30: only the table that is named is emptied, in both families, and reset
// fills it again.
func TestH30OtherTablesStay(t *testing.T) {
	s := blocktest.NewStage(on(false, ours, six, another)(t))
	step := blocktest.Step(t, iproute.Type(), absent)
	s.MustApply(t, step)
	if len(routes(t, s.Host, 51850)) != 0 || !slices.Equal(routes(t, s.Host, 12345), []host.Route{another}) {
		t.Errorf("%+v", routes(t, s.Host, 51850))
	}
	s.MustReset(t, step)
	if got := routes(t, s.Host, 51850); len(got) != 2 || !slices.Contains(got, ours) || !slices.Contains(got, six) {
		t.Errorf("after reset %+v", got)
	}
}

func TestOneFamilyOnly(t *testing.T) {
	s := blocktest.NewStage(on(false, ours, six)(t))
	s.MustApply(t, blocktest.Step(t, iproute.Type(), absent+"family = \"ipv6\""))
	if got := routes(t, s.Host, 51850); !slices.Equal(got, []host.Route{ours}) {
		t.Errorf("%+v", got)
	}
}

func TestAReplacedRouteComesBack(t *testing.T) {
	s := blocktest.NewStage(on(false, former)(t))
	step := blocktest.Step(t, iproute.Type(), body)
	if change := s.MustCheck(t, step); change.Action != block.ActionUpdate || !strings.Contains(change.Diffs[0].Note, "via 192.0.2.9 over eth0 -> 10.9.0.0/16 via 192.0.2.1") {
		t.Errorf("%+v", change)
	}
	s.MustApply(t, step)
	s.MustReset(t, step)
	if got := routes(t, s.Host, 51850); !slices.Equal(got, []host.Route{former}) {
		t.Errorf("after reset %+v", got)
	}
}

func TestALinkThatIsNotThere(t *testing.T) {
	err := blocktest.NewStage(on(false)(t)).Apply(blocktest.Step(t, iproute.Type(), strings.Replace(body, "eth0", "wg9", 1)))
	if err == nil || !strings.Contains(err.Error(), "wg9") || !strings.Contains(err.Error(), "10.9.0.0/16 table 51850") {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		"table = 9":                                                          "where the route leads",
		"table = 9\nto = \"10.0.0.0/8\"":                                     "a gateway as via, a link, or both",
		"table = 9\nto = \"10.0.0.1/8\"\nlink = \"a\"":                       `write "10.0.0.0/8"`,
		"table = 9\nto = \"x\"\nlink = \"a\"":                                "no address and no network",
		"table = 9\nto = \"10.0.0.0/8\"\nvia = \"fd00::1\"":                  "different address families",
		"table = 9\nto = \"10.0.0.0/8\"\nvia = \"gw\"":                       "is no address",
		"table = 255\nto = \"10.0.0.0/8\"\nlink = \"a\"":                     "the kernel's",
		"table = 9\nto = \"10.0.0.0/8\"\nlink = \"a\"\nfamily = \"ipv4\"":    "leave it out",
		"table = 9\nto = \"10.0.0.0/8\"\nlink = \"a\"\ntype = \"blackhole\"": "no gateway and no link",
		"table = 254\nstate = \"absent\"":                                    "never emptied",
		"table = 9\nstate = \"absent\"\nto = \"10.0.0.0/8\"":                 "leave out to",
		"table = 5000000000\nstate = \"absent\"":                             "no routing table",
		"table = 9\nto = \"10.0.0.0/8\"\nlink = \"a\"\nmetric = 3000000000":  "too large",
	} {
		if got := blocktest.Faults(iproute.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
