package nspawnmachine

import (
	"context"
	"errors"
	"fmt"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// rootfsStep is the part that makes the tree, the settings and the drop-in,
// and enables the unit.
type rootfsStep struct{ *machine }

// Owns names the things of all slots. Reset goes backwards: the unit is
// disabled, the machine goes, then its files.
func (s *rootfsStep) Owns() []thing.Owned {
	var owned []thing.Owned
	for _, slot := range s.slots {
		if s.settings(slot) != nil {
			owned = append(owned, thing.Owned{Thing: thing.Path(settingsPath(slot)), Want: s.want(slot, settingsPath(slot))})
		}
		owned = append(owned,
			thing.Owned{Thing: thing.Path(dropInPath(slot)), Want: s.want(slot, dropInPath(slot))},
			thing.Owned{Thing: tree{slot}},
			thing.Owned{Thing: enabled(slot), Want: s.wantEnabled(slot), Foreign: true},
		)
	}
	return owned
}

// want is the state of a file, nil where it depends on the host's devices.
func (s *rootfsStep) want(slot, name string) *thing.State {
	if set := s.settings(slot); set != nil && len(set.BindIfExists)+len(set.ReadIfExists) > 0 {
		return nil
	}
	content := s.renderService(slot, nil)
	if name == settingsPath(slot) {
		content = s.renderSettings(s.settings(slot), nil)
	}
	return &thing.State{Kind: thing.File, Digest: thing.Digest(content), Size: int64(len(content)), Mode: "0644"}
}

func (s *rootfsStep) wantEnabled(slot string) *thing.State {
	if slot == s.active {
		return nil // which links it takes stands in systemd's own unit
	}
	state := thing.LinksState(nil, nil)
	return &state
}

// plan is everything that the part would do.
type plan struct {
	tree    treePlan
	files   []filePlan
	links   []linkPlan
	pending []block.Pending
}

// Check compares without changing anything.
func (s *rootfsStep) Check(ctx context.Context, in block.Look) (block.Change, error) {
	p, err := s.plan(ctx, in)
	if err != nil {
		change, err := block.OrUnknown("machine "+s.active, err)
		return change, block.Because(s.reason, err)
	}
	return p.change(), nil
}

func (s *rootfsStep) plan(ctx context.Context, in block.Look) (p plan, err error) {
	if err := ctx.Err(); err != nil {
		return p, err
	}
	if p.tree, err = s.planTree(ctx, in.View); err != nil {
		return p, err
	}
	files, err := s.files(in.View.Files)
	if err != nil {
		return p, err
	}
	for _, f := range files {
		if in.Replaces != "" && f.slot != s.active {
			continue // what the slot that is replaced may have to start with again
		}
		one, err := planFile(in.View.Files, f)
		if err != nil {
			return p, err
		}
		p.files = append(p.files, one)
	}
	if in.Replaces == "" {
		if p.links, err = s.planLinks(in.View.Files, files); err != nil {
			return p, err
		}
	}
	p.tree.pending = append(p.tree.pending, s.rebuilds(in)...)
	p.pending, err = s.restarts(ctx, in, p)
	p.pending = append(p.tree.pending, p.pending...)
	return p, err
}

// change sums the plan up: what is said first is what matters most.
func (p plan) change() block.Change {
	c := block.Change{Action: p.tree.action, Reason: p.tree.reason, Pending: p.pending, Made: p.tree.made}
	if c.Needed() {
		c.Bytes = true
		c.Diffs = append(c.Diffs, block.Diff{Thing: string(p.tree.key), Note: p.tree.reason})
	}
	note := func(action block.Action, reason string, d block.Diff) {
		if !c.Needed() {
			c.Action, c.Reason = action, reason
		}
		c.Diffs = append(c.Diffs, d)
	}
	for _, f := range p.files {
		if f.action != block.ActionNone {
			note(f.action, f.reason, f.diff)
			c.Bytes = c.Bytes || f.bytes
		}
	}
	for _, l := range p.links {
		if len(l.ops) > 0 {
			note(block.ActionUpdate, l.note, block.Diff{Thing: string(l.key), Note: l.note})
		}
	}
	return c
}

// Apply makes the tree first: an image that is no machine's fails before
// anything of it stands in the host's configuration.
func (s *rootfsStep) Apply(ctx context.Context, do block.Do) error {
	if err := s.place(ctx, do); err != nil {
		return block.Because(s.reason, s.named(err))
	}
	return nil
}

func (s *rootfsStep) place(ctx context.Context, do block.Do) error {
	host.AskAgain(do.Host.Machines) // nothing is built under a machine that runs
	p, err := s.plan(ctx, do.Look)
	if err == nil && p.tree.action != block.ActionNone {
		err = s.build(ctx, do, p.tree)
	}
	if err != nil {
		return err
	}
	for _, f := range p.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.apply(do.Host.Files); err != nil {
			return err
		}
	}
	for _, l := range p.links {
		if err := l.apply(do.Host.Files); err != nil {
			return err
		}
	}
	return nil
}

// Reset brings one thing back.
func (s *rootfsStep) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	err := ctx.Err()
	if err == nil {
		err = s.putBack(ctx, do, t.Key(), o)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.Key(), err)
	}
	return nil
}

func (s *rootfsStep) putBack(ctx context.Context, do block.Do, key thing.Key, o thing.Origin) error {
	for _, owned := range s.Owns() {
		if owned.Key() == key {
			return owned.PutBack(ctx, do.Host, o, do.Keep)
		}
	}
	return errors.New("it is none of the machine's things")
}

func enabled(slot string) thing.UnitEnabled { return thing.UnitEnabled{Unit: thing.MachineUnit(slot)} }
