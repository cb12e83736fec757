package interpreter_test

import (
	"context"
	"strings"
	"testing"

	"hostler/interpreter/host"
)

// counting counts how often a host's machines are listed.
type counting struct {
	host.Machines
	times int
}

func (c *counting) Registered(ctx context.Context) ([]host.MachineState, error) {
	c.times++
	return c.Machines.Registered(ctx)
}

// TestR077OneInventory: however many slots and steps ask, the registered
// machines are listed once in a run that starts and stops none.
func TestR077OneInventory(t *testing.T) {
	recipe := given{recipe: files{"recipe.hcl": strings.NewReplacer(
		`nspawn_machine "kube1" {`, "nspawn_machine \"node\" {\n    slots = [\"kube1\", \"kube2\"]",
		`image    = "/srv/one.tar"`, "image    = \"/srv/one.tar\"",
	).Replace(recipeFile(t, "rich.hcl")["recipe.hcl"])}}
	r := newRig(t, rich(t))
	var counted *counting
	r.Wrap = func(h host.Host) host.Host {
		counted = &counting{Machines: h.Machines}
		h.Machines = counted
		return h
	}
	r.must(apply, recipe)
	for name, do := range map[string]verb{"apply": apply, "ensure": ensure, "verify": verify, "plan": plan} {
		r.must(do, recipe)
		r.list(r.Changed())
		if counted.times != 1 {
			t.Errorf("%s lists the machines %d times", name, counted.times)
		}
	}
}
