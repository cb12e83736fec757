// Package accounts is the block for system users and groups, by a drop-in of
// systemd-sysusers.
package accounts

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
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
		Name: "accounts", Version: 1, Example: example,
		Doc: block.Doc{
			Summary: "System users and groups.",
			Text:    doc,
			Checks:  "The drop-in file, and that each user, group and membership is in the host's account files. Numbers of accounts that were there before are not compared.",
			Owns:    "`path:` and the drop-in; `user:`, `group:` and `member:USER/GROUP`.",
			Resets:  "Users, groups and memberships that were not there before are taken out of the account files; what belongs to them on disks stays. The drop-in is removed.",
		},
		Schema: schema(),
		New:    newStep,
	}
}

const dir = "/etc/sysusers.d"

// step is a drop-in and the accounts it makes.
type step struct {
	file  block.WholeFile
	wants []thing.Account
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a arguments
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	if path.Dir(a.Path) != dir || !strings.HasSuffix(a.Path, ".conf") || path.Base(a.Path)[0] == '.' {
		return nil, hcl.Diagnostics{args.Fault("path", "Not read by systemd-sysusers", fmt.Sprintf("%q is not read by systemd-sysusers; write for example %q.", a.Path, dir+"/demo.conf"))}
	}
	if diags := a.faults(args); diags.HasErrors() {
		return nil, diags
	}
	s := &step{wants: a.wants()}
	s.file = block.WholeFile{Path: a.Path, Bytes: []byte(a.text()), Mode: 0o644, What: "the drop-in"}
	return s, nil
}

// Owns names the drop-in, groups, users and memberships: reset goes backwards.
func (s *step) Owns() []thing.Owned {
	owned := []thing.Owned{s.file.Owned()}
	for _, w := range s.wants {
		owned = append(owned, thing.Owned{Thing: w, Foreign: true})
	}
	return owned
}

// Check looks at the drop-in and into the account files.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	change, err := s.file.Check(ctx, in.View)
	if err != nil {
		return block.OrUnknown(s.file.Path, err)
	}
	parts := []block.Change{change}
	missing, err := s.missing(ctx, in.View)
	switch {
	case err != nil:
		return block.OrUnknown(s.file.Path, err)
	case len(missing) > 0 && !in.View.Identity.Live:
		parts = append(parts, block.Change{Deferred: []string{"accounts of " + s.file.Path + " are made at boot"}})
	case len(missing) > 0:
		made := block.Change{Action: block.ActionRun, Reason: fmt.Sprintf("%s %s is not there", missing[0].Kind, missing[0].Name)}
		for _, m := range missing {
			made.Diffs = append(made.Diffs, block.Diff{Thing: string(m.Key()), Note: "made"})
		}
		parts = append(parts, made)
	}
	return block.Together(parts...), nil
}

func (s *step) missing(ctx context.Context, v host.View) (missing []thing.Account, err error) {
	for _, w := range s.wants {
		found, err := w.Look(ctx, v)
		if err != nil {
			return nil, err
		}
		if found.Kind == thing.Absent {
			missing = append(missing, w)
		}
	}
	return missing, nil
}

// Apply writes the drop-in and has it carried out.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	if err := s.file.Apply(ctx, do.Host.Files); err != nil {
		return err
	}
	missing, err := s.missing(ctx, do.View)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file.Path, err)
	}
	if len(missing) == 0 || !do.Host.Identity.Live {
		return nil
	}
	if u, shadow := do.Host.Files.(host.Unknowable); shadow {
		for _, file := range []string{thing.PasswdFile, thing.GroupFile} {
			u.MarkUnknown(file, "the accounts of "+s.file.Path+" are not made yet")
		}
		return nil
	}
	_, err = do.Host.Commands.Run(ctx, host.Command{Argv: []string{"systemd-sysusers", s.file.Path}})
	if errors.Is(err, host.ErrNoTool) {
		err = fmt.Errorf("%w; this host has no systemd-sysusers: have its image or a package bring the accounts", err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.file.Path, err)
	}
	return nil
}

// Reset takes an account out, or puts the drop-in back.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	if t.Key() == thing.Path(s.file.Path).Key() {
		return s.file.Reset(ctx, do, o)
	}
	err := ctx.Err()
	for _, w := range s.wants {
		if err == nil && w.Key() == t.Key() {
			return w.PutBack(ctx, do.Host, o, do.Keep)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.Key(), err)
	}
	return nil
}
