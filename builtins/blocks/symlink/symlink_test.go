package symlink_test

import (
	"strings"
	"testing"

	"hostler/builtins/blocks/symlink"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func on(files map[string]memory.File) func(*testing.T) host.Host {
	return func(*testing.T) host.Host { return memory.New(memory.Options{Files: files}).Host() }
}

const body = `
	path   = "/etc/demo/current"
	target = "releases/2"
`

func TestContract(t *testing.T) {
	for name, files := range map[string]map[string]memory.File{
		"new":              nil,
		"another target":   {"/etc/demo/current": {Link: "releases/1"}},
		"a file is there":  {"/etc/demo/current": {Content: "old", Mode: 0o640, UID: 3}},
		"a dangling link":  {"/etc/demo/current": {Link: "/nowhere"}},
		"somebody else's":  {"/etc/demo/current": {Link: "releases/2", UID: 5, GID: 6}},
		"a link to itself": {"/etc/demo/current": {Link: "current"}},
	} {
		t.Run(name, func(t *testing.T) {
			blocktest.Run(t, blocktest.Case{Type: symlink.Type(), Body: body, Host: on(files)})
		})
	}
}

func TestActions(t *testing.T) {
	for name, c := range map[string]struct {
		files  map[string]memory.File
		action block.Action
		note   string
	}{
		"new":    {nil, block.ActionCreate, "link to releases/2"},
		"other":  {map[string]memory.File{"/etc/demo/current": {Link: "x"}}, block.ActionUpdate, "x -> releases/2"},
		"file":   {map[string]memory.File{"/etc/demo/current": {Content: "x"}}, block.ActionReplace, "a file -> link to releases/2"},
		"right":  {map[string]memory.File{"/etc/demo/current": {Link: "releases/2"}}, block.ActionNone, ""},
		"theirs": {map[string]memory.File{"/etc/demo/current": {Link: "releases/2", UID: 1}}, block.ActionUpdate, ""},
	} {
		change := blocktest.NewStage(on(c.files)(t)).MustCheck(t, blocktest.Step(t, symlink.Type(), body))
		if change.Action != c.action || change.Needed() && change.Diffs[0].Note != c.note {
			t.Errorf("%s: %+v", name, change)
		}
	}
}

func TestTargetIsNeverTouched(t *testing.T) {
	h := on(map[string]memory.File{"/etc/demo/releases/2": {Content: "two"}})(t)
	before := blocktest.Snapshot(t, h.Files, "/etc/demo/releases")
	s := blocktest.NewStage(h)
	step := blocktest.Step(t, symlink.Type(), body)
	s.MustApply(t, step)
	s.MustReset(t, step)
	if diff := blocktest.Snapshot(t, h.Files, "/etc/demo/releases").Untouched(before); diff != "" {
		t.Error(diff)
	}
}

func TestWhatStandsInTheWay(t *testing.T) {
	h := memory.New(memory.Options{Files: map[string]memory.File{"/etc/demo/current": {Dir: true}}, ReadOnly: []string{"/usr"}}).Host()
	for path, want := range map[string]string{
		"/etc/demo/current": "a directory or device is there",
		"/usr/lib/current":  "read-only file system (mounted at /usr)",
	} {
		step := blocktest.Step(t, symlink.Type(), `path = "`+path+`"`+"\n"+`target = "x"`)
		if _, err := blocktest.NewStage(h).Check(step); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestC13ALinkNeverLeadsToItself(t *testing.T) {
	for body, want := range map[string]string{
		"path = \"/a/b\"\ntarget = \"/a/b\"":      "would lead to itself",
		"path = \"/a/b\"\ntarget = \"b\"":         "would lead to itself",
		"path = \"/a/b\"\ntarget = \"../a/./b\"":  "would lead to itself",
		"path = \"/a/b\"\ntarget = \"\"":          "Write what the link leads to",
		"path = \"/\"\ntarget = \"x\"":            "root directory",
		"path = \"/a/b\"\ntarget = \"a\\u0000b\"": "NUL",
		`path = "/a/b"`:                           "target is required",
	} {
		if got := blocktest.Faults(symlink.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
