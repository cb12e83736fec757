package directory_test

import (
	"strings"
	"testing"

	"hostler/builtins/blocks/directory"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

func on(files map[string]memory.File) func(*testing.T) host.Host {
	return func(*testing.T) host.Host { return memory.New(memory.Options{Files: files}).Host() }
}

func TestContract(t *testing.T) {
	cases := map[string]blocktest.Case{
		"new": {Body: `
			path = "/var/lib/demo/state"
			mode = "0750"
		`, Host: on(nil)},
		"there with another mode": {Body: `path = "/srv/demo"`, Host: on(map[string]memory.File{
			"/srv/demo":   {Dir: true, Mode: 0o700, UID: 7, GID: 8},
			"/srv/demo/x": {Content: "x"},
		})},
		"named owner": {Body: `
			path  = "/srv/demo"
			owner = "web"
			group = "web"
		`, Host: on(map[string]memory.File{
			"/etc/passwd": {Content: "root:x:0:0::/:/bin/sh\nweb:x:33:33::/:/bin/sh\n"},
			"/etc/group":  {Content: "root:x:0:\nweb:x:34:\n"},
		})},
	}
	for name, c := range cases {
		c.Type = directory.Type()
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

func TestOwnersAreResolvedOnTheHost(t *testing.T) {
	h := on(map[string]memory.File{
		"/etc/passwd": {Content: "web:x:33:33::/:/bin/sh\n"},
		"/etc/group":  {Content: "web:x:34:\n"},
	})(t)
	s := blocktest.NewStage(h)
	s.MustApply(t, blocktest.Step(t, directory.Type(), `
		path  = "/srv/demo"
		owner = "web"
		group = "web"
	`))
	state, err := thing.LookPath(h.Files, "/srv/demo")
	if err != nil || state.UID != 33 || state.GID != 34 || state.Mode != "0755" {
		t.Errorf("the directory is %+v (%v)", state, err)
	}
}

func TestUnknownOwnerIsUnknownInAPlanAndAnErrorWhenApplied(t *testing.T) {
	s := blocktest.NewStage(on(nil)(t))
	step := blocktest.Step(t, directory.Type(), `
		path  = "/srv/demo"
		owner = "nobody-here"
	`)
	if change := s.MustCheck(t, step); change.Action != block.ActionUnknown || !strings.Contains(change.Reason, "/etc/passwd") {
		t.Errorf("check: %+v", change)
	}
	err := s.Apply(step)
	for _, want := range []string{"/srv/demo", `"nobody-here"`, "/etc/passwd"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not hold %s: %v", want, err)
		}
	}
}

func TestModeIsPutRightWithoutAChangeOfBytes(t *testing.T) {
	s := blocktest.NewStage(on(map[string]memory.File{"/srv/demo": {Dir: true, Mode: 0o700}})(t))
	change := s.MustCheck(t, blocktest.Step(t, directory.Type(), `path = "/srv/demo"`))
	if change.Action != block.ActionUpdate || change.Bytes || change.Diffs[0].OldMode != "0700" || change.Diffs[0].NewMode != "0755" {
		t.Errorf("check: %+v", change)
	}
}

func TestWhatStandsInTheWay(t *testing.T) {
	files := map[string]memory.File{
		"/srv/file":  {Content: "x"},
		"/srv/link":  {Link: "/var"},
		"/srv/under": {Content: "x"},
	}
	for path, want := range map[string]string{
		"/srv/file":      "a file is there",
		"/srv/link":      "a link to /var is there",
		"/usr/ro/x":      "read-only file system (mounted at /usr)",
		"/srv/under/dir": "/srv/under is not a directory",
	} {
		h := memory.New(memory.Options{Files: files, ReadOnly: []string{"/usr"}}).Host()
		s := blocktest.NewStage(h)
		step := blocktest.Step(t, directory.Type(), `path = "`+path+`"`)
		_, err := s.Check(step)
		if err == nil {
			err = s.Apply(step)
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestResetOfAFilledDirectoryStops(t *testing.T) {
	h := on(nil)(t)
	s := blocktest.NewStage(h)
	step := blocktest.Step(t, directory.Type(), `path = "/srv/demo"`)
	s.MustApply(t, step)
	if err := host.Replace(h.Files, "/srv/demo/foreign", host.Content{Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if err := s.Reset(step); err == nil || !strings.Contains(err.Error(), "holds foreign") {
		t.Errorf("reset: %v", err)
	}
	if _, err := h.Files.Stat("/srv/demo/foreign"); err != nil {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		`path = "relative"`:             `write an absolute path, for example "/relative"`,
		`path = "/a/../b"`:              `write "/b"`,
		`path = "/"`:                    "root directory itself",
		"path = \"/a\"\nmode = \"755\"": `write "0755"`,
		"path = \"/a\"\nmode = 755":     `write "0755"`,
		`mode = "0755"`:                 "path is required",
	} {
		if got := blocktest.Faults(directory.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
