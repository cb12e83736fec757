package interpreter

import (
	"context"
	"slices"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// machine is a machine of a target.
type machine struct {
	address string
	// active is the slot that the target is about, slots are all of them.
	active string
	slots  []string
}

// machinesOf lists the machines of evaluated steps, in order.
func machinesOf(steps []block.Placed) (all []machine) {
	for i := range steps {
		p := &steps[i]
		if p.Machine != "" || len(p.Type.Phases) == 0 || p.Step == nil {
			continue
		}
		var slots []string
		for _, owned := range p.Step.Owns() {
			if isMachine(owned.Key()) {
				slots = append(slots, owned.Key().Name())
			}
		}
		if len(slots) > 0 {
			all = append(all, machine{address: p.Address, active: p.Self, slots: slots})
		}
	}
	return all
}

func machineKey(name string) thing.Key { return thing.Key("machine:" + name) }

// slot is which of its slots a machine is evaluated for: the active one, in a
// repave the one after it.
func (r *run) slot(address string, slots []string) string {
	if r.standing == nil {
		for _, s := range slots {
			if r.selves[s] {
				return s
			}
		}
		return r.active(address, slots)
	}
	for i, s := range slots {
		if r.standing[s] {
			return slots[(i+1)%len(slots)]
		}
	}
	return ""
}

// active is the recorded slot, also of a machine whose step has another address
// now; "" when there is none.
func (r *run) active(address string, slots []string) string {
	if s := r.rec.Machines[address].Active; slices.Contains(slots, s) {
		return s
	}
	for _, built := range r.rec.Machines {
		if slices.Contains(slots, built.Active) {
			return built.Active
		}
	}
	return ""
}

// idle are the machines of a target's slots that are not active.
func idle(t *target) (keys []thing.Key) {
	for _, m := range machinesOf(t.steps) {
		for _, s := range m.slots {
			if s != m.active {
				keys = append(keys, machineKey(s))
			}
		}
	}
	return keys
}

// unsettled makes a walk put in order what a repave left: machines that are to
// be built anew are taken away first, slots that are not active last, and what
// is inside of those goes with them.
func (r *run) unsettled(t *target, in *walk.Input) {
	in.Idle = idle(t)
	in.Dropped = r.forgetInside(in.Idle, in.Dropped)
	for _, name := range r.rec.Repave.Rebuild {
		in.Cleared = append(in.Cleared, machineKey(name))
	}
	in.OnCleared = func(ctx context.Context) error {
		r.rec.Repave.Rebuild = nil
		return r.store.Save(ctx, r.rec)
	}
}

// forgetInside forgets dropped things that are inside of machines, which go as
// a whole, and returns the others.
func (r *run) forgetInside(machines, dropped []thing.Key) (others []thing.Key) {
	var inside []thing.Key
	for _, key := range dropped {
		if machine, _ := key.Machine(); machine != "" && slices.Contains(machines, machineKey(machine)) {
			inside = append(inside, key)
		} else {
			others = append(others, key)
		}
	}
	r.rec.Drop(inside...)
	return others
}

// elsewhere names, by address, the slots that stay active while a target that
// has not proved itself is built or held.
func elsewhere(t *target, standing map[string]bool) map[string]string {
	replaces := map[string]string{}
	for _, m := range machinesOf(t.steps) {
		for _, s := range m.slots {
			if standing[s] && s != m.active {
				replaces[m.address] = s
			}
		}
	}
	return replaces
}

// standingOf are the active slots of a target, by name.
func standingOf(t *target) map[string]bool {
	standing := map[string]bool{}
	for _, m := range machinesOf(t.steps) {
		standing[m.active] = true
	}
	return standing
}

// trial says whether a repave waits for its confirmation.
func (r *run) trial() bool {
	return r.rec != nil && r.rec.Trial(r.host.Clock.Now())
}

// trialError refuses what would change a host on trial.
func (r *run) trialError() error {
	return &record.RefusedError{
		Reason: "a repave waits for its confirmation until " + stamp(r.rec.Repave.Until),
		Advice: "nothing was changed: keep it with hostler repave --confirm, or go back with hostler apply --previous",
	}
}
