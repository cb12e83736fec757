// Package nspawnmachine is the block for a systemd-nspawn machine: its root
// file system, its settings, its start, and when it counts as ready. What is
// done inside stands in nested steps between these parts.
package nspawnmachine

import (
	_ "embed"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// The parts that are the machine's own.
const (
	phaseRootfs = "rootfs"
	phaseBoot   = "boot"
	phaseReady  = "ready"
)

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "nspawn_machine", Version: 1, Example: example,
		Doc: block.Doc{
			Summary: "A systemd-nspawn machine, from its image to its readiness.",
			Text:    doc,
			Checks: "The completion mark of the tree and what it was unpacked from, the settings file and the drop-in byte for byte, the links that " +
				"enable the unit, whether the machine runs, and the units and files of `ready`.",
			Owns: "Of each slot `path:/etc/systemd/nspawn/SLOT.nspawn`, `path:/etc/systemd/system/systemd-nspawn@SLOT.service.d/10-hostler.conf`, " +
				"`machine:SLOT` and `unit-enabled:systemd-nspawn@SLOT.service`; of the active slot `unit-active:systemd-nspawn@SLOT.service`.",
			Resets: "The machine is stopped and its tree removed with all that is in it; links and files go, or what was there before comes back.",
		},
		Schema: schema(),
		Phases: []block.Phase{
			// First, so that the walk back comes to it when the machine has stopped.
			{Name: block.PartAfterStop, Steps: true, Bare: "reset_step"},
			{Name: phaseRootfs}, {Name: "before_boot", Steps: true, Inside: true, AtRest: true}, {Name: phaseBoot},
			{Name: "after_boot", Steps: true, Inside: true}, {Name: phaseReady},
		},
		HostOnly:  true,
		Retryable: []block.FaultClass{block.FaultNetwork},
		New:       newStep,
		Exports:   exports,
	}
}

func schema() block.Schema {
	name := block.Text("name").Names().Says("The machine's name; the default is the label. With `for_each` it is required.")
	name.Grammar, name.Check = "machine name", onString(checkName)
	slots := block.Texts("slots").Names().Says("The names of two or more machines of which one is active; a repave builds the other one. In place of `name`.")
	slots.Grammar, slots.Check = "list of machine names", checkSlots
	return block.Schema{
		Attrs: []block.Attr{
			name, slots,
			block.Texts("rebuild_on").Says("Values that a running machine cannot follow: when one of them is another than it was built with, a repave is pending."),
			block.Duration("responsive_timeout", "30s").Says("How long the machine's own manager may take to answer after the start."),
		},
		Blocks: []block.Nested{
			{Name: "rootfs", Min: 1, Max: 1, Doc: "Where the machine's tree comes from.", Schema: rootfsSchema()},
			{Name: "settings", Max: 1, PerSlot: true, Doc: "Becomes `/etc/systemd/nspawn/SLOT.nspawn`: directives as they are, a list repeats.", Schema: settingsSchema()},
			{Name: "service", Max: 1, PerSlot: true, Doc: "Becomes the drop-in of the machine's unit.", Schema: block.Schema{Attrs: []block.Attr{
				directives("unit", "Unit").Says("Directives of the section `[Unit]`."),
				directives("service", "Service").Says("Directives of the section `[Service]`."),
			}}},
			{Name: "before_boot", Max: 1, Steps: true, Doc: "Steps in the tree, whether the machine runs or not. They write files and enable units, and never start or stop anything."},
			{Name: "after_boot", Max: 1, Steps: true, Doc: "Steps in the running machine, once it answers."},
			{Name: "ready", Doc: "When the machine counts as ready, after `after_boot`. All of them must hold.", Schema: readySchema()},
			{Name: block.PartAfterStop, Max: 1, Steps: true, Doc: "Actions as in `reset_step`, with or without that block around them, and steps that own nothing. They act on the host after a slot has stopped, in a repave or reset."},
		},
		Exports: []block.Attr{
			block.Text("name").Says("The name of the slot being built or active."),
			block.AbsPath("root").Says("Its tree on the host."),
			block.Switch("registered_before", false).Says("Whether one of the slots was registered before the run changed anything."),
		},
	}
}

func rootfsSchema() block.Schema {
	return block.Schema{Attrs: []block.Attr{
		block.Text("image").Must().Says("`REGISTRY/NAME:TAG` or `REGISTRY/NAME@sha256:DIGEST`, `oci-layout:PATH[:TAG]`, or a tar: an `https://` address or an absolute path."),
		block.Text("sha256").Says("The digest of a tar's bytes in hexadecimal. Required for https; for a local tar it saves reading it at every check."),
		block.Text("ca_certificate").Says("The certificate of who signs for the image's server, in PEM or as the path of a file, trusted for it beside the host's own."),
		block.Text("platform").Says("`OS/ARCHITECTURE[/VARIANT]`; the default is the host's."),
		failureReason(),
	}}
}

func settingsSchema() block.Schema {
	binds := block.Texts("bind_if_exists").Says("Paths or patterns (`/dev/nvidia*`). Those that exist on the host are bound into the machine, and devices among them are allowed to its unit.")
	reads := block.Texts("bind_read_only_if_exists").Says("The same, bound read-only: what the machine uses and must not change, such as libraries of a driver.")
	binds.Grammar, binds.Check = "list of absolute path patterns", checkPatterns
	reads.Grammar, reads.Check = binds.Grammar, checkPatterns
	return block.Schema{Attrs: []block.Attr{
		directives("exec", "Exec").Says("Directives of the section `[Exec]`."),
		directives("network", "Network").Says("Directives of the section `[Network]`."),
		directives("files", "Files").Says("Directives of the section `[Files]`."),
		binds, reads,
	}}
}

func readySchema() block.Schema {
	diagnostics := block.Attr{
		Name: "on_timeout", Type: cty.List(cty.List(cty.String)), Grammar: "list of argv", Check: checkCommands,
		Doc: "Commands that are run inside when the time is up; what they print stands in the error.",
	}
	return block.Schema{Attrs: []block.Attr{
		block.UnitName("unit").Says("A unit inside that must be active. Exactly one of `unit`, `command` and `file` is given."),
		block.Argv("command").Says("A command inside that must exit 0. It is asked once after each start that a run makes, not at every check."),
		block.AbsPath("file").Says("A path inside that must be there."),
		block.Duration("timeout", "60s").Says("How long to wait for it."),
		block.Duration("interval", "2s").Says("How long to wait between two tries."),
		diagnostics, failureReason(),
	}}
}

// failureReason is the common argument for one part of the machine.
func failureReason() block.Attr {
	a := block.Text("failure_reason").Says("The class that a failure of this part is reported as; the default is the machine's `failure_reason`.")
	a.Grammar, a.Check = "word in CamelCase", onString(block.CheckReason)
	return a
}

func onString(check func(string) error) func(cty.Value) error {
	return func(v cty.Value) error { return check(v.AsString()) }
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	m, diags := newMachine(args)
	if diags.HasErrors() {
		return nil, diags
	}
	switch args.Phase {
	case phaseBoot:
		return &bootStep{m}, diags
	case phaseReady:
		return &readyStep{machine: m}, diags
	}
	return &rootfsStep{m}, diags
}

func exports(args block.Args) (map[string]block.Export, error) {
	m, diags := newMachine(args)
	if diags.HasErrors() {
		return nil, errors.New(diags[0].Detail)
	}
	if m.active == "" {
		return nil, fmt.Errorf("%s has no name", args.Address)
	}
	return map[string]block.Export{
		"name":              {Value: cty.StringVal(m.active)},
		"root":              {Value: cty.StringVal(host.MachineRoot(m.active))},
		"registered_before": {Value: cty.UnknownVal(cty.Bool), Registered: m.slots},
	}, nil
}
