// Package kernelmodule is the block for a kernel module that is loaded now and
// at every boot.
package kernelmodule

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "kernel_module", Version: 1, Example: example, HostOnly: true,
		Doc: block.Doc{
			Summary: "A kernel module that is loaded now and at every boot.",
			Text:    doc,
			Checks:  "Whether the module is loaded or built in, and the file that loads it at boot. On a host that does not run, the file only.",
			Owns:    "`module:` and the module's name; `path:` and `/etc/modules-load.d/hostler-NAME.conf` with `boot`.",
			Resets:  "The file is removed. A loaded module stays until the next boot: others may use it by then.",
		},
		Schema: block.Schema{Attrs: []block.Attr{
			nameAttr(),
			block.Switch("load", true).Says("Whether it is loaded now."),
			block.Switch("boot", true).Says("Whether it is loaded at every boot."),
		}},
		New: newStep,
	}
}

var moduleName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

func nameAttr() block.Attr {
	a := block.Text("name").Names().Says("The module. The block's label when left out.")
	a.Grammar = "module name"
	a.Check = func(v cty.Value) error { return checkName(v.AsString()) }
	return a
}

func checkName(name string) error {
	if !moduleName.MatchString(name) || len(name) > 64 {
		return block.Advicef("%q is no kernel module's name; write one such as \"br_netfilter\".", name)
	}
	return nil
}

type step struct {
	name string // with underscores
	load bool
	file *block.WholeFile // nil without boot
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a struct {
		Name *string `cty:"name"`
		Load bool    `cty:"load"`
		Boot bool    `cty:"boot"`
	}
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	if a.Name == nil {
		a.Name = &args.Label
	}
	if err := checkName(*a.Name); err != nil {
		return nil, hcl.Diagnostics{args.Fault("name", "Invalid module name", err.Error())}
	}
	if !a.Load && !a.Boot {
		return nil, hcl.Diagnostics{args.Fault("load", "Nothing to do", "Leave out one of load = false and boot = false.")}
	}
	s := &step{name: thing.ModuleName(*a.Name), load: a.Load}
	if a.Boot {
		s.file = &block.WholeFile{
			Path: "/etc/modules-load.d/hostler-" + s.name + ".conf", Bytes: []byte(s.name + "\n"), Mode: 0o644, What: "the file for boot",
		}
	}
	return s, nil
}

// Owns names the file and the loaded module.
func (s *step) Owns() []thing.Owned {
	var owned []thing.Owned
	if s.file != nil {
		owned = append(owned, s.file.Owned())
	}
	if s.load {
		owned = append(owned, thing.Owned{Thing: thing.Module(s.name), Want: &thing.State{Kind: thing.Present}, Foreign: true})
	}
	return owned
}

// Check looks for the module and the file.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	var parts []block.Change
	if s.file != nil {
		change, err := s.file.Check(ctx, in.View)
		if err != nil {
			return block.OrUnknown(s.name, err)
		}
		parts = append(parts, change)
	}
	loading, err := s.loading(ctx, in.View)
	if err != nil {
		return block.OrUnknown("kernel module "+s.name, err)
	}
	return block.Together(append(parts, loading)...), nil
}

func (s *step) loading(ctx context.Context, v host.View) (block.Change, error) {
	switch {
	case ctx.Err() != nil:
		return block.Change{}, ctx.Err()
	case !v.Identity.Live && s.file != nil:
		return block.Change{Deferred: []string{"kernel module " + s.name + " is loaded at boot"}}, nil
	case !v.Identity.Live:
		return block.Change{Deferred: []string{"kernel module " + s.name + " is loaded by the first run on the running host"}}, nil
	case !s.load:
		return block.NoChange(), nil
	}
	loaded, err := v.Kernel.ModuleLoaded(ctx, s.name)
	if err != nil || loaded {
		return block.NoChange(), err
	}
	available, err := v.Kernel.ModuleAvailable(ctx, s.name)
	if err == nil && !available {
		return block.Unknown(s.missing(ctx, v)), nil
	}
	return block.Change{
		Action: block.ActionRun, Reason: "it is not loaded",
		Diffs: []block.Diff{{Thing: string(thing.Module(s.name).Key()), Note: "loaded"}},
	}, err
}

// missing says why the module cannot be loaded and what to do.
func (s *step) missing(ctx context.Context, v host.View) string {
	release, err := v.Kernel.Release(ctx)
	if err != nil {
		release = "this kernel"
	}
	return fmt.Sprintf("kernel module %s is not to be had for %s: install the package with the kernel's further modules, or reboot if the kernel was updated and its modules are gone", s.name, release)
}

// Apply writes the file and loads the module.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	if s.file != nil {
		if err := s.file.Apply(ctx, do.Host.Files); err != nil {
			return err
		}
	}
	if !do.Host.Identity.Live {
		return ctx.Err()
	}
	change, err := s.loading(ctx, do.View)
	switch {
	case err != nil:
	case change.Action == block.ActionUnknown:
		return fmt.Errorf("%s", change.Reason)
	case change.Needed():
		err = do.Host.Kernel.LoadModule(ctx, s.name)
	}
	if err != nil {
		return fmt.Errorf("kernel module %s: %w", s.name, err)
	}
	return nil
}

// Reset puts the file back; a loaded module stays.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	if s.file != nil && t.Key() == thing.Path(s.file.Path).Key() {
		return s.file.Reset(ctx, do, o)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("kernel module %s: %w", s.name, err)
	}
	return nil
}
