// Package iprule is the block for policy rules of routing.
package iprule

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

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
		Name: "ip_rule", Version: 1, Example: example, HostOnly: true,
		Doc: block.Doc{
			Summary: "A policy rule that leads to a routing table, or the absence of all of them.",
			Text:    doc,
			Checks:  "Whether the rule is there, in each family; with `state = \"absent\"`, whether any rule leads to the table.",
			Owns:    "`ip-rule:` and the rule; with `state = \"absent\"` `ip-rules:` and the table.",
			Resets:  "A rule that was added is removed; rules that were removed are added again.",
		},
		Schema: block.Schema{Attrs: []block.Attr{
			table("The routing table, by its number."),
			block.Choice("state", "present", "present", "absent").Says("`\"absent\"` removes every rule that leads to the table; then only `table` and `family` are given."),
			family(),
			number("priority", 1, 32765, "Its priority: rules are gone through from the lowest. Required unless it is to be absent."),
			prefix("from", "What packets come from."),
			prefix("to", "What packets go to."),
			mark(),
			block.Text("in").Names().Says("The link by which packets come in."),
		}},
		New: newStep,
	}
}

type step struct {
	table  int
	absent bool
	sets   []thing.RuleSet // one rule each, or one set of all
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a arguments
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	families, attr, why := a.families()
	switch {
	case why != "":
	case a.State == "absent" && (a.Priority != nil || a.From != nil || a.To != nil || a.Mark != nil || a.In != nil):
		attr, why = "state", "With state = \"absent\", every rule that leads to the table goes; leave out priority, from, to, mark and in."
	case a.State == "absent" && a.Table >= firstOwn && a.Table <= lastOwn:
		attr, why = "table", "The tables 253 to 255 (default, main, local) are the host's own, and it needs its rules for them; write another table."
	case a.State == "present" && a.Priority == nil:
		attr, why = "priority", "Write the rule's priority, for example 100: without one the kernel makes one up, and every run would add a rule."
	}
	if why != "" {
		return nil, hcl.Diagnostics{args.Fault(attr, "Invalid rule", why)}
	}
	s := &step{table: a.Table, absent: a.State == "absent"}
	if s.absent {
		s.sets = []thing.RuleSet{{Table: a.Table, Families: families}}
		return s, nil
	}
	for _, f := range families {
		rule := a.rule(f)
		s.sets = append(s.sets, thing.RuleSet{Rule: &rule})
	}
	return s, nil
}

// firstOwn and lastOwn are the tables that every host has.
const firstOwn, lastOwn = 253, 255

// families are those that the rule is for.
func (a arguments) families() (families []host.Family, attr, why string) {
	families = []host.Family{host.IPv4, host.IPv6}
	if a.Family != nil {
		families = []host.Family{host.Family(*a.Family)}
	}
	for _, side := range []struct {
		name  string
		given *string
	}{{"from", a.From}, {"to", a.To}} {
		if side.given == nil {
			continue
		}
		f, err := host.FamilyOf(*side.given)
		if err != nil || !slices.Contains(families, f) {
			return nil, side.name, fmt.Sprintf("%q is not of the family that is asked for; write one rule for each family.", *side.given)
		}
		families = []host.Family{f}
	}
	return families, "", ""
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (a arguments) rule(f host.Family) host.PolicyRule {
	r := host.PolicyRule{Family: f, Priority: *a.Priority, Table: a.Table, In: text(a.In)}
	for _, side := range []struct {
		given *string
		to    *string
	}{{a.From, &r.From}, {a.To, &r.To}} {
		if side.given != nil {
			if p, err := parsePrefix(*side.given); err == nil && p.Bits() > 0 {
				*side.to = p.String()
			}
		}
	}
	if a.Mark != nil {
		// The schema has parsed it before.
		r.Mark, r.Mask, _ = parseMark(*a.Mark)
	}
	return r
}

// Owns names the rule in each family, or all rules for the table.
func (s *step) Owns() []thing.Owned {
	want := thing.State{Kind: thing.Present}
	if s.absent {
		want = thing.State{Kind: thing.Absent}
	}
	var owned []thing.Owned
	for _, set := range s.sets {
		owned = append(owned, thing.Owned{Thing: set, Want: &want, Foreign: true})
	}
	return owned
}

// Check says which rules are to be added or removed.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	var parts []block.Change
	for _, set := range s.sets {
		if err := ctx.Err(); err != nil {
			return block.Change{}, named(set, err)
		}
		if !in.View.Identity.Live {
			continue
		}
		found, err := set.Look(ctx, in.View)
		if err != nil {
			return block.OrUnknown(set.Key().Name(), err)
		}
		if (found.Kind == thing.Absent) == s.absent {
			continue
		}
		c := block.Change{Action: block.ActionCreate, Reason: "the rule is not there", Diffs: []block.Diff{{Thing: string(set.Key()), Note: "added"}}}
		if s.absent {
			c.Action, c.Reason, c.Diffs[0].Note = block.ActionDelete, fmt.Sprintf("rules lead to table %d", s.table), "removed: "+strings.ReplaceAll(found.Value, "\n", ", ")
		}
		parts = append(parts, c)
	}
	if !in.View.Identity.Live && !s.absent {
		parts = append(parts, block.Change{Deferred: []string{fmt.Sprintf("the rule for table %d is added by the first run on the running host", s.table)}})
	}
	return block.Together(parts...), nil
}

// Apply adds the rules, or removes those that lead to the table.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	for _, set := range s.sets {
		if err := s.apply(ctx, do.Host, set); err != nil {
			return named(set, err)
		}
	}
	return nil
}

func (s *step) apply(ctx context.Context, h host.Host, set thing.RuleSet) error {
	if err := ctx.Err(); err != nil || !h.Identity.Live {
		return err
	}
	found, err := set.Find(ctx, h.View())
	if err != nil {
		return err
	}
	if !s.absent {
		r, err := host.RoutingOf(h.Network)
		if err == nil && len(found) == 0 {
			err = r.AddRule(ctx, *set.Rule)
		}
		return err
	}
	for _, rule := range found {
		// By priority and table alone, so that a rule that matches what a
		// PolicyRule cannot say goes too.
		if err := h.Network.DeleteRule(ctx, host.RuleState{Family: rule.Family, Priority: rule.Priority, Table: rule.Table}); err != nil {
			return err
		}
	}
	return nil
}

// Reset puts a set of rules back.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	for _, set := range s.sets {
		if set.Key() != t.Key() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return named(set, err)
		}
		return set.PutBack(ctx, do.Host, o, do.Keep)
	}
	return ctx.Err()
}

func named(set thing.RuleSet, err error) error { return fmt.Errorf("%s: %w", set.Key(), err) }
