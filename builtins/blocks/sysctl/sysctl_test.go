package sysctl_test

import (
	"context"
	"strings"
	"testing"

	"hostler/builtins/blocks/sysctl"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

type files = map[string]memory.File

const body = `
	path   = "/etc/sysctl.d/90-demo.conf"
	values = { "net.ipv4.ip_forward" = 1, "net/ipv4/conf/eth0.1/forwarding" = 1, "net.ipv4.tcp_rmem" = "4096 131072 7291456" }
`

func kernel() map[string]string {
	return map[string]string{
		"net.ipv4.ip_forward": "0", "net.ipv4.conf.eth0/1.forwarding": "0", "net.ipv4.tcp_rmem": "4096\t131072\t6291456", "vm.swappiness": "60",
	}
}

func machine(o memory.Options) *memory.Memory {
	if o.Kernel.Sysctl == nil {
		o.Kernel.Sysctl = kernel()
	}
	return memory.New(o)
}

func on(o memory.Options) func(*testing.T) host.Host {
	return func(*testing.T) host.Host {
		o.Kernel.Sysctl = kernel()
		return machine(o).Host()
	}
}

func TestContract(t *testing.T) {
	for name, c := range map[string]blocktest.Case{
		"new":             {Body: body, Host: on(memory.Options{})},
		"file of another": {Body: body, Host: on(memory.Options{Files: files{"/etc/sysctl.d/90-demo.conf": {Content: "old = 1\n", Mode: 0o600}}})},
		"offline":         {Body: body, Host: on(memory.Options{Offline: true})},
		"right already": {Quiet: true, Body: "path = \"/etc/sysctl.d/90-demo.conf\"\nvalues = { \"vm.swappiness\" = \"10\" }",
			Host: on(memory.Options{Files: files{"/etc/sysctl.d/90-demo.conf": {Content: "vm.swappiness = 10\n"}}})},
	} {
		c.Type = sysctl.Type()
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

func value(t *testing.T, h host.Host, key string) string {
	t.Helper()
	v, err := h.Kernel.Sysctl(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// H03: a value that was changed by hand is set again, and nothing else is
// touched.
func TestH03DriftedValueIsSetAgain(t *testing.T) {
	s := blocktest.NewStage(on(memory.Options{})(t))
	step := blocktest.Step(t, sysctl.Type(), body)
	s.MustApply(t, step)
	if err := s.Host.Kernel.SetSysctl(context.Background(), "net.ipv4.ip_forward", "0"); err != nil {
		t.Fatal(err)
	}
	change := s.MustCheck(t, step)
	if change.Action != block.ActionUpdate || change.Bytes || len(change.Diffs) != 1 || change.Diffs[0].Note != "0 -> 1" {
		t.Errorf("%+v", change)
	}
	s.MustApply(t, step)
	if got := value(t, s.Host, "net.ipv4.ip_forward"); got != "1" {
		t.Errorf("it is %q", got)
	}
}

func TestResetPutsBackWhatWasInForce(t *testing.T) {
	s := blocktest.NewStage(on(memory.Options{})(t))
	step := blocktest.Step(t, sysctl.Type(), body)
	s.MustApply(t, step)
	s.MustReset(t, step)
	for key, want := range map[string]string{"net.ipv4.ip_forward": "0", "net.ipv4.tcp_rmem": "4096 131072 6291456"} {
		if got := value(t, s.Host, key); got != want {
			t.Errorf("%s is %q after reset, was %q", key, got, want)
		}
	}
}

func TestAtBootTheFileSetsTheValues(t *testing.T) {
	m := machine(memory.Options{})
	step := blocktest.Step(t, sysctl.Type(), body)
	blocktest.NewStage(m.Host()).MustApply(t, step)
	m.Reboot()
	blocktest.NewStage(m.Host()).MustHold(t, step)
}

func TestOfflineTheValuesAreDeferred(t *testing.T) {
	s := blocktest.NewStage(on(memory.Options{Offline: true})(t))
	step := blocktest.Step(t, sysctl.Type(), body)
	s.MustApply(t, step)
	change := s.MustCheck(t, step)
	if change.Needed() || len(change.Deferred) != 1 || !strings.Contains(change.Deferred[0], "at boot") {
		t.Errorf("%+v", change)
	}
}

func TestAParameterThatIsNotThereIsExplained(t *testing.T) {
	for name, want := range map[string]string{
		"net.bridge.bridge-nf-call-iptables": `module br_netfilter brings it; load that before, with kernel_module "br_netfilter" {}`,
		"net.netfilter.nf_conntrack_max":     "module nf_conntrack is loaded, and this kernel's does not have it",
		"net.ipv6.conf.all.forwarding":       "IPv6 may be turned off",
		"net.ipv4.conf.wan0.forwarding":      "the network interface wan0 is not there",
		"vm.swapiness":                       "look at the spelling",
	} {
		h := machine(memory.Options{Kernel: memory.Kernel{Modules: map[string]bool{"br_netfilter": false, "nf_conntrack": true}}}).Host()
		s := blocktest.NewStage(h)
		step := blocktest.Step(t, sysctl.Type(), `path = "/etc/sysctl.d/90-demo.conf"`+"\nvalues = { \""+name+"\" = 1 }")
		if err := s.Apply(step); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if change := s.MustCheck(t, step); change.Action != block.ActionUnknown || !strings.Contains(change.Reason, want) {
			t.Errorf("%s: check answers %+v", name, change)
		}
	}
}

func TestAValueThatTheKernelRefuses(t *testing.T) {
	h := machine(memory.Options{}).Host()
	h.Kernel = refusing{h.Kernel}
	err := blocktest.NewStage(h).Apply(blocktest.Step(t, sysctl.Type(), body))
	if err == nil || !strings.Contains(err.Error(), `does not take the value "1"`) {
		t.Error(err)
	}
}

type refusing struct{ host.Kernel }

func (refusing) SetSysctl(context.Context, string, string) error { return context.DeadlineExceeded }

func TestFilesThatAreReadLaterAreWarnedAbout(t *testing.T) {
	for name, c := range map[string]struct {
		files files
		want  []string // of each warning
	}{
		"later name":                   {files{"/usr/lib/sysctl.d/99-x.conf": {Content: "# c\n\n-net.ipv4.ip_forward=0\n"}}, []string{"Line 3 of /usr/lib/sysctl.d/99-x.conf"}},
		"same value":                   {files{"/etc/sysctl.d/99-x.conf": {Content: "net/ipv4/ip_forward = 1\n"}}, nil},
		"earlier name":                 {files{"/etc/sysctl.d/10-x.conf": {Content: "net.ipv4.ip_forward=0\n"}}, nil},
		"a pattern":                    {files{"/etc/sysctl.d/99-x.conf": {Content: "net.ipv4.conf.*.forwarding=0\n"}}, nil},
		"hidden by a file of its name": {files{"/etc/sysctl.d/99-x.conf": {Content: "\n"}, "/run/sysctl.d/99-x.conf": {Content: "net.ipv4.ip_forward=0\n"}}, nil},
		"the classic file":             {files{"/etc/sysctl.conf": {Content: "net.ipv4.ip_forward = 0\n"}}, []string{"Line 1 of /etc/sysctl.conf"}},
		"the classic file by a link, once": {files{
			"/etc/sysctl.conf": {Content: "net.ipv4.tcp_rmem = 1\t2 3\n"}, "/etc/sysctl.d/99-sysctl.conf": {Link: "../sysctl.conf"},
		}, []string{`sets it to "1 2 3"`}},
		"not .conf": {files{"/etc/sysctl.d/99-x.bak": {Content: "net.ipv4.ip_forward=0\n"}}, nil},
	} {
		s := blocktest.NewStage(on(memory.Options{Files: c.files})(t))
		s.MustApply(t, blocktest.Step(t, sysctl.Type(), body))
		if len(s.Warnings) != len(c.want) {
			t.Errorf("%s: warnings %+v", name, s.Warnings)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(s.Warnings[i].Detail, want) {
				t.Errorf("%s: %q does not hold %q", name, s.Warnings[i].Detail, want)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		"path = \"/etc/demo.conf\"\nvalues = { \"a.b\" = 1 }":                            `write for example "/etc/sysctl.d/90-demo.conf"`,
		"path = \"/etc/sysctl.d/.conf\"\nvalues = { \"a.b\" = 1 }":                       "not read at boot",
		"path = \"sysctl.d/a.conf\"\nvalues = { \"a.b\" = 1 }":                           "write an absolute path",
		"path = \"/etc/sysctl.d/a.conf\"\nvalues = {}":                                   "at least one parameter",
		"path = \"/etc/sysctl.d/a.conf\"\nvalues = { \"a.*.b\" = 1 }":                    "write each parameter out",
		"path = \"/etc/sysctl.d/a.conf\"\nvalues = { \"-a.b\" = 1 }":                     "no kernel parameter",
		"path = \"/etc/sysctl.d/a.conf\"\nvalues = { \"a\" = 1 }":                        "no kernel parameter",
		"path = \"/etc/sysctl.d/a.conf\"\nvalues = { \"a.b\" = \"\" }":                   "empty or not one line",
		"path = \"/etc/sysctl.d/a.conf\"\nvalues = { \"a.b\" = null }":                   "leave the parameter out",
		"path = \"/etc/sysctl.d/a.conf\"\nvalues = { \"a.b\" = \"1\\n2\" }":              "empty or not one line",
		"path = \"/etc/sysctl.d/a.conf\"\nvalues = { \"a.b\" = \"1\", \"a/b\" = \"1\" }": "the same parameter",
	} {
		if got := blocktest.Faults(sysctl.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
