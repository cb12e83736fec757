package absent_test

import (
	"strings"
	"testing"

	"hostler/builtins/blocks/absent"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func on(files map[string]memory.File) func(*testing.T) host.Host {
	return func(*testing.T) host.Host { return memory.New(memory.Options{Files: files}).Host() }
}

const body = `path = "/etc/demo/old"`

func TestContract(t *testing.T) {
	for name, files := range map[string]map[string]memory.File{
		"file": {"/etc/demo/old": {Content: "x", Mode: 0o600, UID: 4}},
		"link": {"/etc/demo/old": {Link: "/etc/demo/new"}, "/etc/demo/new": {Content: "stays"}},
		"tree": {
			"/etc/demo/old":        {Dir: true, Mode: 0o750, GID: 9},
			"/etc/demo/old/a/b":    {Content: "b", Mode: 0o4755},
			"/etc/demo/old/a/link": {Link: "../../nowhere"},
			"/etc/demo/old/empty":  {Dir: true},
			"/etc/demo/older":      {Content: "stays"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			blocktest.Run(t, blocktest.Case{Type: absent.Type(), Body: body, Host: on(files)})
		})
	}
	t.Run("nothing is there", func(t *testing.T) {
		blocktest.Run(t, blocktest.Case{Type: absent.Type(), Body: body, Host: on(nil), Quiet: true})
	})
}

func TestWhatIsShown(t *testing.T) {
	for name, c := range map[string]struct {
		file   memory.File
		note   string
		old    string
		secret bool
	}{
		"file":    {memory.File{Content: "x"}, "", "x", false},
		"private": {memory.File{Content: "x", Mode: 0o600}, "", "x", true},
		"big":     {memory.File{Content: strings.Repeat("x", 1<<20+1)}, "a file of 1048577 bytes", "", false},
		"link":    {memory.File{Link: "/x"}, "link to /x", "", false},
		"tree":    {memory.File{Dir: true}, "a directory with 0 entries", "", false},
	} {
		change := blocktest.NewStage(on(map[string]memory.File{"/etc/demo/old": c.file})(t)).MustCheck(t, blocktest.Step(t, absent.Type(), body))
		d := change.Diffs[0]
		if change.Action != block.ActionDelete || d.Note != c.note || string(d.Old) != c.old || d.Secret != c.secret {
			t.Errorf("%s: %s, note %q, %d bytes, secret %v", name, change.Action, d.Note, len(d.Old), d.Secret)
		}
	}
}

func TestWhatCameLaterStays(t *testing.T) {
	h := on(map[string]memory.File{"/etc/demo": {Dir: true}})(t)
	s := blocktest.NewStage(h)
	step := blocktest.Step(t, absent.Type(), body)
	s.MustApply(t, step)
	if err := host.Replace(h.Files, "/etc/demo/old", host.Content{Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	s.MustReset(t, step)
	if _, err := h.Files.Stat("/etc/demo/old"); err != nil {
		t.Error(err)
	}
}

func TestNothingIsRemovedAcrossMounts(t *testing.T) {
	for _, point := range []string{"/etc/demo/old", "/etc/demo/old/deep/mnt"} {
		h := memory.New(memory.Options{
			Files:  map[string]memory.File{point: {Dir: true}, "/etc/demo/old/first": {Content: "x"}},
			Mounts: []memory.Mount{{Point: point}},
		}).Host()
		if point == "/etc/demo/old" {
			if err := host.Replace(h.Files, "/etc/demo/old/first", host.Content{Mode: 0o644}); err != nil {
				t.Fatal(err)
			}
		}
		before := blocktest.Snapshot(t, h.Files, "/etc/demo")
		s := blocktest.NewStage(h)
		step := blocktest.Step(t, absent.Type(), body)
		_, err := s.Check(step)
		applied := s.Apply(step)
		for _, err := range []error{err, applied} {
			if err == nil || !strings.Contains(err.Error(), point+" is a mount point") {
				t.Errorf("%s: %v", point, err)
			}
		}
		if diff := blocktest.Snapshot(t, h.Files, "/etc/demo").Untouched(before); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRefused(t *testing.T) {
	if got := blocktest.Faults(absent.Type(), `path = "/"`); !strings.Contains(got, "whole host") {
		t.Error(got)
	}
	h := memory.New(memory.Options{ReadOnly: []string{"/usr"}, Files: map[string]memory.File{"/usr/lib/x": {}}}).Host()
	for path, want := range map[string]string{"/etc": "top of the file system", "/usr/lib/x": "read-only file system (mounted at /usr)"} {
		step := blocktest.Step(t, absent.Type(), `path = "`+path+`"`)
		if _, err := blocktest.NewStage(h).Check(step); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
