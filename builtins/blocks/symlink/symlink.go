// Package symlink is the block for one symbolic link.
package symlink

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
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
		Name: "symlink", Version: 1, Example: example,
		Doc: block.Doc{
			Summary: "A symbolic link.",
			Text:    doc,
			Checks:  "That a link is there and its target, letter by letter. Whether the target exists is not looked at.",
			Owns:    "`path:` and the path of the link; never its target.",
			Resets:  "A link that was not there is removed; what was there before is put back.",
		},
		Schema: block.Schema{
			Attrs: []block.Attr{
				block.AbsPath("path").Must().Names().Says("Where the link stands. Missing parent directories are made."),
				block.Text("target").Must().Says("What it leads to, absolute or relative to the link's directory; stored as written."),
			},
			Exports: []block.Attr{block.AbsPath("path").Says("The path of the link.")},
		},
		New:     newStep,
		Exports: exports,
	}
}

func exports(args block.Args) (map[string]block.Export, error) {
	return map[string]block.Export{"path": {Value: args.Value.GetAttr("path")}}, nil
}

type step struct {
	Path   string `cty:"path"`
	Target string `cty:"target"`
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	s := &step{}
	if err := args.Into(s); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	leads := s.Target
	if !path.IsAbs(leads) {
		leads = path.Join(path.Dir(s.Path), leads)
	}
	switch {
	case s.Path == "/":
		return nil, hcl.Diagnostics{args.Fault("path", "Not a link", "\"/\" is the root directory; write the path of the link.")}
	case s.Target == "":
		return nil, hcl.Diagnostics{args.Fault("target", "Empty target", "Write what the link leads to.")}
	case path.Clean(leads) == s.Path:
		return nil, hcl.Diagnostics{args.Fault("target", "Link to itself", fmt.Sprintf("%s would lead to itself; write another target.", s.Path))}
	}
	return s, nil
}

// Owns names the link.
func (s *step) Owns() []thing.Owned {
	return []thing.Owned{{Thing: thing.Path(s.Path), Want: &thing.State{Kind: thing.Link, Target: s.Target}}}
}

// Check compares the link with what it should be.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	found, err := s.look(ctx, in.View)
	if err != nil {
		return block.OrUnknown(s.Path, err)
	}
	change := s.change(found)
	if m, err := in.View.Storage.Mount(ctx, path.Dir(s.Path)); change.Needed() && err == nil && m.ReadOnly {
		return block.Change{}, fmt.Errorf("%s: %w (mounted at %s); choose a path on a writable one", s.Path, syscall.EROFS, m.Point)
	}
	return change, nil
}

func (s *step) look(ctx context.Context, v host.View) (thing.State, error) {
	if err := ctx.Err(); err != nil {
		return thing.State{}, err
	}
	found, err := thing.LookPath(v.Files, s.Path)
	if err == nil && (found.Kind == thing.Directory || found.Kind == thing.Other) {
		err = errors.New("a directory or device is there, where the recipe wants a link; remove it, or give another path")
	}
	return found, err
}

func (s *step) change(found thing.State) block.Change {
	diff := block.Diff{Thing: string(thing.Path(s.Path).Key())}
	c := block.Change{Bytes: true}
	switch {
	case found.Kind == thing.Link && found.Target == s.Target:
		return s.owner(found)
	case found.Kind == thing.Link:
		c.Action, c.Reason, diff.Note = block.ActionUpdate, "target differs", found.Target+" -> "+s.Target
	case found.Kind == thing.Absent:
		c.Action, c.Reason, diff.Note = block.ActionCreate, "it is not there", "link to "+s.Target
	default:
		c.Action, c.Reason, diff.Note = block.ActionReplace, "a file is there", "a file -> link to "+s.Target
	}
	c.Diffs = []block.Diff{diff}
	return c
}

// owner sees to it that the link is root's, as every link of a recipe.
func (s *step) owner(found thing.State) block.Change {
	if found.UID == 0 && found.GID == 0 {
		return block.NoChange()
	}
	return block.Change{Action: block.ActionUpdate, Reason: "owner differs", Diffs: []block.Diff{{
		Thing: string(thing.Path(s.Path).Key()), OldOwner: fmt.Sprintf("%d:%d", found.UID, found.GID), NewOwner: "0:0",
	}}}
}

// Apply makes the link, or replaces the file or link that is there.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	found, err := s.look(ctx, do.View)
	if err == nil && s.change(found).Needed() {
		err = s.write(do.Host.Files)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	return nil
}

func (s *step) write(f host.Files) error {
	if err := host.MakeParents(f, s.Path, 0o755); err != nil {
		return err
	}
	return host.Symlink(f, s.Target, s.Path)
}

// Reset removes the link, or puts back what was there.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	err := ctx.Err()
	if err == nil {
		err = thing.Path(s.Path).PutBack(ctx, do.Host, o, do.Keep)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	return nil
}
