package systemdunit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

// plan is what stands on the host against what should.
type plan struct {
	files []filePlan
	links linkPlan
	run   runPlan
}

// filePlan is one file's part.
type filePlan struct {
	file
	found thing.State
	old   []byte
	write bool // bytes differ
	chmod bool // only mode or owner differ
}

func (p filePlan) changes() bool { return p.write || p.chmod }

// Check compares files, links and state with what they should be.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	p, err := s.plan(ctx, in)
	if errors.Is(err, unitfile.ErrNoUnit) {
		return block.Unknown(fmt.Sprintf("there is no unit file of %s yet", s.name)), nil
	}
	if err != nil {
		return block.OrUnknown(s.name, err)
	}
	change := p.change(s.name)
	if !change.Needed() && p.run.unknown != "" {
		return block.Unknown(p.run.unknown), nil
	}
	for _, f := range p.files {
		if f.write {
			if err := writable(ctx, in.View, f.path); err != nil {
				return block.Change{}, err
			}
		}
	}
	return change, nil
}

func (s *step) plan(ctx context.Context, in block.Look) (p plan, err error) {
	if err := ctx.Err(); err != nil {
		return p, err
	}
	if err := s.placeable(in.View.Files); err != nil {
		return p, err
	}
	for _, f := range s.files {
		fp, err := planFile(in, f)
		if err != nil {
			return p, err
		}
		p.files = append(p.files, fp)
	}
	if p.links, err = s.planLinks(in.View.Files); err != nil {
		return p, err
	}
	p.run, err = s.planRun(ctx, in, p)
	return p, err
}

// placeable refuses content for a name that is an alias of another unit here.
func (s *step) placeable(f host.FileView) error {
	if !s.own {
		return nil
	}
	u, err := unitfile.Tree{Files: f}.Find(s.name)
	if err != nil {
		return err
	}
	if u.Name != s.unit {
		return fmt.Errorf("the name is an alias of %s on this host; give the content to %s, or take the alias away first", u.Name, u.Name)
	}
	return nil
}

func planFile(in block.Look, f file) (p filePlan, err error) {
	p.file = f
	if p.found, err = thing.LookPath(in.View.Files, f.path); err != nil {
		return p, err
	}
	switch p.found.Kind {
	case thing.Directory, thing.Other:
		return p, fmt.Errorf("%s: a %s is there, where the recipe wants a file; remove it first", f.path, p.found.Kind)
	}
	same, err := f.same(in, p.found)
	if err != nil {
		return p, err
	}
	mode := thing.Mode(host.FileMode(f.mode))
	p.write = !same
	p.chmod = same && (p.found.Mode != mode || p.found.UID != 0 || p.found.GID != 0)
	if p.write && p.found.Kind == thing.File {
		p.old, err = thing.ReadAll(in.View.Files, f.path)
	}
	return p, err
}

// writable foresees a write that a read-only mount would refuse.
func writable(ctx context.Context, v host.View, name string) error {
	m, err := v.Storage.Mount(ctx, name)
	if err != nil || !m.ReadOnly {
		return nil // what cannot be foreseen, the write itself tells
	}
	return fmt.Errorf("%s: %w (mounted at %s); unit files need a writable /etc", name, syscall.EROFS, m.Point)
}

// change words the plan.
func (p plan) change(name string) block.Change {
	c := block.Change{Action: block.ActionUpdate, Deferred: p.run.deferred}
	var reasons []string
	for i, f := range p.files {
		if !f.changes() {
			continue
		}
		reason, diff := f.words()
		reasons, c.Diffs = append(reasons, reason), append(c.Diffs, diff)
		c.Bytes = c.Bytes || f.write
		if i == 0 && f.found.Kind == thing.Absent && !strings.HasSuffix(f.path, ".conf") {
			c.Action = block.ActionCreate
		}
	}
	if p.links.changes() {
		reasons = append(reasons, p.links.reason)
		c.Diffs = append(c.Diffs, block.Diff{Thing: string(thing.UnitEnabled{Unit: name}.Key()), Note: p.links.note()})
	}
	if p.run.verb != "" {
		if len(reasons) == 0 {
			c.Wait = p.run.wait
		}
		reasons = append(reasons, p.run.reason)
		c.Diffs = append(c.Diffs, block.Diff{Thing: string(thing.UnitActive(name).Key()), Note: p.run.note})
	}
	if len(reasons) == 0 {
		return block.Change{Action: block.ActionNone, Deferred: p.run.deferred}
	}
	c.Reason = strings.Join(reasons, ", ")
	return c
}

// words are the reason and the diff of a file that changes.
func (p filePlan) words() (reason string, d block.Diff) {
	what := "the unit file"
	if strings.HasSuffix(p.path, ".conf") {
		what = "drop-in " + p.path[strings.LastIndexByte(p.path, '/')+1:]
	}
	d = block.Diff{Thing: string(thing.Path(p.path).Key()), Secret: p.hides()}
	if p.write {
		d.Old, d.New = p.old, p.bytes
		if p.known && d.New == nil {
			d.New = []byte{}
		}
	}
	p.access(&d)
	switch {
	case p.found.Kind == thing.Absent:
		return what + " is not there", d
	case p.found.Kind == thing.Link:
		d.Note = "a link to " + p.found.Target + " -> a file"
		return "a link is in the place of " + what, d
	case p.write:
		return what + " differs", d
	case d.NewMode != "":
		return "the mode of " + what + " differs", d
	}
	return "the owner of " + what + " differs", d
}

func (p filePlan) access(d *block.Diff) {
	mode := thing.Mode(host.FileMode(p.mode))
	if p.found.Kind != thing.File {
		d.NewMode, d.NewOwner = mode, "0:0"
		return
	}
	if p.found.Mode != mode {
		d.OldMode, d.NewMode = p.found.Mode, mode
	}
	if p.found.UID != 0 || p.found.GID != 0 {
		d.OldOwner, d.NewOwner = fmt.Sprintf("%d:%d", p.found.UID, p.found.GID), "0:0"
	}
}

// hides says whether the bytes must not be shown: they are sensitive, or not
// everyone on the host may read them.
func (p filePlan) hides() bool {
	if p.found.Kind == thing.File && len(p.found.Mode) == 4 && (p.found.Mode[3]-'0')&4 == 0 {
		return true
	}
	return p.secret || p.hole != nil || p.mode&0o004 == 0
}
