// Package mount is the block for a mounted file system, by a mount unit of
// systemd.
package mount

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	systemdunit "hostler/builtins/blocks/systemd_unit"
	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "mount", Version: 1, Example: example,
		Doc: block.Doc{
			Summary: "A file system that is mounted now and at every boot.",
			Text:    doc,
			Checks:  "The mount unit's file, its enablement, whether it is active, and that the mount point is a directory.",
			Owns:    "`path:` and the mount point; `path:`, `unit-active:` and `unit-enabled:` of the mount unit, whose name systemd makes of the mount point.",
			Resets:  "The unit is disabled and stopped, which unmounts, its file is removed, and so is the mount point if it was made.",
		},
		Schema: block.Schema{
			Attrs: []block.Attr{
				line(block.Text("what").Must().Says("What is mounted: a device, `\"bpf\"`, `\"tmpfs\"`, `\"server:/export\"`, …")),
				block.AbsPath("where").Must().Names().Says("The mount point. It is made if it is missing."),
				line(block.Text("type").Must().Says("The type of the file system: `\"ext4\"`, `\"bpf\"`, `\"tmpfs\"`, `\"nfs\"`, …")),
				block.Texts("options").Says("Mount options, for example `[\"ro\", \"nosuid\"]`."),
				units("required_by", "Units that need it, for example `[\"systemd-nspawn@kube1.service\"]`: it is mounted before each of them starts."),
			},
			Exports: []block.Attr{block.AbsPath("where").Says("The mount point.")},
		},
		New: newStep,
		Exports: func(args block.Args) (map[string]block.Export, error) {
			return map[string]block.Export{"where": {Value: args.Value.GetAttr("where")}}, nil
		},
	}
}

// line makes an attribute one whose value stands in one line of a unit file.
func line(a block.Attr) block.Attr {
	a.Check = func(v cty.Value) error { return checkLine(v.AsString()) }
	return a
}

func checkLine(s string) error {
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsAny(s, "\n\r\x00") || strings.HasSuffix(s, `\`) {
		return block.Advicef("%q cannot stand in a unit file; write one line without blanks at its ends.", s)
	}
	return nil
}

func units(name, doc string) block.Attr {
	a := block.Texts(name).Says(doc)
	a.Grammar = "list of unit names"
	check := a.Check
	a.Check = func(v cty.Value) error {
		err := check(v)
		for _, unit := range v.AsValueSlice() {
			if err == nil && unit.IsKnown() {
				err = block.CheckUnitName(unit.AsString())
			}
		}
		return err
	}
	return a
}

type arguments struct {
	What       string   `cty:"what"`
	Where      string   `cty:"where"`
	Type       string   `cty:"type"`
	Options    []string `cty:"options"`
	RequiredBy []string `cty:"required_by"`
}

type step struct {
	where string
	made  systemdunit.Made
	unit  block.Step
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a arguments
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	escaped, err := unitfile.EscapePath(a.Where)
	if err != nil || a.Where == "/" {
		return nil, hcl.Diagnostics{args.Fault("where", "Not a mount point", "\"/\" is mounted already; write the path of a directory below it.")}
	}
	for _, option := range a.Options {
		if err := checkLine(option); err != nil || strings.Contains(option, ",") {
			return nil, hcl.Diagnostics{args.Fault("options", "Invalid mount option", fmt.Sprintf("%q is no single mount option; write each as a string of its own.", option))}
		}
	}
	s := &step{where: a.Where, made: systemdunit.Made{Name: escaped + ".mount", Content: a.content()}}
	var diags hcl.Diagnostics
	s.unit, diags = s.made.Step(args, "where")
	if diags.HasErrors() {
		return nil, diags
	}
	return s, nil
}

// content is the unit's file.
func (a arguments) content() string {
	var b strings.Builder
	esc := unitfile.EscapeSpecifiers
	fmt.Fprintf(&b, "[Unit]\nDescription=%s on %s\n", esc(a.Type), esc(a.Where))
	if len(a.RequiredBy) > 0 {
		fmt.Fprintf(&b, "Before=%s\n", esc(strings.Join(a.RequiredBy, " ")))
	}
	fmt.Fprintf(&b, "\n[Mount]\nWhat=%s\nWhere=%s\nType=%s\n", esc(a.What), esc(a.Where), esc(a.Type))
	if len(a.Options) > 0 {
		fmt.Fprintf(&b, "Options=%s\n", esc(strings.Join(a.Options, ",")))
	}
	target := "local-fs.target"
	if a.remote() {
		target = "remote-fs.target"
	}
	fmt.Fprintf(&b, "\n[Install]\nWantedBy=%s\n", target)
	if len(a.RequiredBy) > 0 {
		fmt.Fprintf(&b, "RequiredBy=%s\n", esc(strings.Join(a.RequiredBy, " ")))
	}
	return b.String()
}

// remote says whether the file system needs the network.
func (a arguments) remote() bool {
	for _, option := range a.Options {
		if option == "_netdev" {
			return true
		}
	}
	switch a.Type {
	case "nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "9p", "afs", "sshfs", "fuse.sshfs", "davfs":
		return true
	}
	return false
}

func (s *step) dir() thing.Dir { return thing.Dir(s.where) }

// Owns names the mount point and what belongs to the unit: reset goes
// backwards, and the directory can go only once nothing is mounted there.
func (s *step) Owns() []thing.Owned {
	return append([]thing.Owned{{Thing: s.dir(), Foreign: true}}, s.unit.Owns()...)
}

// Check looks at the mount point and the unit.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	point, err := s.point(ctx, in.View)
	if err != nil {
		return block.OrUnknown(s.where, err)
	}
	unit, err := s.unit.Check(ctx, in)
	if err != nil {
		return block.Change{}, err
	}
	return block.Together(point, unit), nil
}

// point says whether the mount point has to be made. Something that is mounted
// there by others is an error: systemd would take it for ours.
func (s *step) point(ctx context.Context, v host.View) (block.Change, error) {
	if err := ctx.Err(); err != nil {
		return block.Change{}, err
	}
	found, err := thing.LookPath(v.Files, s.where)
	switch {
	case err != nil:
		return block.Change{}, err
	case found.Kind == thing.Absent:
		d := block.Diff{Thing: string(s.dir().Key()), NewMode: "0755", NewOwner: "0:0", Note: "a directory"}
		return block.Change{Action: block.ActionCreate, Reason: "the mount point is not there", Diffs: []block.Diff{d}}, nil
	case found.Kind != thing.Directory:
		return block.Change{}, fmt.Errorf("a %s is there, where something is to be mounted; remove it, or give another path", found.Kind)
	}
	return block.NoChange(), s.foreign(ctx, v)
}

func (s *step) foreign(ctx context.Context, v host.View) error {
	if _, err := host.Lstat(v.Files, s.made.Path()); !host.Absent(err) {
		return err
	}
	mounts, err := v.Storage.Mounts(ctx)
	if errors.Is(err, host.ErrUnknown) {
		return nil
	}
	for _, m := range mounts {
		if m.Point == s.where {
			return fmt.Errorf("%s (%s) is mounted there already, and not by this recipe; unmount it, or leave this step out", m.Source, m.Type)
		}
	}
	return err
}

// Apply makes the mount point and mounts.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	point, err := s.point(ctx, do.View)
	if err == nil && point.Needed() {
		if err = host.MakeParents(do.Host.Files, s.where, 0o755); err == nil {
			err = host.MakeDir(do.Host.Files, s.where, host.Access{Mode: 0o755})
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.where, err)
	}
	return s.unit.Apply(ctx, do)
}

// Reset unmounts and removes what was made.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	if t.Key() != s.dir().Key() {
		return s.unit.Reset(ctx, do, t, o)
	}
	err := ctx.Err()
	if err == nil {
		err = s.dir().PutBack(ctx, do.Host, o, do.Keep)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.where, err)
	}
	return nil
}
