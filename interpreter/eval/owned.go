package eval

import (
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
)

// ownedThings are the things that the steps of a program own, by key, the
// machine's prefix included.
type ownedThings map[string]ownedThing

type ownedThing struct {
	address string
	rng     hcl.Range
	// kind and name are the parts of the key, machine what it is inside of.
	kind, name, machine string
	// maybe says that whether the step is on is not known.
	maybe bool
}

// owns notes what a step owns, and reports what another owns already. Of two
// that may not both be on nothing is reported.
func (run *run) owns(p block.Placed, maybe bool) {
	seen := map[string]bool{}
	for _, o := range p.Step.Owns() {
		key := o.Key().On(p.Machine)
		machine, _ := key.Machine()
		text := string(key)
		had, taken := run.owned[text]
		switch {
		case seen[text]:
			run.errorf(p.Range, "Owned twice", "%s owns %s twice. Give each part a name of its own.", p.Address, text)
		case taken && had.address != p.Address && !maybe && !had.maybe:
			run.errorf(p.Range, "Owned twice", "%s owns %s, and so does %s at %s. Remove one of them, or give one another name.", p.Address, text, had.address, where(had.rng))
		}
		seen[text] = true
		if !taken || had.maybe && !maybe {
			run.owned[text] = ownedThing{p.Address, p.Range, key.Kind(), key.Name(), machine, maybe}
		}
	}
}

// checkLookups reports look-ups of things that the recipe owns: they would see
// the host before the run.
func (run *run) checkLookups() {
	for _, q := range run.asked {
		for _, key := range sortedKeys(run.owned) {
			o := run.owned[key]
			if !o.answers(q.lookup) {
				continue
			}
			run.errorf(q.rng, "Look-up of own thing", "%s(%q) sees the host before the run, and %s, which %s at %s owns, is made by the run. %s",
				q.function, q.argument, key, o.address, where(o.rng), q.instead())
			break
		}
	}
}

func (q lookup) instead() string {
	if q.function == "machine_registered" {
		return "Read registered_before of the machine instead."
	}
	return "Use what the recipe says about it instead."
}

// answers says whether the thing is what a look-up asks about.
func (o ownedThing) answers(q lookup) bool {
	switch q.function {
	case "file_exists", "file_sha256":
		return o.kind == "path" && o.machine == "" && o.name == q.argument || o.holds(q.argument)
	case "glob":
		match, _ := path.Match(q.argument, o.name)
		return o.kind == "path" && o.machine == "" && match || o.holds(q.argument)
	case "executable":
		return o.kind == "path" && o.machine == "" && path.Base(o.name) == q.argument && strings.HasSuffix(path.Dir(o.name), "bin")
	case "machine_registered":
		return o.kind == "machine" && o.name == q.argument
	case "unit_state":
		return o.machine == "" && o.isUnit(q.argument)
	}
	return false
}

// holds says whether the thing is a machine whose tree holds a path.
func (o ownedThing) holds(name string) bool {
	if o.kind != "machine" {
		return false
	}
	root := rootOf(o.name)
	return name == root || strings.HasPrefix(name, root+"/")
}

// isUnit says whether the thing is a unit's file, drop-in, enablement or
// state.
func (o ownedThing) isUnit(unit string) bool {
	switch o.kind {
	case "unit-active", "unit-enabled":
		return o.name == unit
	case "path":
		dir := path.Base(path.Dir(o.name))
		return strings.Contains(o.name, "/systemd/system/") && (path.Base(o.name) == unit || dir == unit+".d")
	}
	return false
}
