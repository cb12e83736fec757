package systemdunit

import (
	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

// Made is an enabled and started unit whose file another block type writes, as
// a part of its own step.
type Made struct {
	Name    string
	Content string
	// StartUnless are machines while one of which is registered the unit is
	// not started.
	StartUnless []string
}

// Step makes the step of the unit. Its faults are put at the attribute.
func (m Made) Step(args block.Args, attr string) (block.Step, hcl.Diagnostics) {
	on, state, never := true, started, "never"
	s := &step{name: m.Name, own: true}
	s.args = arguments{Mode: "0644", Enable: &on, State: &state, Restart: &never, OnStopFailure: "error"}
	if len(m.StartUnless) > 0 {
		s.args.StartUnless = []unless{{Machines: m.StartUnless}}
	}
	var err error
	if s.unit, err = unitfile.ParseName(m.Name); err == nil {
		s.files = []file{{path: m.Path(), mode: 0o644, known: true, bytes: []byte(m.Content)}}
		_, err = s.after(nil).Wanted(m.Name)
	}
	if err != nil {
		return nil, hcl.Diagnostics{args.Fault(attr, "Not usable in a unit", sentence(err.Error()))}
	}
	return s, nil
}

// Path is where the unit's file is.
func (m Made) Path() string { return unitfile.EtcDir + "/" + m.Name }

// Active is the unit's state as a thing.
func (m Made) Active() thing.UnitActive { return thing.UnitActive(m.Name) }
