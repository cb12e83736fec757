// Package editlines is the block that edits lines in a file that belongs to
// others, and takes nothing but its own edits back.
package editlines

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
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
		Name: "edit_lines", Version: 1, Example: example,
		Doc: block.Doc{
			Summary: "Edits lines in a file of others: comments, replaces or ensures them.",
			Text:    doc,
			Checks:  "Whether an edit would change anything. The other lines, the mode and the owner are not looked at.",
			Owns:    "`path:` and the path: the lines that the edits concern; the rest of the file stays its owner's.",
			Resets:  "A file in which nothing else changed gets its original back; in another, the edited lines get their former text and the new ones go. A file that was made goes when nothing else is in it.",
		},
		Schema: schema(),
		New:    newStep,
	}
}

func schema() block.Schema {
	match := func(doc string) block.Attr {
		a := block.Text("match").Says(doc + " It is a regular expression (RE2) for the whole line, without its end.")
		a.Grammar, a.Check = "regular expression", checkPattern
		return a
	}
	line := func(name, doc string) block.Attr {
		a := block.Text(name).Must().Says(doc)
		a.Check = checkLine
		return a
	}
	prefix := block.Text("prefix").Says("What is put before the line.")
	prefix.Default, prefix.Check = cty.StringVal("# "), checkMark
	action := func(name, doc string, attrs ...block.Attr) block.Nested {
		return block.Nested{Name: name, Doc: doc, Actions: true, Schema: block.Schema{Attrs: attrs}}
	}
	return block.Schema{
		Attrs: []block.Attr{
			block.AbsPath("path").Must().Names().Says("The file. A link is followed to the file it leads to."),
		},
		Blocks: []block.Nested{
			action("comment", "Puts a mark before every line that matches. A line that is a comment already stays as it is.",
				match("The lines.").Must(), prefix),
			action("replace", "Replaces every line that matches.",
				match("The lines.").Must(), line("with", "The line that comes in its place; `$1` is what the first group matched.")),
			action("ensure", "Sees to it that a line is there. The file is made if it is missing.",
				line("line", "The line."), match("The last line that matches is replaced by it; without a match, or without `match`, it comes at the end.")),
		},
	}
}

func checkLine(v cty.Value) error {
	if s := v.AsString(); s == "" || strings.ContainsAny(s, "\n\r\x00") {
		return block.Advicef("Write one line of text, without its end.")
	}
	return nil
}

// checkMark refuses blanks: every line would be a comment already.
func checkMark(v cty.Value) error {
	if strings.TrimSpace(v.AsString()) == "" {
		return block.Advicef("Blanks mark nothing; write what a comment begins with, for example \"# \".")
	}
	return checkLine(v)
}

func checkPattern(v cty.Value) error {
	_, err := compile(v.AsString())
	return err
}

// compile anchors a pattern at both ends of the line.
func compile(pattern string) (*regexp.Regexp, error) {
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil, block.Advicef("%q is no regular expression: %v.", pattern, errors.Unwrap(err))
	}
	return re, nil
}

type step struct{ lines thing.Lines }

// placed is an edit with its place among the others.
type placed struct {
	thing.LineEdit
	position int
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var edits []placed
	for i, kind := range []string{"comment", "replace", "ensure"} {
		for j, v := range args.Value.GetAttr(kind).AsValueSlice() {
			e, err := read(thing.LineEditKind(i), v)
			if err != nil {
				return nil, hcl.Diagnostics{args.Fault(fmt.Sprintf("%s[%d].match", kind, j), "Invalid match", err.Error())}
			}
			edits = append(edits, e)
		}
	}
	if len(edits) == 0 {
		return nil, hcl.Diagnostics{args.Fault("", "No edit", "Write at least one of comment, replace and ensure.")}
	}
	slices.SortStableFunc(edits, func(a, b placed) int { return a.position - b.position })
	s := &step{lines: thing.Lines{Path: thing.Path(args.Value.GetAttr("path").AsString())}}
	for _, e := range edits {
		s.lines.Edits = append(s.lines.Edits, e.LineEdit)
	}
	return s, nil
}

func read(kind thing.LineEditKind, v cty.Value) (e placed, err error) {
	e.Kind = kind
	n, _ := v.GetAttr("position").AsBigFloat().Int64()
	e.position = int(n)
	e.Text = v.GetAttr(map[thing.LineEditKind]string{thing.Comment: "prefix", thing.Replace: "with", thing.Ensure: "line"}[kind]).AsString()
	if m := v.GetAttr("match"); !m.IsNull() {
		e.Match, err = compile(m.AsString())
	}
	return e, err
}

// Owns names the lines.
func (s *step) Owns() []thing.Owned {
	want := s.lines.Edited()
	return []thing.Owned{{Thing: s.lines, Want: &want, Foreign: true}}
}

// plan is what the file holds and what it should.
type plan struct {
	name        string
	found       thing.State
	old, edited []byte
}

func (p plan) changes() bool {
	return p.found.Kind == thing.Absent && len(p.edited) > 0 || !bytes.Equal(p.old, p.edited)
}

func (s *step) plan(ctx context.Context, f host.FileView) (p plan, err error) {
	if err := ctx.Err(); err != nil {
		return p, err
	}
	if p.name, err = s.lines.File(f); err != nil {
		return p, err
	}
	if p.found, err = thing.LookPath(f, p.name); err != nil {
		return p, err
	}
	switch p.found.Kind {
	case thing.Absent:
	case thing.File:
		if p.old, err = thing.ReadAll(f, p.name); err != nil {
			return p, err
		}
	default:
		return p, fmt.Errorf("a %s is there, and no file with lines", p.found.Kind)
	}
	p.edited, err = s.lines.Edit(p.old)
	return p, err
}

// Check says what the edits change.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	p, err := s.plan(ctx, in.View.Files)
	if err != nil {
		return block.OrUnknown(string(s.lines.Path), err)
	}
	if !p.changes() {
		return block.NoChange(), nil
	}
	if m, err := in.View.Storage.Mount(ctx, p.name); err == nil && m.ReadOnly {
		return block.Change{}, fmt.Errorf("%s: %w (mounted at %s)", s.lines.Path, syscall.EROFS, m.Point)
	}
	d := block.Diff{Thing: string(s.lines.Key()), Old: p.old, New: p.edited}
	if p.found.Kind == thing.Absent {
		d.NewMode, d.NewOwner = "0644", "0:0"
		return block.Change{Action: block.ActionCreate, Reason: "it is not there", Bytes: true, Diffs: []block.Diff{d}}, nil
	}
	d.Secret = len(p.found.Mode) == 4 && (p.found.Mode[3]-'0')&4 == 0
	return block.Change{Action: block.ActionUpdate, Reason: "lines differ", Bytes: true, Diffs: []block.Diff{d}}, nil
}

// Apply edits the file.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	p, err := s.plan(ctx, do.View.Files)
	if err == nil && p.changes() {
		err = write(do.Host.Files, p)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.lines.Path, err)
	}
	return nil
}

func write(f host.Files, p plan) error {
	c := host.Content{Bytes: p.edited, Mode: 0o644}
	if p.found.Kind == thing.File {
		info, err := host.Lstat(f, p.name)
		if err != nil {
			return err
		}
		st := host.StatOf(info)
		c.Mode, c.UID, c.GID = host.ModeBits(info.Mode()), st.UID, st.GID
	}
	if err := host.MakeParents(f, p.name, 0o755); err != nil {
		return err
	}
	return host.Replace(f, p.name, c)
}

// Reset takes the edits out again.
func (s *step) Reset(ctx context.Context, do block.Do, _ thing.Thing, o thing.Origin) error {
	err := ctx.Err()
	if err == nil {
		err = s.lines.PutBack(ctx, do.Host, o, do.Keep)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.lines.Path, err)
	}
	return nil
}
