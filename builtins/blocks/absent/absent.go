// Package absent is the block that takes something away.
package absent

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"syscall"

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
		Name: "absent", Version: 1, Example: example,
		Doc: block.Doc{
			Summary: "Nothing at a path.",
			Text:    doc,
			Checks:  "That no file, link or directory is at the path.",
			Owns:    "`path:` and the path, with everything below it.",
			Resets:  "What was removed is put back, with modes, owners and times. What came to the path since, where there was nothing before, stays.",
		},
		Schema: block.Schema{Attrs: []block.Attr{
			block.AbsPath("path").Must().Names().Says("What is to be gone: a file, a link (never its target) or a directory with everything in it."),
		}},
		New: newStep,
	}
}

type step struct {
	Path string `cty:"path"`
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	s := &step{}
	if err := args.Into(s); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	if s.Path == "/" {
		return nil, hcl.Diagnostics{args.Fault("path", "Too much to remove", "\"/\" is the whole host; write the path of what is to go.")}
	}
	return s, nil
}

// Owns names the path. It may exist before: that is what the step is for.
func (s *step) Owns() []thing.Owned {
	return []thing.Owned{{Thing: thing.Tree(s.Path), Want: &thing.State{Kind: thing.Absent}, Foreign: true}}
}

// Check looks whether something is there.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	found, err := s.look(ctx, in.View)
	if err != nil {
		return block.OrUnknown(s.Path, err)
	}
	if found.Kind == thing.Absent {
		return block.NoChange(), nil
	}
	if m, err := in.View.Storage.Mount(ctx, s.Path); err == nil && m.ReadOnly {
		return block.Change{}, fmt.Errorf("%s: %w (mounted at %s)", s.Path, syscall.EROFS, m.Point)
	}
	diff, err := s.diff(in.View.Files, found)
	if err != nil {
		return block.OrUnknown(s.Path, err)
	}
	return block.Change{Action: block.ActionDelete, Reason: "a " + found.Kind + " is there", Bytes: true, Diffs: []block.Diff{diff}}, nil
}

func (s *step) look(ctx context.Context, v host.View) (thing.State, error) {
	if err := ctx.Err(); err != nil {
		return thing.State{}, err
	}
	found, err := thing.LookPath(v.Files, s.Path)
	if err != nil || found.Kind == thing.Absent {
		return found, err
	}
	switch {
	case found.Kind == thing.Other:
		return found, errors.New("a device, socket or pipe is there, which cannot be kept and put back; remove it by hand")
	case found.Kind == thing.Directory && strings.Count(s.Path, "/") == 1:
		return found, errors.New("a directory at the top of the file system is never removed; write the path of what is to go inside it")
	}
	point, err := thing.MountWithin(ctx, v, s.Path)
	if err == nil && point != "" {
		err = fmt.Errorf("%s is a mount point; unmount it first, nothing is removed across mounts", point)
	}
	return found, err
}

// biggest is how large a file may be whose bytes are put into a diff.
const biggest = 1 << 20

func (s *step) diff(f host.FileView, found thing.State) (block.Diff, error) {
	d := block.Diff{Thing: string(thing.Path(s.Path).Key()), OldMode: found.Mode}
	switch found.Kind {
	case thing.Link:
		d.Note = "link to " + found.Target
	case thing.Directory:
		names, err := host.Names(f, s.Path)
		d.Note = fmt.Sprintf("a directory with %d entries", len(names))
		return d, err
	case thing.File:
		world := len(found.Mode) == 4 && (found.Mode[3]-'0')&4 != 0
		if d.Secret = !world; found.Size > biggest {
			d.Note = fmt.Sprintf("a file of %d bytes", found.Size)
			return d, nil
		}
		var err error
		d.Old, err = thing.ReadAll(f, s.Path)
		return d, err
	}
	return d, nil
}

// Apply removes what is there.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	found, err := s.look(ctx, do.View)
	if err == nil && found.Kind != thing.Absent {
		err = thing.RemoveTree(ctx, do.Host, s.Path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	return nil
}

// Reset puts back what was removed.
func (s *step) Reset(ctx context.Context, do block.Do, _ thing.Thing, o thing.Origin) error {
	err := ctx.Err()
	if err == nil {
		err = thing.Tree(s.Path).PutBack(ctx, do.Host, o, do.Keep)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	return nil
}
