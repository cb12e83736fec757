package block_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

func TestWholeFile(t *testing.T) {
	w := block.WholeFile{Path: "/etc/x.d/a.conf", Bytes: []byte("new\n"), Mode: 0o644, What: "the drop-in"}
	for name, c := range map[string]struct {
		there  *memory.File
		action block.Action
		reason string
		bytes  bool
		secret bool
	}{
		"absent": {nil, block.ActionCreate, "the drop-in is not there", true, false},
		"bytes":  {&memory.File{Content: "old\n"}, block.ActionUpdate, "the drop-in differs", true, false},
		"mode":   {&memory.File{Content: "new\n", Mode: 0o755}, block.ActionUpdate, "the mode of the drop-in differs", false, false},
		"all":    {&memory.File{Content: "old\n", Mode: 0o600, UID: 1}, block.ActionUpdate, "the drop-in differs, the mode of the drop-in differs, the owner of the drop-in differs", true, true},
		"link":   {&memory.File{Link: "/dev/null"}, block.ActionReplace, "a link is in the place of the drop-in", true, false},
		"same":   {&memory.File{Content: "new\n"}, block.ActionNone, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]memory.File{}
			if c.there != nil {
				files[w.Path] = *c.there
			}
			h := memory.New(memory.Options{Files: files}).Host()
			change, err := w.Check(context.Background(), h.View())
			if err != nil || change.Action != c.action || change.Reason != c.reason || change.Bytes != c.bytes {
				t.Fatalf("%+v (%v)", change, err)
			}
			if change.Needed() && change.Diffs[0].Secret != c.secret {
				t.Errorf("%+v", change.Diffs)
			}
			if err := w.Apply(context.Background(), h.Files); err != nil {
				t.Fatal(err)
			}
			found, err := w.Owned().Look(context.Background(), h.View())
			if err != nil || !found.Same(*w.Owned().Want) {
				t.Errorf("%+v (%v)", found, err)
			}
		})
	}
}

func TestWholeFileRefusals(t *testing.T) {
	h := memory.New(memory.Options{Files: map[string]memory.File{"/etc/d": {Dir: true}}, ReadOnly: []string{"/usr"}}).Host()
	for path, want := range map[string]string{"/etc/d": "a directory is there", "/usr/x": "read-only file system"} {
		w := block.WholeFile{Path: path, Mode: 0o644, What: "it"}
		_, err := w.Check(context.Background(), h.View())
		for _, err := range []error{err, w.Apply(context.Background(), h.Files)} {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	refused := errors.New("refused")
	w := block.WholeFile{Path: "/etc/y", Mode: 0o644, What: "it", Validate: func(string) error { return refused }}
	if err := w.Apply(context.Background(), h.Files); !errors.Is(err, refused) {
		t.Error(err)
	}
	if _, err := host.Lstat(h.Files, "/etc/y"); !host.Absent(err) {
		t.Errorf("it was written: %v", err)
	}
	if err := w.Reset(context.Background(), block.Do{Host: h}, thing.Origin{Kind: "other"}); err == nil || !strings.Contains(err.Error(), "/etc/y") {
		t.Error(err)
	}
}

func TestTogether(t *testing.T) {
	update := block.Change{Action: block.ActionUpdate, Reason: "a differs", Diffs: []block.Diff{{Thing: "a"}}}
	create := block.Change{Action: block.ActionCreate, Reason: "b is not there", Bytes: true, Diffs: []block.Diff{{Thing: "b"}}, Deferred: []string{"later"}}
	all := block.Together(block.NoChange(), update, create, block.Unknown("c"))
	if all.Action != block.ActionUpdate || all.Reason != "a differs, b is not there" || !all.Bytes || len(all.Diffs) != 2 || len(all.Deferred) != 1 {
		t.Errorf("%+v", all)
	}
	if got := block.Together(block.NoChange(), block.Unknown("c"), block.Unknown("d")); got.Action != block.ActionUnknown || got.Reason != "c" {
		t.Errorf("%+v", got)
	}
	if got := block.Together(block.NoChange(), block.Change{Deferred: []string{"x"}}); got.Needed() || len(got.Deferred) != 1 {
		t.Errorf("%+v", got)
	}
	if got := block.Together(); got.Needed() {
		t.Errorf("%+v", got)
	}
}
