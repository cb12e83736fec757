package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// making turns evaluated arguments into placed steps.
type making struct {
	frame *frame
	in    *instance
	e     *evaluation
	p     block.Placed
	args  block.Args
	at    position
}

// make places the step: one, or its parts with the nested steps between them.
func (m *making) make() {
	if m.ready() {
		before, err := len(m.run().list), m.export()
		defer func() {
			// The type says it better where it says it at all.
			if err != nil && !m.run().list[before:].HasErrors() {
				m.run().errorf(m.in.step.rng, "Step cannot be made", "%s", capital(err.Error()))
			}
		}()
		m.store()
	}
	if m.in.step.typ.Phases == nil {
		m.part("")
		return
	}
	for i := range m.in.step.typ.Phases {
		phase := &m.in.step.typ.Phases[i]
		if phase.Steps {
			m.nest(phase)
			continue
		}
		m.part(phase.Name)
	}
}

// ready says whether everything about the step is known.
func (m *making) ready() bool { return !m.e.failed && m.e.unknown == "" }

func (m *making) run() *run { return m.frame.run }

// export asks the type what later steps may read.
func (m *making) export() error {
	typ := m.in.step.typ
	if typ.Exports == nil {
		return nil
	}
	got, err := typ.Exports(m.args)
	if err != nil {
		return err
	}
	attrs := map[string]cty.Value{}
	for _, a := range typ.Schema.Exports {
		v := cty.NullVal(a.Type)
		if e, ok := got[a.Name]; ok {
			v = m.exported(e, a)
		}
		attrs[a.Name] = v
	}
	m.in.exports = cty.ObjectVal(attrs)
	return nil
}

// exported is the value of one export.
func (m *making) exported(e block.Export, a block.Attr) cty.Value {
	v := e.Value
	if reads := m.in.step.reads; len(e.Registered) > 0 && (reads[a.Name] || reads[allRead]) {
		v = m.registered(e.Registered)
	}
	if v == cty.NilVal || v.Type() != a.Type {
		v = cty.UnknownVal(a.Type)
	}
	if a.Sensitive && len(m.e.secret) > 0 {
		v = block.MarkSensitive(v)
	}
	return v
}

// registered asks, once, whether one of the machines is registered.
func (m *making) registered(names []string) cty.Value {
	args := make([]cty.Value, len(names))
	for i, name := range names {
		args[i] = cty.StringVal(name)
	}
	run := m.run()
	defer func() { run.pending = nil }()
	v, err := run.functions["machine_registered"].Call(args)
	if err != nil {
		run.errorf(m.in.step.rng, "Machines not listed", "Whether %s is registered cannot be told: %s", oneOf(names), stop(err))
		return cty.UnknownVal(cty.Bool)
	}
	return v
}

// store makes the plain data that the record keeps.
func (m *making) store() {
	data, err := block.Plain(m.in.step.typ.Schema, m.args.Value, m.e.stored)
	if err != nil {
		m.run().errorf(m.in.step.rng, "Step cannot be stored", "%s.", capital(err.Error()))
		return
	}
	m.p.Data = data
}

// part makes one part of the step, "" for the only one, and places it.
func (m *making) part(phase string) {
	p := m.p
	p.Phase = phase
	if phase != "" {
		p.Stage = m.stageOf(phase)
	}
	if !m.ready() || p.Deferred != "" {
		m.place(p)
		return
	}
	args := m.args
	args.Phase = phase
	step, diags := m.in.step.typ.New(args)
	m.run().add(m.ranged(diags)...)
	if diags.HasErrors() || step == nil {
		return
	}
	p.Step = step
	m.place(p)
}

// place appends a step to the program.
func (m *making) place(p block.Placed) {
	run := m.run()
	if p.Deferred != "" {
		p.Step, p.Data = nil, nil
	}
	if p.Step != nil && !p.Forward() && len(p.Step.Owns()) > 0 {
		run.errorf(m.in.step.rng, "Misplaced step", "A %s owns things, and nothing drives to what stands in %s. Write it at the top level, or a reset action here.", p.Type.Name, p.Part)
	}
	run.placed = append(run.placed, p)
	if p.Step != nil {
		run.owns(p, m.at.maybe)
	}
}

// ranged gives diagnostics without a range that of the block.
func (m *making) ranged(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range diags {
		if d.Subject == nil {
			rng := m.in.step.rng
			d.Subject = &rng
		}
	}
	return diags
}

// stageOf is the stage that is shown for a phase of the step.
func (m *making) stageOf(phase string) string {
	if m.p.Stage == "" {
		return m.in.step.label + "/" + phase
	}
	return m.p.Stage + "/" + phase
}

// nest evaluates the steps nested in a phase.
func (m *making) nest(phase *block.Phase) {
	at := position{owner: m.in, stage: m.stageOf(phase.Name), deferred: m.p.Deferred, part: phase.Name, maybe: m.at.maybe}
	if at.deferred != "" {
		at.deferred = m.in.step.address() + " is deferred: " + m.p.Deferred
	}
	if phase.Inside {
		at.machine = m.p.Self
	}
	for _, it := range m.in.step.parts[phase.Name] {
		m.frame.item(it, at)
	}
}

// rootOf is where a machine's tree is on the host.
func rootOf(machine string) string { return host.MachineRoot(machine) }
