package blocktest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

// note is a block of our own: a file with a text. Its flaw breaks one sentence
// of the contract.
type note struct {
	Path string `cty:"path"`
	Text string `cty:"text"`
	flaw string
}

func noteType(flaw string) *block.Type {
	typ := &block.Type{
		Name: "note", Version: 1, Example: "note \"a\" {\n path = \"/a\"\n text = \"x\"\n}",
		Doc: block.Doc{Summary: "s", Text: "t", Checks: "c", Owns: "o", Resets: "r"},
		Schema: block.Schema{
			Attrs: []block.Attr{block.AbsPath("path").Must().Says("Where."), block.Text("text").Must().Says("What.")},
			Blocks: []block.Nested{{Name: "extra", Doc: "More.", Labels: []string{"name"}, Schema: block.Schema{
				Attrs: []block.Attr{block.Count("size", 0).Says("Size.")},
			}}},
		},
	}
	switch flaw {
	case "undocumented":
		typ.Schema.Attrs[0].Doc = ""
	case "no example":
		typ.Example = "other \"a\" {}"
	case "exports":
		typ.Schema.Exports = []block.Attr{block.Text("path").Says("p")}
	}
	typ.New = func(args block.Args) (block.Step, hcl.Diagnostics) {
		n := &note{flaw: flaw, Path: args.Value.GetAttr("path").AsString(), Text: args.Value.GetAttr("text").AsString()}
		if flaw == "forgets" && args.Ranges == nil {
			n.Text = ""
		}
		return n, nil
	}
	return typ
}

func (n *note) Owns() []thing.Owned {
	return []thing.Owned{{Thing: thing.Path(n.Path), Foreign: true,
		Want: &thing.State{Kind: thing.File, Digest: thing.Digest([]byte(n.Text)), Size: int64(len(n.Text)), Mode: "0644"}}}
}

func (n *note) Check(ctx context.Context, in block.Look) (block.Change, error) {
	if err := ctx.Err(); err != nil && n.flaw != "goes on" {
		return block.Change{}, err
	}
	if f, ok := in.View.Files.(host.Files); ok && n.flaw == "check writes" {
		if err := host.Replace(f, "/etc/probe", host.Content{Mode: 0o644}); err != nil {
			return block.Change{}, err
		}
	}
	found, err := thing.LookPath(in.View.Files, n.Path)
	if err != nil {
		return block.OrUnknown(n.Path, err)
	}
	if found.Digest == thing.Digest([]byte(n.Text)) && n.flaw != "never done" {
		return block.NoChange(), nil
	}
	if n.flaw == "shadow" && !strings.Contains(fmt.Sprintf("%T", in.View.Files), "memory") {
		return block.NoChange(), nil
	}
	return block.Change{Action: block.ActionUpdate, Reason: "text differs"}, nil
}

func (n *note) Apply(ctx context.Context, do block.Do) error {
	if err := ctx.Err(); err != nil && n.flaw != "goes on" {
		return err
	}
	change, err := n.Check(ctx, do.Look)
	if err == nil && (change.Needed() || n.flaw == "writes again") {
		err = host.Replace(do.Host.Files, n.Path, host.Content{Bytes: []byte(n.Text), Mode: 0o644})
	}
	switch {
	case err == nil:
		return nil
	case n.flaw == "nameless":
		return errors.New("it failed")
	case n.flaw == "swallows":
		return nil
	case n.flaw == "litters":
		return errors.Join(err, host.Symlink(do.Host.Files, "x", host.TemporaryName(n.Path)))
	}
	return fmt.Errorf("%s: %w", n.Path, err)
}

func (n *note) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	if err := ctx.Err(); err != nil && n.flaw != "goes on" {
		return err
	}
	if n.flaw == "stays" {
		return nil
	}
	if err := t.PutBack(ctx, do.Host, o, do.Keep); err != nil {
		return fmt.Errorf("%s: %w", n.Path, err)
	}
	return nil
}

// recorder is a test that may fail without failing ours.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}
func (r *recorder) Error(args ...any) { r.said = append(r.said, fmt.Sprintln(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

// held runs one rule and returns what it said.
func held(t *testing.T, c Case, r rule) string {
	rec := &recorder{TB: t}
	c.t = t
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.hold(c, rec)
	}()
	<-done
	return strings.Join(rec.said, "\n")
}

func noteCase(flaw string) Case {
	return Case{
		Type: noteType(flaw), Body: "path = \"/etc/note\"\ntext = \"new\"",
		Host: func(*testing.T) host.Host {
			return memory.New(memory.Options{Files: map[string]memory.File{"/etc/note": {Content: "old", Mode: 0o600}}}).Host()
		},
	}
}

func TestASoundBlockPasses(t *testing.T) { Run(t, noteCase("")) }

func TestEveryRuleCatchesItsFlaw(t *testing.T) {
	for flaw, want := range map[string]struct{ rule, said string }{
		"undocumented": {"documented", "note.path has no documentation"},
		"no example":   {"documented", "does not use it"},
		"exports":      {"documented", "do not belong together"},
		"forgets":      {"plain data", "owns something else"},
		"check writes": {"check writes nothing", "new: /etc/probe"},
		"never done":   {"apply then check is empty", "still something to do: update (text differs)"},
		"writes again": {"second apply changes nothing", "changed: /etc/note"},
		"stays":        {"reset restores", "changed: /etc/note"},
		"goes on":      {"cancelled", "check goes on in a cancelled context"},
		"nameless":     {"errors name the thing", "does not name the thing: it failed"},
		"swallows":     {"errors name the thing", "there is no error"},
		"litters":      {"errors name the thing", "a temporary file is left"},
		"shadow":       {"shadow", "on a shadow, check answers otherwise"},
	} {
		for _, r := range rules {
			if r.name != want.rule {
				continue
			}
			if said := held(t, noteCase(flaw), r); !strings.Contains(said, want.said) {
				t.Errorf("%s: the rule %q says %q, want %q", flaw, r.name, said, want.said)
			}
		}
	}
	quiet := noteCase("")
	quiet.Quiet = true
	if said := held(t, quiet, rules[2]); !strings.Contains(said, "quiet is true") {
		t.Errorf("a quiet case with something to do: %q", said)
	}
}

func TestDecode(t *testing.T) {
	typ := noteType("")
	args := Args(t, typ, "path = \"/a\"\ntext = \"x\"\nextra \"one\" {\n  size = 3\n}\nextra \"two\" {}")
	extra := args.Value.GetAttr("extra").AsValueSlice()
	if len(extra) != 2 || extra[0].GetAttr("name").AsString() != "one" || !extra[1].GetAttr("size").IsNull() {
		t.Errorf("%#v", args.Value)
	}
	if r := args.Range("extra[0].size"); r == nil || r.Start.Line != 4 {
		t.Errorf("%v", r)
	}
	for body, want := range map[string]string{
		`path = "/a"`:                                              "text is required",
		"path = \"/a\"\ntext = null":                               "text is required",
		"path = \"/a\"\ntext = \"x\"\nb = 1":                       "line 3: Unsupported argument",
		"path = \"/a\"\ntext = \"x\"\nb {}":                        "Unsupported block",
		"path = \"/a\"\ntext = []":                                 "Invalid text",
		"path = \"/a\"\ntext = x":                                  "Variables not allowed",
		"path = \"/a\"\ntext = \"x\"\nextra {}":                    "takes 1 labels",
		"path = \"/a\"\ntext = \"x\"\nextra \"a\" {\nsize = -1\n}": "line 4: Invalid size",
		"path = ": "Missing expression",
	} {
		if got := Faults(typ, body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
	typ.Schema.Blocks[0].Min, typ.Schema.Blocks[0].Max = 1, 1
	if got := Faults(typ, "path = \"/a\"\ntext = \"x\""); !strings.Contains(got, "extra is written 0 times") {
		t.Error(got)
	}
}

func TestKeeperRestoresTrees(t *testing.T) {
	h := memory.New(memory.Options{Files: map[string]memory.File{
		"/x/a": {Content: "a", Mode: 0o4755, UID: 3}, "/x/b/link": {Link: "../a"}, "/x/empty": {Dir: true, Mode: 0o1777},
	}}).Host()
	before := Snapshot(t, h.Files, "/x")
	k := NewKeeper()
	ctx := t.Context()
	backup, err := k.Keep(ctx, h, "path:/x", "/x", thing.State{Kind: thing.Directory})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := k.Restore(ctx, h, backup, "/x"); err != nil {
			t.Fatal(err)
		}
		if diff := Snapshot(t, h.Files, "/x").Restored(before); diff != "" {
			t.Error(diff)
		}
		if err := thing.RemoveTree(ctx, h, "/x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Restore(ctx, h, "none", "/x"); err == nil || !strings.Contains(err.Error(), `no backup "none" for /x`) {
		t.Error(err)
	}
	if _, err := k.Keep(ctx, h, "path:/etc", "/etc", thing.State{Kind: thing.File}); err == nil {
		t.Error("what is there is not what was found")
	}
	if _, err := (Assets{"a": "b"}).ReadFile("c"); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestSnapshotsTellAllDifferences(t *testing.T) {
	h := memory.New(memory.Options{Files: map[string]memory.File{"/x/a": {Content: "a"}, "/x/b": {Content: "b"}}}).Host()
	before := Snapshot(t, h.Files, "/x", "/not/there")
	if diff := Snapshot(t, h.Files, "/x").Untouched(before); diff != "" {
		t.Error(diff)
	}
	if err := host.Replace(h.Files, "/x/a", host.Content{Bytes: []byte("a"), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if err := host.Remove(h.Files, "/x/b"); err != nil {
		t.Fatal(err)
	}
	if err := host.Symlink(h.Files, "a", "/x/c"); err != nil {
		t.Fatal(err)
	}
	diff := Snapshot(t, h.Files, "/x").Untouched(before)
	for _, want := range []string{"changed: /x/a", "gone: /x/b", "new: /x/c"} {
		if !strings.Contains(diff, want) {
			t.Errorf("%q is not in:\n%s", want, diff)
		}
	}
}
