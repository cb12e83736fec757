// Package iproute is the block for routes.
package iproute

import (
	"context"
	_ "embed"
	"fmt"
	"net/netip"
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
		Name: "ip_route", Version: 1, Example: example, HostOnly: true,
		Doc: block.Doc{
			Summary: "A route in a routing table, or the absence of all routes of a table.",
			Text:    doc,
			Checks:  "Whether the route is there with its gateway and link; with `state = \"absent\"`, whether the table holds any route.",
			Owns:    "`ip-route:` with destination, metric and table; with `state = \"absent\"` `ip-routes:` and the table.",
			Resets:  "A route that was added is removed, one that was replaced comes back, and routes that were removed are added again.",
		},
		Schema: schema(),
		New:    newStep,
	}
}

type step struct {
	set    thing.RouteSet
	absent bool
}

// firstOwn and lastOwn are the tables that every host has.
const firstOwn, lastOwn = 253, 255

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a arguments
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	if attr, why := a.fault(); why != "" {
		return nil, hcl.Diagnostics{args.Fault(attr, "Invalid route", why)}
	}
	if a.State == "absent" {
		set := thing.RouteSet{Table: a.Table, Families: []host.Family{host.IPv4, host.IPv6}}
		if a.Family != nil {
			set.Families = []host.Family{host.Family(*a.Family)}
		}
		return &step{set: set, absent: true}, nil
	}
	route, err := a.route()
	if err != nil {
		return nil, hcl.Diagnostics{args.Fault("to", "Invalid route", err.Error())}
	}
	return &step{set: thing.RouteSet{Route: &route}}, nil
}

// fault is what is wrong and with which attribute, "" for nothing.
func (a arguments) fault() (attr, why string) {
	more := a.To != nil || a.Via != nil || a.Link != nil || a.Metric != nil || a.Type != "unicast"
	switch {
	case a.State == "absent" && more:
		return "state", "With state = \"absent\", every route of the table goes; leave out to, via, link, metric and type."
	case a.State == "absent" && a.Table >= firstOwn && a.Table <= lastOwn:
		return "table", "The tables 253 to 255 (default, main, local) are the host's own and are never emptied; write another table."
	case a.State == "absent":
		return "", ""
	case a.To == nil:
		return "to", "Write where the route leads, for example \"10.0.0.0/8\"."
	case a.Family != nil:
		return "family", "The family is that of to; leave it out."
	case a.Table == lastOwn:
		return "table", "The table 255 (local) is the kernel's; write another table."
	case a.Type != "unicast" && (a.Via != nil || a.Link != nil):
		return "type", "A route that drops packets has no gateway and no link; leave out via and link."
	case a.Type == "unicast" && a.Via == nil && a.Link == nil:
		return "via", "Write a gateway as via, a link, or both."
	}
	return "", ""
}

func (a arguments) route() (host.Route, error) {
	p, err := parsePrefix(*a.To)
	if err != nil {
		return host.Route{}, err
	}
	r := host.Route{Family: host.IPv4, Table: a.Table, To: p.String()}
	if p.Addr().Is6() {
		r.Family = host.IPv6
	}
	if a.Via != nil {
		via, err := netip.ParseAddr(*a.Via)
		if err != nil || via.Is6() != p.Addr().Is6() {
			return r, block.Advicef("to and via are of different address families.")
		}
		r.Via = via.String()
	}
	if a.Link != nil {
		r.Link = *a.Link
	}
	if a.Metric != nil {
		r.Metric = *a.Metric
	}
	if a.Type != "unicast" {
		r.Type = a.Type
	}
	return r, nil
}

// Owns names the route, or all of the table.
func (s *step) Owns() []thing.Owned {
	want := thing.State{Kind: thing.Absent}
	if s.absent {
		return []thing.Owned{{Thing: s.set, Want: &want, Foreign: true}}
	}
	if s.set.Route.Link == "" && s.set.Route.Type == "" {
		return []thing.Owned{{Thing: s.set, Foreign: true}} // the kernel finds the link
	}
	want = s.set.Wanted()
	return []thing.Owned{{Thing: s.set, Want: &want, Foreign: true}}
}

// Check compares the route with what it should be.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	if err := ctx.Err(); err != nil {
		return block.Change{}, s.named(err)
	}
	if !in.View.Identity.Live {
		if s.absent {
			return block.NoChange(), nil // routes do not outlive a boot
		}
		return block.Change{Action: block.ActionNone, Deferred: []string{"the route to " + s.set.Route.To + " is added by the first run on the running host"}}, nil
	}
	found, err := s.set.Find(ctx, in.View)
	if err != nil {
		return block.OrUnknown(s.set.Key().Name(), err)
	}
	if s.holds(found) {
		return block.NoChange(), nil
	}
	c := block.Change{Action: block.ActionUpdate, Reason: "it leads elsewhere", Diffs: []block.Diff{{Thing: string(s.set.Key()), Note: describe(found) + " -> "}}}
	switch {
	case s.absent:
		c.Action, c.Reason = block.ActionDelete, fmt.Sprintf("table %d holds routes", s.set.Table)
		c.Diffs[0].Note += "none"
		return c, nil
	case len(found) == 0:
		c.Action, c.Reason = block.ActionCreate, "it is not there"
	}
	c.Diffs[0].Note += describe([]host.Route{*s.set.Route})
	return c, nil
}

// holds says whether the routes found are those wanted. A link that is not
// given may be any.
func (s *step) holds(found []host.Route) bool {
	if s.absent {
		return len(found) == 0
	}
	return slices.ContainsFunc(found, func(r host.Route) bool {
		if s.set.Route.Link == "" {
			r.Link = ""
		}
		return r == *s.set.Route
	})
}

func describe(routes []host.Route) string {
	var texts []string
	for _, r := range routes {
		text := strings.TrimSpace(r.Type + " " + r.To)
		if r.Via != "" {
			text += " via " + r.Via
		}
		if r.Link != "" {
			text += " over " + r.Link
		}
		texts = append(texts, text)
	}
	if texts == nil {
		return "none"
	}
	return strings.Join(texts, ", ")
}

// Apply adds the route, or empties the table.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	err := ctx.Err()
	if err == nil && do.Host.Identity.Live {
		err = s.apply(ctx, do.Host)
	}
	if err != nil {
		return s.named(err)
	}
	return nil
}

func (s *step) apply(ctx context.Context, h host.Host) error {
	found, err := s.set.Find(ctx, h.View())
	if err != nil || s.holds(found) {
		return err
	}
	if !s.absent {
		r, err := host.RoutingOf(h.Network)
		if err == nil {
			err = r.AddRoute(ctx, *s.set.Route)
		}
		return err
	}
	for _, f := range s.set.Families {
		if slices.ContainsFunc(found, func(r host.Route) bool { return r.Family == f }) {
			if err := h.Network.FlushTable(ctx, host.TableState{Family: f, Table: s.set.Table}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Reset puts the route, or those of the table, back.
func (s *step) Reset(ctx context.Context, do block.Do, _ thing.Thing, o thing.Origin) error {
	if err := ctx.Err(); err != nil {
		return s.named(err)
	}
	return s.set.PutBack(ctx, do.Host, o, do.Keep)
}

func (s *step) named(err error) error { return fmt.Errorf("%s: %w", s.set.Key(), err) }
