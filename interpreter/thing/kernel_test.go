package thing_test

import (
	"context"
	"slices"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

func TestSysctlSpellings(t *testing.T) {
	for in, want := range map[string]string{
		"net.ipv4.ip_forward":             "net.ipv4.ip_forward",
		"net/ipv4/ip_forward":             "net.ipv4.ip_forward",
		"net/ipv4/conf/eth0.1/forwarding": "net.ipv4.conf.eth0/1.forwarding",
		"net.ipv4.conf.eth0/1.forwarding": "net.ipv4.conf.eth0/1.forwarding",
		"kernel":                          "kernel",
	} {
		if got := thing.SysctlName(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
	if got := thing.SysctlValue(" 4096\t131072  6291456\n"); got != "4096 131072 6291456" {
		t.Errorf("%q", got)
	}
	if got := thing.ModuleName("br-netfilter"); got != "br_netfilter" {
		t.Errorf("%q", got)
	}
}

// A parameter whose module has gone cannot be put back and need not be.
func TestSysctlThatIsGone(t *testing.T) {
	h := memory.New(memory.Options{}).Host()
	o := thing.Origin{Kind: thing.OriginSaved, State: &thing.State{Kind: thing.Present, Value: "1"}}
	if err := thing.Sysctl("net.bridge.x").PutBack(context.Background(), h, o, nil); err != nil {
		t.Error(err)
	}
}

func TestSwapUnits(t *testing.T) {
	for area, want := range map[string][]string{
		"/dev/sda2":           {"dev-sda2.swap"},
		"/swap-file":          {`swap\x2dfile.swap`},
		"/dev/zram12":         {"dev-zram12.swap", "systemd-zram-setup@zram12.service"},
		"/":                   nil,
		"relative":            nil,
		"/dev/disk/by-uuid/1": nil,
	} {
		if got := thing.SwapUnits(area); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", area, got, want)
		}
	}
}

// Areas come back with their priority, and those that the kernel ranks in their
// order; one that is active is left alone.
func TestSwapComesBack(t *testing.T) {
	h := memory.New(memory.Options{Kernel: memory.Kernel{Swaps: []string{"/b"}}}).Host()
	o := thing.Origin{Kind: thing.OriginSaved, State: &thing.State{Kind: thing.Present, Value: "/a\n/b\t3\n/c\t-2\n/d\t5\n/e\t-3"}}
	if err := (thing.Swap{}).PutBack(context.Background(), h, o, nil); err != nil {
		t.Error(err)
	}
	areas, err := h.Kernel.Swaps(context.Background())
	want := []host.SwapArea{{Name: "/b", Priority: -1}, {Name: "/d", Priority: 5}, {Name: "/a", Priority: -1}, {Name: "/c", Priority: -2}, {Name: "/e", Priority: -3}}
	if err != nil || !slices.Equal(areas, want) {
		t.Errorf("%v (%v)", areas, err)
	}
}

func TestAccounts(t *testing.T) {
	h := memory.New(memory.Options{Files: map[string]memory.File{
		"/etc/passwd": {Content: "root:x:0:0::/:/bin/sh\n# web:x:1:1\nweb:x:33:34::/:/bin/sh\nshort:x\n"},
		"/etc/group":  {Content: "adm:x:4:a,web,b\nweb:x:34:\nodd:x\n"},
	}}).Host()
	for _, c := range []struct {
		account thing.Account
		want    thing.State
		fails   bool
	}{
		{thing.Account{Kind: thing.AccountUser, Name: "web"}, thing.State{Kind: thing.Present, Value: "33:34"}, false},
		{thing.Account{Kind: thing.AccountGroup, Name: "web"}, thing.State{Kind: thing.Present, Value: "34"}, false},
		{thing.Account{Kind: thing.AccountMember, Name: "web/adm"}, thing.State{Kind: thing.Present}, false},
		{thing.Account{Kind: thing.AccountMember, Name: "we/adm"}, thing.State{Kind: thing.Absent}, false},
		{thing.Account{Kind: thing.AccountMember, Name: "web/odd"}, thing.State{Kind: thing.Absent}, false},
		{thing.Account{Kind: thing.AccountUser, Name: "ghost"}, thing.State{Kind: thing.Absent}, false},
		{thing.Account{Kind: thing.AccountUser, Name: "short"}, thing.State{}, true},
	} {
		got, err := c.account.Look(context.Background(), h.View())
		if (err != nil) != c.fails || !c.fails && !got.Same(c.want) {
			t.Errorf("%s: %+v, %v", c.account.Key(), got, err)
		}
	}
	for _, a := range []thing.Account{{Kind: thing.AccountMember, Name: "web/adm"}, {Kind: thing.AccountUser, Name: "web"}, {Kind: thing.AccountGroup, Name: "ghost"}} {
		if err := a.PutBack(context.Background(), h, thing.Origin{Kind: thing.OriginAbsent}, nil); err != nil {
			t.Error(err)
		}
	}
	group, err := thing.ReadAll(h.Files, "/etc/group")
	if err != nil || string(group) != "adm:x:4:a,b\nweb:x:34:\nodd:x\n" {
		t.Errorf("%q (%v)", group, err)
	}
	passwd, err := thing.ReadAll(h.Files, "/etc/passwd")
	if err != nil || string(passwd) != "root:x:0:0::/:/bin/sh\n# web:x:1:1\nshort:x\n" {
		t.Errorf("%q (%v)", passwd, err)
	}
	if _, err := host.Lstat(h.Files, "/etc/shadow"); !host.Absent(err) {
		t.Errorf("a file was made: %v", err)
	}
}
