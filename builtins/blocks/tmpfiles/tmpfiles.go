// Package tmpfiles is the block for files and directories that systemd-tmpfiles
// makes, now and at every boot.
package tmpfiles

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
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
		Name: "tmpfiles", Version: 1, Example: example,
		Doc: block.Doc{
			Summary: "Directories, files and links that systemd-tmpfiles makes, now and at every boot.",
			Text:    doc,
			Checks:  "The drop-in file, and that each entry is there, of its kind and with its mode. Owner and content are not looked at.",
			Owns:    "`path:` and the drop-in, and the path of each entry.",
			Resets:  "What was made is removed, directories if they are empty, and the drop-in.",
		},
		Schema: schema(),
		New:    newStep,
	}
}

type step struct {
	file    block.WholeFile
	entries []entry
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a struct {
		Path    string  `cty:"path"`
		Entries []entry `cty:"entry"`
	}
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	var text strings.Builder
	var diags hcl.Diagnostics
	seen := map[string]bool{a.Path: true}
	for i, e := range a.Entries {
		if why := e.fault(); why != "" {
			diags = append(diags, args.Fault(fmt.Sprintf("entry[%d]", i), "Invalid entry", why))
		} else if seen[e.Path] {
			diags = append(diags, args.Fault(fmt.Sprintf("entry[%d].path", i), "Path given twice", e.Path+" is given twice; write it once."))
		}
		seen[e.Path] = true
		text.WriteString(e.line())
	}
	file := block.WholeFile{Path: a.Path, Bytes: []byte(text.String()), Mode: 0o644, What: "the drop-in"}
	return &step{file: file, entries: a.Entries}, diags
}

// fault says what is wrong with an entry, "" for nothing.
func (e entry) fault() string {
	switch {
	case e.Path == "/" || strings.ContainsAny(e.Path, " \t\"'\\"):
		return fmt.Sprintf("%q cannot stand in a line of tmpfiles.d; write another path.", e.Path)
	case e.link() && (e.Argument == nil || *e.Argument == ""):
		return "Write as argument where the link leads."
	case e.link() && e.Mode != nil:
		return "A link has no mode; leave it out."
	case e.directory() && e.Argument != nil:
		return "A directory has no argument; leave it out."
	case e.Age != nil && !e.directory():
		return "Only what is in a directory has an age; leave it out."
	case e.Age != nil && (*e.Age == "" || strings.ContainsAny(*e.Age, " \t\n")):
		return "Write an age such as \"10d\"."
	case e.Argument != nil && strings.ContainsAny(*e.Argument, "\n\r"):
		return "The argument is one line."
	}
	return ""
}

func (e entry) link() bool      { return strings.HasPrefix(e.Type, "L") }
func (e entry) directory() bool { return e.Type == "d" || e.Type == "D" }

// line is the entry as tmpfiles.d(5) has it.
func (e entry) line() string {
	or := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	fields := []string{e.Type, escape(e.Path), or(e.Mode), or(e.Owner), or(e.Group), or(e.Age)}
	line := strings.Join(fields, " ")
	if e.Argument != nil {
		line += " " + escape(strings.ReplaceAll(*e.Argument, `\`, `\\`))
	}
	return line + "\n"
}

func escape(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// thing is what the entry makes.
func (e entry) thing() thing.Thing {
	if e.directory() {
		return thing.Dir(e.Path)
	}
	return thing.Path(e.Path)
}

// Owns names the drop-in and what its entries make.
func (s *step) Owns() []thing.Owned {
	owned := []thing.Owned{s.file.Owned()}
	for _, e := range s.entries {
		owned = append(owned, thing.Owned{Thing: e.thing(), Foreign: true})
	}
	return owned
}

// Check looks at the drop-in and at what its entries make.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	change, err := s.file.Check(ctx, in.View)
	if err != nil {
		return block.OrUnknown(s.file.Path, err)
	}
	if !in.View.Identity.Live {
		change.Deferred = append(change.Deferred, "what "+s.file.Path+" lists is made at boot")
		return change, nil
	}
	parts := []block.Change{change}
	for _, e := range s.entries {
		made, err := e.check(in.View.Files)
		if err != nil {
			return block.OrUnknown(e.Path, err)
		}
		parts = append(parts, made)
	}
	return block.Together(parts...), nil
}

// check says whether the entry has to be made.
func (e entry) check(f host.FileView) (block.Change, error) {
	found, err := thing.LookPath(f, e.Path)
	if err != nil {
		return block.Change{}, err
	}
	run := func(reason string) (block.Change, error) {
		d := block.Diff{Thing: string(e.thing().Key()), Note: reason}
		return block.Change{Action: block.ActionRun, Reason: reason, Diffs: []block.Diff{d}}, nil
	}
	want := map[bool]string{e.directory(): thing.Directory, e.link(): thing.Link, e.Type == "f": thing.File}[true]
	switch {
	case found.Kind == thing.Absent:
		return run(e.Path + " is not there")
	case found.Kind != want && e.Type != "L+":
		return block.Change{}, fmt.Errorf("a %s is there, where a %s is to be made; remove it, or give another path", found.Kind, want)
	case e.link() && (found.Kind != want || e.Type == "L+" && found.Target != *e.Argument):
		return run("another thing is in the place of the link " + e.Path)
	case e.Mode == nil:
		return block.NoChange(), nil
	}
	if mode, err := block.ParseMode(*e.Mode); err == nil && found.Mode != thing.Mode(host.FileMode(mode)) {
		return run("the mode of " + e.Path + " differs")
	}
	return block.NoChange(), nil
}

// Apply writes the drop-in and has it carried out.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	change, err := s.Check(ctx, do.Look)
	if err != nil || !change.Needed() {
		return err
	}
	if err := s.file.Apply(ctx, do.Host.Files); err != nil || !do.Host.Identity.Live {
		return err
	}
	if u, shadow := do.Host.Files.(host.Unknowable); shadow {
		return s.foresee(do.Host.Files, u)
	}
	_, err = do.Host.Commands.Run(ctx, host.Command{Argv: []string{"systemd-tmpfiles", "--create", s.file.Path}})
	if errors.Is(err, host.ErrNoTool) {
		err = fmt.Errorf("%w; this host has no systemd-tmpfiles: use directory, symlink and write_file_if_changed instead", err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.file.Path, err)
	}
	return nil
}

// foresee marks on a shadow what is going to be made.
func (s *step) foresee(f host.FileView, u host.Unknowable) error {
	for _, e := range s.entries {
		change, err := e.check(f)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Path, err)
		}
		if change.Needed() {
			u.MarkUnknown(e.Path, e.Path+" is not made by systemd-tmpfiles yet")
		}
	}
	return nil
}

// Reset removes what was made, or puts back what was there.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	if t.Key() == thing.Path(s.file.Path).Key() {
		return s.file.Reset(ctx, do, o)
	}
	err := ctx.Err()
	for _, e := range s.entries {
		if err == nil && e.thing().Key() == t.Key() {
			err = e.thing().PutBack(ctx, do.Host, o, do.Keep)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.Key().Name(), err)
	}
	return nil
}
