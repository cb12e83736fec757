// Package networklink is the block for a network link that exists only in
// software, with its addresses.
package networklink

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
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

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "network_link", Version: 1, Example: example, HostOnly: true,
		Doc: block.Doc{
			Summary: "A dummy or bridge link with its addresses, or its absence.",
			Text:    doc,
			Checks:  "That the link is there and up, its kind and its addresses; link-local IPv6 addresses do not count.",
			Owns:    "`link:` and the link's name.",
			Resets:  "A link that was made is deleted; one that was there gets its addresses back, and one that was deleted is made again.",
		},
		Schema: block.Schema{Attrs: []block.Attr{
			name(),
			block.Choice("kind", "dummy", "dummy", "bridge").Says("What kind of link it is. A link of that name and another kind is an error: it is somebody else's."),
			addresses(),
			block.Choice("state", "present", "present", "absent").Says("Whether it is to be there."),
		}},
		New: newStep,
	}
}

// linkName is what the kernel takes, without what shells and files would trip
// over.
var linkName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$`)

func name() block.Attr {
	a := block.Text("name").Names().Says("The link, at most 15 characters. The block's label when left out.")
	a.Check = func(v cty.Value) error { return checkName(v.AsString()) }
	return a
}

func checkName(name string) error {
	if !linkName.MatchString(name) || name == "lo" {
		return block.Advicef("%q is no name for a link; write at most 15 letters, digits, and _ . - inside.", name)
	}
	return nil
}

func addresses() block.Attr {
	a := block.Texts("addresses").Says("Its addresses with their prefix lengths, for example `[\"169.254.10.10/32\"]`. Others are taken away.")
	a.Grammar = "list of addresses"
	a.Check = func(v cty.Value) error {
		for _, one := range v.AsValueSlice() {
			if one.IsNull() || !one.IsKnown() {
				continue
			}
			p, err := netip.ParsePrefix(one.AsString())
			if err != nil || p.String() != one.AsString() || p.Addr().Is6() && p.Addr().IsLinkLocalUnicast() {
				return block.Advicef("%q is no address with a prefix length in its shortest form; write one such as \"169.254.10.10/32\" or \"fd00::1/64\".", one.AsString())
			}
		}
		return nil
	}
	return a
}

type step struct {
	link      thing.NetLink
	addresses []string // sorted
	absent    bool
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a struct {
		Name      *string  `cty:"name"`
		Kind      string   `cty:"kind"`
		Addresses []string `cty:"addresses"`
		State     string   `cty:"state"`
	}
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	if a.Name == nil {
		a.Name = &args.Label
	}
	if err := checkName(*a.Name); err != nil {
		return nil, hcl.Diagnostics{args.Fault("name", "Invalid link name", err.Error())}
	}
	s := &step{link: thing.NetLink{Name: *a.Name, Kind: a.Kind}, addresses: slices.Clone(a.Addresses), absent: a.State == "absent"}
	if s.absent && len(a.Addresses) > 0 {
		return nil, hcl.Diagnostics{args.Fault("addresses", "Addresses of an absent link", "A link that is not there has no addresses; leave them out.")}
	}
	slices.Sort(s.addresses)
	return s, nil
}

func (s *step) want() thing.State {
	if s.absent {
		return thing.State{Kind: thing.Absent}
	}
	return thing.State{Kind: thing.Present, Value: strings.TrimSpace(s.link.Kind + " " + strings.Join(s.addresses, " "))}
}

// Owns names the link.
func (s *step) Owns() []thing.Owned {
	want := s.want()
	return []thing.Owned{{Thing: s.link, Want: &want, Foreign: true}}
}

// Check compares the link with what it should be.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	if err := ctx.Err(); err != nil {
		return block.Change{}, s.named(err)
	}
	if !in.View.Identity.Live {
		if s.absent {
			return block.NoChange(), nil // links do not outlive a boot
		}
		return block.Change{Action: block.ActionNone, Deferred: []string{"network link " + s.link.Name + " is made by the first run on the running host"}}, nil
	}
	found, err := s.look(ctx, in.View)
	if err != nil {
		return block.OrUnknown("network link "+s.link.Name, err)
	}
	want := s.want()
	if found.Same(want) {
		return s.up(ctx, in.View)
	}
	c := block.Change{Action: block.ActionUpdate, Reason: "its addresses differ", Diffs: []block.Diff{{
		Thing: string(s.link.Key()), Note: or(found.Value, "none") + " -> " + or(want.Value, "none"),
	}}}
	switch {
	case s.absent:
		c.Action, c.Reason = block.ActionDelete, "it is there"
	case found.Kind == thing.Absent:
		c.Action, c.Reason = block.ActionCreate, "it is not there"
	}
	return c, nil
}

// up says whether a link that has its addresses has to be set up.
func (s *step) up(ctx context.Context, v host.View) (block.Change, error) {
	down, err := s.link.Down(ctx, v)
	if err != nil {
		return block.OrUnknown("network link "+s.link.Name, err)
	}
	if !down || s.absent {
		return block.NoChange(), nil
	}
	return block.Change{Action: block.ActionUpdate, Reason: "it is down", Diffs: []block.Diff{{Thing: string(s.link.Key()), Note: "down -> up"}}}, nil
}

func or(s, empty string) string {
	if s == "" {
		return empty
	}
	return s
}

// look refuses a link of another kind.
func (s *step) look(ctx context.Context, v host.View) (thing.State, error) {
	found, err := s.link.Look(ctx, v)
	kind, _, _ := strings.Cut(found.Value, " ")
	if err == nil && found.Kind == thing.Present && kind != s.link.Kind {
		err = fmt.Errorf("a link of kind %q is there, and not %q: it is not ours and stays; give another name", kind, s.link.Kind)
	}
	return found, err
}

// Apply makes the link, sets its addresses, or deletes it.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	err := ctx.Err()
	var found thing.State
	if err == nil && do.Host.Identity.Live {
		found, err = s.look(ctx, do.View)
	}
	switch {
	case err != nil || !do.Host.Identity.Live || s.absent && found.Same(s.want()):
	case s.absent:
		err = do.Host.Network.DeleteLink(ctx, s.link.Name)
	default:
		err = s.link.Bring(ctx, do.Host, s.addresses)
	}
	return s.named(err)
}

// Reset deletes the link, or brings the former one back.
func (s *step) Reset(ctx context.Context, do block.Do, _ thing.Thing, o thing.Origin) error {
	err := ctx.Err()
	if err == nil {
		err = s.link.PutBack(ctx, do.Host, o, do.Keep)
	}
	if errors.Is(err, host.ErrUnknown) {
		return err
	}
	return s.named(err)
}

func (s *step) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("network link %s: %w", s.link.Name, err)
}
