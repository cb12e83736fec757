package iprule_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	iprule "hostler/builtins/blocks/ip_rule"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func on(offline bool, rules ...host.PolicyRule) func(*testing.T) host.Host {
	return func(*testing.T) host.Host {
		return memory.New(memory.Options{Network: memory.Network{
			PolicyRules: rules, Rules: []host.RuleState{{Family: host.IPv4, Priority: 32766, Table: 254}},
		}, Offline: offline}).Host()
	}
}

const body = `
	table    = 51850
	priority = 100
	mark     = "0x100/0xff00"
`

const absent = `
	table = 51850
	state = "absent"
`

func ours(f host.Family) host.PolicyRule {
	return host.PolicyRule{Family: f, Priority: 100, Table: 51850, Mark: 0x100, Mask: 0xff00}
}

func TestContract(t *testing.T) {
	for name, c := range map[string]blocktest.Case{
		"new":            {Body: body, Host: on(false)},
		"one family":     {Body: body, Host: on(false, ours(host.IPv6))},
		"right already":  {Body: body, Host: on(false, ours(host.IPv6), ours(host.IPv4)), Quiet: true},
		"offline":        {Body: body, Host: on(true), Quiet: true},
		"absent":         {Body: absent, Host: on(false, ours(host.IPv4), ours(host.IPv6))},
		"absent already": {Body: absent, Host: on(false), Quiet: true},
		"from a network": {Body: "table = 7\npriority = 3\nfrom = \"10.0.0.0/8\"\nin = \"eth0\"", Host: on(false)},
	} {
		c.Type = iprule.Type()
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

func rules(t *testing.T, h host.Host) []host.PolicyRule {
	t.Helper()
	view, err := host.RoutingViewOf(h.Network)
	if err != nil {
		t.Fatal(err)
	}
	all, err := view.PolicyRules(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// H30: only the table that is named is touched, in both families.
func TestH30OtherTablesStay(t *testing.T) {
	other := host.PolicyRule{Family: host.IPv4, Priority: 5, Table: 12345, From: "10.0.0.0/8"}
	s := blocktest.NewStage(on(false, other, ours(host.IPv4), ours(host.IPv6))(t))
	step := blocktest.Step(t, iprule.Type(), absent)
	s.MustApply(t, step)
	if got := rules(t, s.Host); len(got) != 2 || !slices.Contains(got, other) {
		t.Errorf("%+v", got)
	}
	s.MustReset(t, step)
	if got := rules(t, s.Host); !slices.Contains(got, ours(host.IPv4)) || !slices.Contains(got, ours(host.IPv6)) || len(got) != 4 {
		t.Errorf("after reset %+v", got)
	}
}

func TestWhatIsAdded(t *testing.T) {
	for lines, want := range map[string][]host.PolicyRule{
		"mark = \"0x1\"":                       {{Family: host.IPv4, Mark: 1, Mask: 0xffffffff}, {Family: host.IPv6, Mark: 1, Mask: 0xffffffff}},
		"from = \"10.1.2.3\"":                  {{Family: host.IPv4, From: "10.1.2.3/32"}},
		"to = \"fd00::/8\"\nfamily = \"ipv6\"": {{Family: host.IPv6, To: "fd00::/8"}},
		"from = \"0.0.0.0/0\"":                 {{Family: host.IPv4}},
		"family = \"ipv6\"\nin = \"wg0\"":      {{Family: host.IPv6, In: "wg0"}},
	} {
		s := blocktest.NewStage(on(false)(t))
		s.MustApply(t, blocktest.Step(t, iprule.Type(), "table = 9\npriority = 8\n"+lines))
		for i := range want {
			want[i].Table, want[i].Priority = 9, 8
		}
		if got := rules(t, s.Host)[1:]; !slices.Equal(got, want) {
			t.Errorf("%s: %+v", lines, got)
		}
	}
}

func TestOfflineIsDeferred(t *testing.T) {
	for b, deferred := range map[string]int{body: 1, absent: 0} {
		change := blocktest.NewStage(on(true)(t)).MustCheck(t, blocktest.Step(t, iprule.Type(), b))
		if change.Action != block.ActionNone || len(change.Deferred) != deferred {
			t.Errorf("%+v", change)
		}
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		"table = 1":                                                         "Write the rule's priority",
		"table = 0\npriority = 1":                                           "1 or more",
		"table = 5000000000\npriority = 1":                                  "is the most",
		"table = 1\npriority = 40000":                                       "is the most",
		"table = 254\nstate = \"absent\"":                                   "host's own",
		"table = 1\nstate = \"absent\"\npriority = 3":                       "leave out priority",
		"table = 1\npriority = 1\nmark = \"0x100/0xff\"":                    "no bit outside of the mask",
		"table = 1\npriority = 1\nmark = \"x\"":                             "is no mark",
		"table = 1\npriority = 1\nfrom = \"10.0.0.1/8\"":                    `write "10.0.0.0/8"`,
		"table = 1\npriority = 1\nfrom = \"eth0\"":                          "no address and no network",
		"table = 1\npriority = 1\nfrom = \"10.0.0.0/8\"\nfamily = \"ipv6\"": "not of the family",
		"table = 1\npriority = 1\nfrom = \"10.0.0.0/8\"\nto = \"fd00::/8\"": "not of the family",
	} {
		if got := blocktest.Faults(iprule.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
