package kernelmodule_test

import (
	"context"
	"strings"
	"testing"

	kernelmodule "hostler/builtins/blocks/kernel_module"
	"hostler/builtins/blocks/sysctl"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/host/shadow"
)

func on(o memory.Options) func(*testing.T) host.Host {
	o.Kernel.Modules = map[string]bool{"br_netfilter": false, "overlay": true}
	return func(*testing.T) host.Host { return memory.New(o).Host() }
}

func TestContract(t *testing.T) {
	for name, c := range map[string]blocktest.Case{
		"new":       {Body: `name = "br-netfilter"`, Host: on(memory.Options{})},
		"now only":  {Body: "name = \"br_netfilter\"\nboot = false", Host: on(memory.Options{})},
		"boot only": {Body: "name = \"br_netfilter\"\nload = false", Host: on(memory.Options{})},
		"offline":   {Body: `name = "br_netfilter"`, Host: on(memory.Options{Offline: true})},
		"loaded":    {Body: "name = \"overlay\"\nboot = false", Host: on(memory.Options{}), Quiet: true},
	} {
		c.Type = kernelmodule.Type()
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

func TestLoadedNowAndAtBoot(t *testing.T) {
	m := memory.New(memory.Options{Kernel: memory.Kernel{Modules: map[string]bool{"br_netfilter": false}}})
	s := blocktest.NewStage(m.Host())
	step := blocktest.Step(t, kernelmodule.Type(), `name = "br_netfilter"`)
	if change := s.MustCheck(t, step); change.Action != block.ActionCreate || !strings.Contains(change.Reason, "not loaded") {
		t.Errorf("%+v", change)
	}
	s.MustApply(t, step)
	for _, when := range []string{"now", "after a boot"} {
		if loaded, err := m.Host().Kernel.ModuleLoaded(context.Background(), "br_netfilter"); err != nil || !loaded {
			t.Errorf("%s it is not loaded: %v", when, err)
		}
		m.Reboot()
	}
}

func TestOffline(t *testing.T) {
	for body, want := range map[string]string{
		`name = "br_netfilter"`:                 "is loaded at boot",
		"name = \"br_netfilter\"\nboot = false": "by the first run on the running host",
	} {
		change := blocktest.NewStage(on(memory.Options{Offline: true})(t)).MustCheck(t, blocktest.Step(t, kernelmodule.Type(), body))
		if len(change.Deferred) != 1 || !strings.Contains(change.Deferred[0], want) {
			t.Errorf("%+v", change)
		}
	}
}

func TestAModuleThatIsNotToBeHad(t *testing.T) {
	s := blocktest.NewStage(on(memory.Options{})(t))
	step := blocktest.Step(t, kernelmodule.Type(), `name = "wireguard"`)
	const want = "kernel module wireguard is not to be had for 6.1.0"
	if change := s.MustCheck(t, blocktest.Step(t, kernelmodule.Type(), "name = \"wireguard\"\nboot = false")); change.Action != block.ActionUnknown || !strings.Contains(change.Reason, want) {
		t.Errorf("%+v", change)
	}
	if err := s.Apply(step); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// A plan does not know the parameters that a module brings, and says so.
func TestInAPlanTheParametersOfAModuleAreUnknown(t *testing.T) {
	s := blocktest.NewStage(shadow.Over(on(memory.Options{})(t).View()).Host())
	if err := s.Apply(blocktest.Step(t, kernelmodule.Type(), `name = "br_netfilter"`)); err != nil {
		t.Fatal(err)
	}
	step := blocktest.Step(t, sysctl.Type(), "path = \"/etc/sysctl.d/a.conf\"\nvalues = { \"net.bridge.bridge-nf-call-iptables\" = 1 }")
	if err := s.Apply(step); err != nil {
		t.Fatal(err)
	}
	s.MustHold(t, step)
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		`name = "../x"`: "no kernel module's name",
		"name = \"a\"\nload = false\nboot = false": "Leave out one of",
	} {
		if got := blocktest.Faults(kernelmodule.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
	args := blocktest.Args(t, kernelmodule.Type(), "")
	args.Label = "a b"
	if _, diags := kernelmodule.Type().New(args); !strings.Contains(diags.Error(), "no kernel module's name") {
		t.Error(diags)
	}
}
