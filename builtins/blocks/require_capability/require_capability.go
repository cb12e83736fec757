// Package requirecapability is the block for one fact about the host that must
// hold before anything is changed.
package requirecapability

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

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

// Options replace parts of the block that more than one way exists for.
type Options struct {
	// Image says whether the manifest of an image can be had, nil if so. The
	// default asks registries without credentials.
	Image func(ctx context.Context, v host.View, ref string) error
}

// Type returns the block type.
func Type() *block.Type { return TypeWith(Options{}) }

// TypeWith returns the block type with parts replaced.
func TypeWith(o Options) *block.Type {
	if o.Image == nil {
		o.Image = hasManifest
	}
	return &block.Type{
		Name: "require_capability", Version: 1, Example: example, HostOnly: true, Preflight: true,
		Retryable: []block.FaultClass{block.FaultNetwork, block.FaultBusy},
		Doc: block.Doc{
			Summary: "One fact about the host that must hold before anything is changed.",
			Text:    doc,
			Checks:  "The fact, without leaving anything behind.",
			Owns:    "Nothing; packages that it installs are not claimed.",
			Resets:  "Nothing; packages that it installed stay.",
		},
		Schema: schema(),
		New:    func(args block.Args) (block.Step, hcl.Diagnostics) { return newStep(args, o) },
	}
}

// probe looks at one fact. A finding says what does not hold; nil means that
// all is well. What cannot be known is an error that wraps host.ErrUnknown.
type probe func(ctx context.Context, in block.Look) (*finding, error)

// finding is a fact that does not hold.
type finding struct {
	summary, advice string
	// passing is set when trying again may help.
	passing block.FaultClass
}

type step struct {
	name     string // the probe and its subject, for errors
	probe    probe
	warning  bool
	packages map[string][]string
	image    bool // the host is image-managed
	declared bool // and says so itself
	tools    bool // what is missing is executables
}

func newStep(args block.Args, o Options) (block.Step, hcl.Diagnostics) {
	attr := func(name string) cty.Value { return args.Value.GetAttr(name) }
	kinds := probes(o)
	var given, all []string
	for _, k := range kinds {
		all = append(all, k.attr)
		if v := attr(k.attr); !v.IsNull() && !(v.Type().IsListType() && v.LengthInt() == 0) {
			given = append(given, k.attr)
		}
	}
	if len(given) == 0 {
		return nil, hcl.Diagnostics{args.Fault("", "Nothing required", "Write exactly one of "+strings.Join(all, ", ")+".")}
	}
	if len(given) > 1 {
		return nil, hcl.Diagnostics{args.Fault(given[1], "More than one requirement",
			fmt.Sprintf("One block holds one fact, and here are %s; write a block for each.", strings.Join(given, ", ")))}
	}
	if diags := belong(args, given[0]); diags.HasErrors() {
		return nil, diags
	}
	s := &step{
		name: given[0], warning: attr("severity").AsString() == "warning", image: args.Facts.ImageManaged, declared: args.Facts.OS.DeclaresImageManaged(),
		packages: packageLists(attr("packages")), tools: strings.HasPrefix(given[0], "executable") && given[0] != "executable_from",
	}
	for _, k := range kinds {
		if k.attr == given[0] {
			var subject string
			s.probe, subject = k.make(args.Value)
			s.name += " " + subject
		}
	}
	return s, nil
}

// belong refuses attributes that go with another probe.
func belong(args block.Args, probe string) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for attr, with := range map[string]string{
		"owner": "free_address", "ca_certificate": "reachable, image", "sha256": "image", "packages": "executable, executables, kernel_module",
	} {
		if !args.Value.GetAttr(attr).IsNull() && !strings.Contains(", "+with+",", ", "+probe+",") {
			diags = append(diags, args.Fault(attr, "Argument without its requirement", fmt.Sprintf("%s goes with %s and not with %s; leave it out.", attr, with, probe)))
		}
	}
	if v := args.Value.GetAttr("no_swap"); probe == "no_swap" && v.False() {
		diags = append(diags, args.Fault("no_swap", "Nothing required", "no_swap = false requires nothing; leave the block out, or use when."))
	}
	return diags
}

// Owns names nothing.
func (s *step) Owns() []thing.Owned { return nil }

// Check looks at the fact. One that does not hold is a *block.Unmet, unless
// installing packages will make it hold.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	found, err := s.look(ctx, in)
	if err != nil {
		return block.OrUnknown(s.name, err)
	}
	if found == nil {
		return block.NoChange(), nil
	}
	m, names, ok := s.installer(in.View)
	if !ok {
		return block.Change{}, s.unmet(in.View, found)
	}
	if !in.View.Identity.Live {
		return block.Unknown(fmt.Sprintf("%s; packages are installed on the running host", found.summary)), nil
	}
	return block.Change{Action: block.ActionRun, Reason: fmt.Sprintf("%s; %s installs %s", found.summary, m.command, strings.Join(names, ", "))}, nil
}

func (s *step) look(ctx context.Context, in block.Look) (*finding, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.probe(ctx, in)
}

func (s *step) unmet(v host.View, f *finding) error {
	var err error = &block.Unmet{Summary: f.summary, Advice: s.advice(v, f), Warning: s.warning}
	if f.passing != "" {
		err = &block.PassingError{Class: f.passing, Err: err}
	}
	return err
}

// advice says what to do, which for missing tools depends on how the host gets
// its software.
func (s *step) advice(v host.View, f *finding) string {
	names := s.packageNames()
	switch {
	case !s.tools:
		return f.advice
	case s.image:
		text := "this host's software comes with its image: use an image that has it, or add it as a system extension (systemd-sysext)"
		if !s.declared && names != "" {
			text += "; elsewhere it comes with " + names
		}
		return text
	case names == "":
		return f.advice
	}
	return "no package manager that the recipe knows a package for is on this host; install " + names + " yourself"
}

// packageNames are the packages that hold what is missing, each with its
// package manager.
func (s *step) packageNames() string {
	var names []string
	for _, m := range managers() {
		for _, name := range s.packages[m.key] {
			names = append(names, fmt.Sprintf("%s (%s)", name, m.key))
		}
	}
	return strings.Join(names, ", ")
}

// Apply installs what is missing, where that is possible and wanted.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	found, err := s.look(ctx, do.Look)
	if err != nil {
		if change, err := block.OrUnknown(s.name, err); err != nil || change.Needed() {
			return err
		}
	}
	if found == nil {
		return nil
	}
	m, names, ok := s.installer(do.View)
	switch {
	case !ok && s.warning:
		do.Warn(block.Warning{Summary: found.summary, Detail: s.advice(do.View, found)})
		return nil
	case !ok:
		return s.unmet(do.View, found)
	case !do.Host.Identity.Live:
		return nil
	}
	if err := m.install(ctx, do, names); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if found, err = s.look(ctx, do.Look); err != nil || found == nil {
		return err
	}
	return fmt.Errorf("%s: %s, although %s is installed: name the package that holds it", s.name, found.summary, strings.Join(names, ", "))
}

// Reset does nothing: what was installed stays.
func (s *step) Reset(ctx context.Context, _ block.Do, _ thing.Thing, _ thing.Origin) error {
	return ctx.Err()
}
