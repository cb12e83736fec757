// Package directory is the block for one directory with its mode and owner.
package directory

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"syscall"

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
		Name: "directory", Version: 1, Example: example,
		Doc: block.Doc{
			Summary: "A directory with its mode and owner.",
			Text:    doc,
			Checks:  "That a directory is there, its mode, owner and group. What it holds is not looked at.",
			Owns:    "`path:` and the path; not what is in the directory.",
			Resets:  "A directory that was not there is removed; it must be empty. One that was gets its mode and owner back.",
		},
		Schema: block.Schema{
			Attrs: []block.Attr{
				block.AbsPath("path").Must().Names().Says("Where the directory stands. Missing parent directories are made."),
				block.Mode("mode", "0755").Says("Its permissions, always enforced."),
				block.Owner("owner").Says("Its owner, always enforced; root when left out."),
				block.Group("group").Says("Its group, always enforced; root when left out."),
			},
			Exports: []block.Attr{block.AbsPath("path").Says("The path.")},
		},
		New:     newStep,
		Exports: exports,
	}
}

func exports(args block.Args) (map[string]block.Export, error) {
	return map[string]block.Export{"path": {Value: args.Value.GetAttr("path")}}, nil
}

type arguments struct {
	Path  string    `cty:"path"`
	Mode  string    `cty:"mode"`
	Owner cty.Value `cty:"owner"`
	Group cty.Value `cty:"group"`
}

type step struct {
	path         string
	mode         uint32
	owner, group string
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a arguments
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	if a.Path == "/" {
		return nil, hcl.Diagnostics{args.Fault("path", "Not a directory to own", "\"/\" is the root directory itself; write the path of a directory below it.")}
	}
	mode, err := block.ParseMode(a.Mode)
	if err != nil {
		return nil, hcl.Diagnostics{args.Fault("mode", "Invalid mode", err.Error())}
	}
	return &step{path: a.Path, mode: mode, owner: text(a.Owner), group: text(a.Group)}, nil
}

func text(v cty.Value) string {
	if v.IsNull() {
		return ""
	}
	return v.AsString()
}

// Owns names the directory.
func (s *step) Owns() []thing.Owned {
	uid, gid, known := block.OwnerNumbers(s.owner, s.group)
	if !known {
		uid, gid = thing.AnyID, thing.AnyID
	}
	want := thing.State{Kind: thing.Directory, Mode: thing.Mode(host.FileMode(s.mode)), UID: uid, GID: gid}
	return []thing.Owned{{Thing: thing.Dir(s.path), Want: &want}}
}

// Check compares the directory with what it should be.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	found, want, err := s.look(ctx, in.View)
	if missing, ok := errors.AsType[*block.NoAccountError](err); ok {
		return block.Unknown(fmt.Sprintf("%s: %v", s.path, missing)), nil
	}
	if err != nil {
		return block.OrUnknown(s.path, err)
	}
	change := s.change(found, want)
	if m, err := in.View.Storage.Mount(ctx, s.path); change.Needed() && err == nil && m.ReadOnly {
		return block.Change{}, fmt.Errorf("%s: %w (mounted at %s); choose a path on a writable one", s.path, syscall.EROFS, m.Point)
	}
	return change, nil
}

func (s *step) look(ctx context.Context, v host.View) (found thing.State, want host.Access, err error) {
	if err := ctx.Err(); err != nil {
		return found, want, err
	}
	if found, err = thing.LookPath(v.Files, s.path); err != nil {
		return found, want, err
	}
	switch found.Kind {
	case thing.Link:
		return found, want, fmt.Errorf("a link to %s is there, where the recipe wants a directory; remove it, or name the directory it leads to", found.Target)
	case thing.File, thing.Other:
		return found, want, errors.New("a file is there, where the recipe wants a directory; remove it, or give another path")
	}
	want.Mode = s.mode
	want.UID, want.GID, err = block.LookupOwner(v, s.owner, s.group)
	return found, want, err
}

func (s *step) change(found thing.State, want host.Access) block.Change {
	diff := block.Diff{Thing: string(thing.Path(s.path).Key())}
	mode, owner := thing.Mode(host.FileMode(want.Mode)), fmt.Sprintf("%d:%d", want.UID, want.GID)
	if found.Kind == thing.Absent {
		diff.NewMode, diff.NewOwner, diff.Note = mode, owner, "a directory"
		return block.Change{Action: block.ActionCreate, Reason: "it is not there", Bytes: true, Diffs: []block.Diff{diff}}
	}
	var reasons []string
	if found.Mode != mode {
		diff.OldMode, diff.NewMode = found.Mode, mode
		reasons = append(reasons, "mode differs")
	}
	if old := fmt.Sprintf("%d:%d", found.UID, found.GID); old != owner {
		diff.OldOwner, diff.NewOwner = old, owner
		reasons = append(reasons, "owner differs")
	}
	if len(reasons) == 0 {
		return block.NoChange()
	}
	return block.Change{Action: block.ActionUpdate, Reason: strings.Join(reasons, ", "), Diffs: []block.Diff{diff}}
}

// Apply makes the directory, or puts its mode and owner right.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	found, want, err := s.look(ctx, do.View)
	switch {
	case err != nil:
	case found.Kind == thing.Absent:
		if err = host.MakeParents(do.Host.Files, s.path, 0o755); err == nil {
			err = host.MakeDir(do.Host.Files, s.path, want)
		}
	case s.change(found, want).Needed():
		if err = host.SetAccess(do.Host.Files, s.path, want); err == nil {
			err = host.SyncDir(do.Host.Files, s.path)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

// Reset removes the directory, or gives it back as it was.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	err := ctx.Err()
	if err == nil {
		err = thing.Dir(s.path).PutBack(ctx, do.Host, o, do.Keep)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}
