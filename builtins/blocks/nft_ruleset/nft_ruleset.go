// Package nftruleset is the block for a ruleset of nftables that is loaded
// before machines start, and never while one of them runs.
package nftruleset

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	systemdunit "hostler/builtins/blocks/systemd_unit"
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
		Name: "nft_ruleset", Version: 1, Example: example, HostOnly: true,
		Doc: block.Doc{
			Summary: "An nftables ruleset that is loaded before machines start.",
			Text:    doc,
			Checks:  "The file with the rules, and the file, enablement and state of the unit that loads it. The rules in force are not looked at.",
			Owns:    "`path:` and the rules; `path:`, `unit-active:` and `unit-enabled:` of the unit.",
			Resets:  "The unit is disabled and removed, and so is the file. Rules in force stay: they are anybody's by then; delete a table of your own with a `reset_step`.",
		},
		Schema: schema(),
		New:    newStep,
	}
}

type step struct {
	rules  block.WholeFile
	slim   string // the digest of rules that are not there
	made   systemdunit.Made
	unit   block.Step
	unless []string
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a arguments
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	name := "hostler-nft-" + args.Label + ".service"
	if a.Unit != nil {
		name = *a.Unit
	}
	if err := block.CheckUnitName(name); err != nil || !strings.HasSuffix(name, ".service") {
		return nil, hcl.Diagnostics{args.Fault("unit", "Invalid unit name", fmt.Sprintf("%q is no name of a service; write one such as \"hostler-nft-flush.service\".", name))}
	}
	if len(a.Machines) == 0 {
		return nil, hcl.Diagnostics{args.Fault("machines", "No machine", "Name the machines before which the rules are loaded.")}
	}
	s := &step{unless: a.Machines, slim: args.Holes["content"].Digest}
	if len(a.Unless) > 0 {
		s.unless = a.Unless[0].Machines
	}
	s.rules = block.WholeFile{Path: a.Path, Mode: 0o600, What: "the ruleset"}
	if a.Content != nil {
		s.rules.Bytes = []byte(*a.Content)
	}
	s.made = systemdunit.Made{Name: name, Content: s.content(a), StartUnless: s.unless}
	var diags hcl.Diagnostics
	s.unit, diags = s.made.Step(args, "unit")
	return s, diags
}

// content is the unit. It comes after what loads the host's own firewall, which
// would else undo it; an order after units that are not there is harmless. Only
// the machines' own units pull it in. The condition is asked by a program, so
// that no shell is needed: machined keeps a file for each registered machine.
func (s *step) content(a arguments) string {
	var units, guards strings.Builder
	for _, m := range a.Machines {
		fmt.Fprintf(&units, " %s", thing.MachineUnit(m))
	}
	for _, m := range s.unless {
		fmt.Fprintf(&guards, "ExecCondition=/usr/bin/test ! -e /run/systemd/machines/%s\n", m)
	}
	before := strings.TrimSpace(units.String())
	return "[Unit]\nDescription=Load the nftables ruleset " + a.Path + "\n" +
		"After=iptables.service ip6tables.service nftables.service\nBefore=" + before + "\n\n" +
		"[Service]\nType=oneshot\n" + guards.String() + "ExecStart=nft -f " + a.Path + "\n\n" +
		"[Install]\nRequiredBy=" + before + "\n"
}

// Owns names the rules and what belongs to the unit.
func (s *step) Owns() []thing.Owned {
	rules := s.rules.Owned()
	if s.slim != "" {
		rules.Want.Digest = s.slim
	}
	return append([]thing.Owned{rules}, s.unit.Owns()...)
}

// Check looks at the rules and the unit.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	rules, err := s.checkRules(ctx, in.View)
	if err != nil {
		return block.OrUnknown(s.rules.Path, err)
	}
	unit, err := s.unit.Check(ctx, in)
	if err != nil {
		return block.Change{}, err
	}
	return block.Together(rules, unit), nil
}

func (s *step) checkRules(ctx context.Context, v host.View) (block.Change, error) {
	if s.slim == "" {
		return s.rules.Check(ctx, v)
	}
	found, err := thing.LookPath(v.Files, s.rules.Path)
	if err == nil && found.Digest != s.slim {
		err = host.Unknownf("the ruleset is not stored")
	}
	return block.NoChange(), errors.Join(err, ctx.Err())
}

// Apply puts the rules in place, if nft takes them, and the unit. New rules are
// loaded unless a machine is registered.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	change, err := s.checkRules(ctx, do.View)
	if err != nil {
		return named(s.rules.Path, err)
	}
	fresh := change.Needed() && change.Bytes
	rules := s.rules
	rules.Validate = func(tmp string) error { return s.validate(ctx, do, tmp) }
	if err := rules.Apply(ctx, do.Host.Files); err != nil {
		return err
	}
	starts, err := s.unit.Check(ctx, do.Look)
	if err == nil {
		err = s.unit.Apply(ctx, do)
	}
	if err != nil || !fresh || startsUnit(starts, s.made) || !do.Host.Identity.Live {
		return err
	}
	return s.load(ctx, do)
}

// startsUnit says whether a change starts the unit, which loads the rules.
func startsUnit(c block.Change, made systemdunit.Made) bool {
	return slices.ContainsFunc(c.Diffs, func(d block.Diff) bool { return d.Thing == string(made.Active().Key()) })
}

// load starts the unit again, which has run with former rules.
func (s *step) load(ctx context.Context, do block.Do) error {
	registered, err := do.Host.Machines.Registered(ctx)
	if err != nil {
		return named(s.made.Name, fmt.Errorf("start_unless: the machines cannot be listed: %w", err))
	}
	for _, m := range registered {
		if slices.Contains(s.unless, m.Name) {
			do.Warn(block.Warning{
				Summary: "The new rules of " + s.rules.Path + " are not loaded",
				Detail:  "Machine " + m.Name + " is registered; they are loaded before it starts next.",
			})
			return nil
		}
	}
	_, err = thing.Start(ctx, do.Host, s.made.Name)
	return err
}

// validate has nft read the new file without carrying it out, where nft and a
// running kernel are there.
func (s *step) validate(ctx context.Context, do block.Do, tmp string) error {
	if err := ctx.Err(); err != nil || !do.Host.Identity.Live {
		return err
	}
	_, err := do.Host.Commands.Run(ctx, host.Command{Argv: []string{"nft", "-c", "-f", tmp}})
	switch {
	case errors.Is(err, host.ErrNoTool):
		do.Warn(block.Warning{Summary: s.rules.Path + " was not checked", Detail: "nft is not installed, so its syntax was not checked and it will not be loaded."})
		return nil
	case errors.Is(err, host.ErrUnknown):
		return nil
	case err != nil:
		return fmt.Errorf("nft refuses the ruleset, and the file is as before: %w", err)
	}
	return nil
}

// Reset puts the rules or a part of the unit back.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	if t.Key() == thing.Path(s.rules.Path).Key() {
		return s.rules.Reset(ctx, do, o)
	}
	return s.unit.Reset(ctx, do, t, o)
}

func named(what string, err error) error { return fmt.Errorf("%s: %w", what, err) }
