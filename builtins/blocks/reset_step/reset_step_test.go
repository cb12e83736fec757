package resetstep_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	resetstep "hostler/builtins/blocks/reset_step"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

const everything = `
	stop_unit { name = "demo.service" }
	disable_unit { name = "demo.service" }
	run { argv = ["demo-clean", "--all"] }
	delete_link {
		name_range = "wg51820-51899"
		kind       = "wireguard"
	}
	delete_link {
		name = "localdns"
		kind = "dummy"
	}
	flush_routes { tables = "51820-51899" }
	delete_rules { tables = "51820-51899" }
	delete_nft_table { name = "demo" }
	unmount { path = "/run/demo/bpf" }
	remove_path {
		path      = "/run/demo"
		recursive = true
	}
	remove_path { path = "/etc/demo.conf" }
`

// nft is a program that keeps tables.
type nft struct {
	tables []string
	calls  []string
	sticky bool
}

func (n *nft) run(i memory.Invocation) host.CommandResult {
	n.calls = append(n.calls, strings.Join(i.Argv, " "))
	switch i.Argv[1] {
	case "list":
		return host.CommandResult{Stdout: []byte("table " + strings.Join(n.tables, "\ntable ") + "\n")}
	case "delete":
		if !n.sticky {
			gone := strings.Join(i.Argv[3:], " ")
			n.tables = slices.DeleteFunc(n.tables, func(t string) bool { return t == gone })
		}
	}
	return host.CommandResult{}
}

func leftovers(n *nft, tools ...string) *memory.Memory {
	return memory.New(memory.Options{
		Executables: tools,
		Programs:    map[string]memory.Program{"nft": n.run},
		Units:       []memory.Unit{{Name: "demo.service", Enabled: true, Running: true}, {Name: "other.service", Enabled: true, Running: true}},
		Files: map[string]memory.File{
			"/run/demo/bpf": {Dir: true}, "/run/demo/sock/x": {Content: "x"}, "/run/demo/out": {Link: "/etc/other.conf"},
			"/etc/demo.conf": {Content: "x"}, "/etc/other.conf": {Content: "stays"},
		},
		Mounts: []memory.Mount{{Point: "/run/demo/bpf"}},
		Network: memory.Network{
			Links: []host.LinkState{{Name: "wg51820", Kind: "wireguard"}, {Name: "wg51899", Kind: "wireguard"}, {Name: "wg51900", Kind: "wireguard"},
				{Name: "wg0", Kind: "wireguard"}, {Name: "wg51830", Kind: "dummy"}, {Name: "localdns", Kind: "dummy"}},
			Tables: []host.TableState{{Family: host.IPv4, Table: 51850}, {Family: host.IPv6, Table: 51850}, {Family: host.IPv4, Table: 12345}, {Family: host.IPv4, Table: 254}},
			Rules:  []host.RuleState{{Family: host.IPv4, Priority: 10, Table: 51850}, {Family: host.IPv6, Priority: 10, Table: 51820}, {Family: host.IPv4, Priority: 9, Table: 12345}},
		},
	})
}

func TestContract(t *testing.T) {
	blocktest.Run(t, blocktest.Case{
		Type: resetstep.Type(), Body: everything, Quiet: true, Leaves: true,
		Names: []string{"demo", "wg518", "localdns", "51820"},
		Host: func(*testing.T) host.Host {
			return leftovers(&nft{tables: []string{"inet demo"}}, "nft", "demo-clean").Host()
		},
	})
}

func TestEverythingGoesAndNothingElse(t *testing.T) {
	n := &nft{tables: []string{"inet demo", "inet theirs", "ip demo"}}
	h := leftovers(n, "nft", "demo-clean").Host()
	s := blocktest.NewStage(h)
	step := blocktest.Step(t, resetstep.Type(), everything)
	for _, owned := range step.Owns() {
		if found, err := owned.Look(t.Context(), h.View()); err != nil || (found.Kind != thing.Present) != (strings.HasPrefix(string(owned.Key()), "residue:other:")) {
			t.Errorf("before, %s is %+v (%v)", owned.Key(), found, err)
		}
	}
	s.MustReset(t, step)
	for _, owned := range step.Owns() {
		if found, err := owned.Look(t.Context(), h.View()); err != nil || found.Kind != thing.Absent {
			t.Errorf("after, %s is %+v (%v)", owned.Key(), found, err)
		}
	}
	links, _ := h.Network.Links(t.Context())
	rules, _ := h.Network.Rules(t.Context())
	tables, _ := h.Network.RouteTables(t.Context())
	other, _ := h.Units.Unit(t.Context(), "other.service")
	got := strings.TrimSpace(fmt.Sprintln(links, rules, tables, n.tables, other.ActiveState, other.UnitFileState))
	want := "[{wg51900 wireguard false} {wg0 wireguard false} {wg51830 dummy false}] [{ipv4 9 12345}] [{ipv4 12345} {ipv4 254}] [inet theirs ip demo] active enabled"
	if got != want {
		t.Errorf("left:\n%s\nwant:\n%s", got, want)
	}
	if state, err := thing.LookPath(h.Files, "/etc/other.conf"); err != nil || state.Kind != thing.File {
		t.Errorf("what a link led to is %+v (%v)", state, err)
	}
	s.MustReset(t, step)
}

func TestTheOrderIsThatOfTheRecipe(t *testing.T) {
	plan := fault.Count()
	h := leftovers(&nft{tables: []string{"inet demo"}}, "nft", "demo-clean").Host()
	s := blocktest.NewStage(fault.Wrap(h, plan))
	s.MustReset(t, blocktest.Step(t, resetstep.Type(), `
		remove_path { path = "/etc/demo.conf" }
		run { argv = ["demo-clean"] }
		stop_unit { name = "demo.service" }
		delete_link {
			name = "localdns"
			kind = "dummy"
		}
		run { argv = ["true"] }
	`))
	var got []string
	for _, e := range plan.Log() {
		if e.Kind != "sync" {
			got = append(got, e.Kind+" "+e.Name)
		}
	}
	want := "[remove /etc/demo.conf command demo-clean unit stop demo.service delete link localdns command true]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestH31ALinkOfAnotherKindIsNotOurs(t *testing.T) {
	h := leftovers(&nft{}).Host()
	step := blocktest.Step(t, resetstep.Type(), "delete_link {\nname = \"wg51830\"\nkind = \"wireguard\"\n}")
	err := blocktest.NewStage(h).Reset(step)
	if err == nil || !strings.Contains(err.Error(), `link is of kind "dummy" and not "wireguard"`) || !strings.Contains(err.Error(), "wg51830") {
		t.Error(err)
	}
	if links, _ := h.Network.Links(t.Context()); len(links) != 6 {
		t.Errorf("links: %v", links)
	}
}

func TestR126AMissingToolAndR127AFailingOne(t *testing.T) {
	reset := func(body string, tools ...string) error {
		m := leftovers(&nft{tables: []string{"inet demo"}}, tools...)
		return blocktest.NewStage(m.Host()).Reset(blocktest.Step(t, resetstep.Type(), body))
	}
	for body, want := range map[string]string{
		`delete_nft_table { name = "demo" }`:                                      `missing_tool = "absent"`,
		"delete_nft_table {\nname = \"demo\"\nmissing_tool = \"absent\"\n}":       "",
		"run { argv = [\"gone\"] }":                                               "executable not found",
		"run {\nargv = [\"gone\"]\nmissing_tool = \"absent\"\n}":                  "",
		"run { argv = [\"false\"] }":                                              "false: exit status 1",
		"run {\nargv = [\"false\"]\ntolerate = [2, 1]\n}":                         "",
		"run {\nargv = [\"false\"]\ntolerate = [2]\nmissing_tool = \"absent\"\n}": "exit status 1",
	} {
		err := reset(body)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	stuck := leftovers(&nft{tables: []string{"inet demo"}, sticky: true}, "nft")
	err := blocktest.NewStage(stuck.Host()).Reset(blocktest.Step(t, resetstep.Type(), `delete_nft_table { name = "demo" }`))
	if err == nil || !strings.Contains(err.Error(), "still there") {
		t.Errorf("a table that stays: %v", err)
	}
}

func TestPathsThatStay(t *testing.T) {
	for body, want := range map[string]string{
		`remove_path { path = "/run/demo" }`:                             "the directory is not empty, it holds bpf, out, sock; write recursive = true",
		"remove_path {\npath = \"/run/demo\"\nrecursive = true\n}":       "/run/demo/bpf is a mount point",
		"remove_path {\npath = \"/run/demo/bpf/x\"\nrecursive = true\n}": "",
		`remove_path { path = "/run/demo/out" }`:                         "",
		`unmount { path = "/run/demo/sock" }`:                            "",
		`stop_unit { name = "not-there.service" }`:                       "",
		`disable_unit { name = "not-there.service" }`:                    "",
	} {
		err := blocktest.NewStage(leftovers(&nft{}).Host()).Reset(blocktest.Step(t, resetstep.Type(), body))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

func TestOfflineOnlyFilesAndLinksAreLeft(t *testing.T) {
	h := memory.New(memory.Options{Offline: true, Files: map[string]memory.File{
		"/etc/systemd/system/multi-user.target.wants/demo.service": {Link: "/usr/lib/systemd/system/demo.service"},
		"/etc/systemd/system/alias.service":                        {Link: "/usr/lib/systemd/system/demo.service"},
		"/etc/systemd/system/demo.service":                         {Link: "/opt/demo.service"},
		"/run/demo/x":                                              {},
	}}).Host()
	s := blocktest.NewStage(h)
	step := blocktest.Step(t, resetstep.Type(), everything)
	s.MustHold(t, step)
	s.MustReset(t, step)
	for name, there := range map[string]bool{
		"/etc/systemd/system/multi-user.target.wants/demo.service": false, "/etc/systemd/system/alias.service": false,
		"/etc/systemd/system/demo.service": true, "/run/demo": false,
	} {
		if _, err := host.Lstat(h.Files, name); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, owned := range step.Owns() {
		if found, err := owned.Look(t.Context(), h.View()); err != nil || found.Kind != thing.Absent {
			t.Errorf("%s is %+v (%v)", owned.Key(), found, err)
		}
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		``:                           "at least one action",
		`remove_path { path = "/" }`: "never removed",
		"remove_path {\npath = \"/etc\"\nrecursive = true\n}":                     "never removed",
		"delete_link { kind = \"veth\" }":                                         "exactly one of name and name_range",
		"delete_link {\nname = \"a\"\nname_range = \"wg1-2\"\nkind = \"veth\"\n}": "exactly one of name and name_range",
		"delete_link {\nname_range = \"1-2\"\nkind = \"veth\"\n}":                 "names no link",
		"delete_link {\nname_range = \"wg\"\nkind = \"veth\"\n}":                  "is no range",
		"delete_link { name = \"a\" }":                                            "kind is required",
		`flush_routes { tables = "wg1-2" }`:                                       "no range of tables",
		`flush_routes { tables = "0" }`:                                           "from 1 on",
		`flush_routes { tables = "200-300" }`:                                     "253 to 255",
		`delete_rules { tables = "9-1" }`:                                         `write "1-9"`,
		`delete_nft_table { name = "a; flush ruleset" }`:                          "no name of an nftables table",
		"run {\nargv = [\"true\"]\ntolerate = [256]\n}":                           "256 is no exit code",
		"run {\nargv = [\"true\"]\nmissing_tool = \"ignore\"\n}":                  `write one of "absent", "error"`,
		`stop_unit { name = "demo" }`:                                             `write for example "demo.service"`,
	} {
		if got := blocktest.Faults(resetstep.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}

func TestTargetsAreOwnedOnceAndRunOwnsNone(t *testing.T) {
	step := blocktest.Step(t, resetstep.Type(), `
		remove_path { path = "/run/x" }
		run { argv = ["true"] }
		remove_path { path = "/run/x" }
	`)
	owned := step.Owns()
	if len(owned) != 1 || owned[0].Key() != "residue:path:/run/x" || !owned[0].Foreign {
		t.Errorf("owned: %+v", owned)
	}
	if _, ok := step.(block.ResetOnly); !ok {
		t.Error("it is not reset-only")
	}
}
