package interpreterinstall

import (
	"errors"
	"fmt"

	"hostler/interpreter/block"
	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

// unit is one unit of the interpreter's own.
type unit struct {
	name, text string
	enabled    bool
	// delivered says that it may be there before the installation.
	delivered bool
}

func (u unit) path() string { return delivery.UnitPath(u.name) }

func (u unit) owns() []thing.Owned {
	owned := []thing.Owned{{Thing: thing.Path(u.path()), Delivered: u.delivered}}
	if u.enabled {
		owned = append(owned, thing.Owned{Thing: thing.UnitEnabled{Unit: u.name}, Foreign: true, Delivered: u.delivered})
	}
	return append(owned, thing.Owned{Thing: thing.UnitActive(u.name), Foreign: true, Delivered: u.delivered})
}

// unitPlan is what has to be done about one unit.
type unitPlan struct {
	unit
	// write says that the file is written.
	write  bool
	before thing.State
	old    string
	links  []unitfile.LinkOp
}

func (p unitPlan) needed() bool { return p.write || len(p.links) > 0 }

// plan compares a unit with what is there. A file that somebody edited stays as
// it is, and so does its enablement where its text does not say how.
func (u unit) plan(f host.FileView) (p unitPlan, err error) {
	p.unit = u
	if p.before, err = thing.LookPath(f, u.path()); err != nil {
		return p, fmt.Errorf("%s: %w", u.path(), err)
	}
	switch p.before.Kind {
	case thing.Directory, thing.Other:
		return p, fmt.Errorf("%s: a %s is there, where a unit file of hostler belongs; remove it", u.path(), p.before.Kind)
	case thing.File:
		text, err := thing.ReadAll(f, u.path())
		if err != nil {
			return p, fmt.Errorf("%s: %w", u.path(), err)
		}
		p.old = string(text)
		p.write = p.old == "" || delivery.Pristine(p.old) && p.old != u.text
	default:
		p.write = true
	}
	if u.enabled {
		p.links, err = p.enabling(f)
	}
	return p, err
}

func (p unitPlan) enabling(f host.FileView) ([]unitfile.LinkOp, error) {
	now, after := unitfile.Tree{Files: f}, unitfile.Tree{Files: f}
	if p.write {
		after.Pending = map[string][]byte{p.path(): []byte(p.text)}
	}
	want, err := after.Wanted(p.name)
	if errors.Is(err, unitfile.ErrNoInstall) || errors.Is(err, unitfile.ErrMasked) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	have, err := now.FamilyLinks(p.name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return now.Changes(have, want), nil
}

// apply writes the file and makes the links.
func (p unitPlan) apply(f host.Files) error {
	if p.write {
		if err := host.MakeParents(f, p.path(), 0o755); err != nil {
			return fmt.Errorf("%s: %w", p.path(), err)
		}
		if err := host.Replace(f, p.path(), host.Content{Bytes: []byte(p.text), Mode: 0o644}); err != nil {
			return fmt.Errorf("%s: %w", p.path(), err)
		}
	}
	if err := unitfile.Carry(f, p.links); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// words are the change as a plan shows it.
func (p unitPlan) words() block.Change {
	c := block.Change{Action: block.ActionUpdate, Bytes: p.write}
	if p.write {
		c.Action, c.Reason = block.ActionCreate, p.name+" is not there"
		if p.before.Kind != thing.Absent {
			c.Action, c.Reason = block.ActionUpdate, p.name+" differs"
		}
		d := block.Diff{Thing: string(thing.Path(p.path()).Key()), New: []byte(p.text)}
		if p.before.Kind == thing.File {
			d.Old = []byte(p.old)
		}
		c.Diffs = append(c.Diffs, d)
	}
	if len(p.links) > 0 {
		if c.Reason == "" {
			c.Reason = p.name + " is not enabled"
		}
		d := block.Diff{Thing: string(thing.UnitEnabled{Unit: p.name}.Key())}
		for _, op := range p.links {
			d.Note += op.String() + " "
		}
		c.Diffs = append(c.Diffs, d)
	}
	return c
}
