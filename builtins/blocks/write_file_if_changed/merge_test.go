package writefileifchanged_test

import (
	"strings"
	"testing"

	writefile "hostler/builtins/blocks/write_file_if_changed"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

const mergedJSON = `{
	"z-last": [
		1,
		2.50
	],
	"log-opts": {
		"max-size": "50m",
		"tag": "<&>",
		"max-file": "3"
	},
	"data-root": "/var/lib/docker",
	"log-driver": "journald"
}`

func TestH45MergeKeepsTheKeysOfOthers(t *testing.T) {
	h := on(files{"/etc/docker/daemon.json": {Content: foreignJSON, Mode: 0o600, GID: 4}})(t)
	s := blocktest.NewStage(h)
	step := blocktest.Step(t, writefile.Type(), mergeBody)
	change := s.MustCheck(t, step)
	if change.Action != block.ActionUpdate || !change.Bytes || !change.Diffs[0].Secret || change.Diffs[0].NewMode != "" {
		t.Errorf("check: %+v", change)
	}
	s.MustApply(t, step)
	if got := text(t, h, "/etc/docker/daemon.json"); got != mergedJSON {
		t.Errorf("merged:\n%s", got)
	}
	if got := state(t, h, "/etc/docker/daemon.json"); got.Mode != "0600" || got.GID != 4 {
		t.Errorf("the file of others is %+v", got)
	}
}

func TestH45UnparsableIsAnError(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"comment":  {"{\n  // no\n}", "near line"},
		"cut off":  {"{\"a\": [1,", "near line 1: it ends too early"},
		"empty":    {"", "it ends too early"},
		"list":     {"[1]", "not a JSON object"},
		"two":      {"{} {}", "something follows"},
		"twice":    {`{"a":1,"a":2}`, `the key "a" stands twice`},
		"too deep": {`{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}", "nested too deep"},
	} {
		h := on(files{"/etc/docker/daemon.json": {Content: c.content}})(t)
		before := blocktest.Snapshot(t, h.Files, "/etc")
		s := blocktest.NewStage(h)
		step := blocktest.Step(t, writefile.Type(), mergeBody)
		_, err := s.Check(step)
		holds(t, err, "/etc/docker/daemon.json", c.want, "put the file right")
		holds(t, s.Apply(step), "/etc/docker/daemon.json", c.want)
		if diff := blocktest.Snapshot(t, h.Files, "/etc").Untouched(before); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func edit(t *testing.T, h host.Host, name, content string) {
	t.Helper()
	if err := host.Replace(h.Files, name, host.Content{Bytes: []byte(content), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
}

// What others write into the file while we are installed stays after a reset,
// and only our keys go back.
func TestMergeGivesOnlyItsKeysBack(t *testing.T) {
	h := on(files{"/etc/docker/daemon.json": {Content: foreignJSON}})(t)
	s := blocktest.NewStage(h)
	step := blocktest.Step(t, writefile.Type(), mergeBody)
	s.MustApply(t, step)
	edit(t, h, "/etc/docker/daemon.json", strings.Replace(mergedJSON, `"log-driver"`, `"debug": true, "log-driver"`, 1))
	s.MustHold(t, step)
	s.MustReset(t, step)
	want := strings.Replace(foreignJSON, `"data-root": "/srv/docker"`, "\"data-root\": \"/srv/docker\",\n\t\"debug\": true", 1)
	if got := text(t, h, "/etc/docker/daemon.json"); got != want {
		t.Errorf("after reset:\n%s\nwant:\n%s", got, want)
	}
}

func TestMergeIntoNothingLeavesWhatOthersAdded(t *testing.T) {
	h := on(nil)(t)
	s := blocktest.NewStage(h)
	step := blocktest.Step(t, writefile.Type(), mergeBody)
	s.MustApply(t, step)
	edit(t, h, "/etc/docker/daemon.json", "{\"debug\": true, \"log-driver\": \"journald\", \"log-opts\": {\"max-size\": \"50m\", \"theirs\": 1}, \"data-root\": \"/var/lib/docker\"}\n")
	s.MustReset(t, step)
	want := "{\n    \"debug\": true,\n    \"log-opts\": {\n        \"theirs\": 1\n    }\n}\n"
	if got := text(t, h, "/etc/docker/daemon.json"); got != want {
		t.Errorf("after reset:\n%s", got)
	}
}

// A claim holds the former values at the keys even where no backup does.
func TestMergeGoesBackFromTheRecordedValuesAlone(t *testing.T) {
	h := on(files{"/etc/docker/daemon.json": {Content: foreignJSON}})(t)
	s := blocktest.NewStage(h)
	step := blocktest.Step(t, writefile.Type(), mergeBody)
	owned := step.Owns()[0]
	was, err := owned.Look(t.Context(), h.View())
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"/data-root":"/srv/docker","/log-opts/max-size":"10m"}`; was.Value != want {
		t.Fatalf("the recorded values are %s, want %s", was.Value, want)
	}
	s.MustApply(t, step)
	if err := step.Reset(t.Context(), s.Do(), owned.Thing, thing.Origin{Kind: thing.OriginSaved, State: &was}); err != nil {
		t.Fatal(err)
	}
	if got := text(t, h, "/etc/docker/daemon.json"); got != foreignJSON {
		t.Errorf("after reset:\n%s", got)
	}
	for _, o := range []thing.Origin{{}, {Kind: thing.OriginAdopted}} {
		if err := step.Reset(t.Context(), s.Do(), owned.Thing, o); err != nil {
			t.Errorf("origin %+v: %v", o, err)
		}
	}
	err = step.Reset(t.Context(), s.Do(), owned.Thing, thing.Origin{Kind: thing.OriginSaved})
	holds(t, err, "/etc/docker/daemon.json", "nothing is recorded")
}

func TestMergeShapes(t *testing.T) {
	for name, c := range map[string]struct{ base, keys, want string }{
		"object over a value": {`{"a": 1}`, `{"a": {"b": 2}}`, "{\n    \"a\": {\n        \"b\": 2\n    }\n}"},
		"value over object":   {`{"a": {"b": 2}}`, `{"a": null}`, "{\n    \"a\": null\n}"},
		"empty object":        {`{}`, `{"a": {}}`, "{\n    \"a\": {}\n}"},
		"list is a value":     {"{\n  \"a\": [1]\n}\n", `{"a": [2, "x"]}`, "{\n  \"a\": [\n    2,\n    \"x\"\n  ]\n}\n"},
		"slashes in keys":     {`{"a/b": {"c~d": 1}}`, `{"a/b": {"c~d": 2}}`, "{\n    \"a/b\": {\n        \"c~d\": 2\n    }\n}"},
		"carriage returns":    {"{\r\n  \"a\": 1\r\n}", `{"b": true}`, "{\n  \"a\": 1,\n  \"b\": true\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			h := on(files{"/etc/x.json": {Content: c.base}})(t)
			s := blocktest.NewStage(h)
			step := write(t, "/etc/x.json", c.keys, `merge = "json"`)
			before := blocktest.Snapshot(t, h.Files, "/etc")
			s.MustApply(t, step)
			if got := text(t, h, "/etc/x.json"); got != c.want {
				t.Errorf("merged:\n%s", got)
			}
			s.MustReset(t, step)
			if diff := blocktest.Snapshot(t, h.Files, "/etc").Restored(before); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("right already", func(t *testing.T) {
		h := on(files{"/etc/x.json": {Content: `{ "a" : {"b":[1,{"c":2}]}, "d":1.0}`}})(t)
		blocktest.NewStage(h).MustHold(t, write(t, "/etc/x.json", `{"a": {"b": [1, {"c": 2}]}}`, `merge = "json"`))
	})
}

func TestMergeFaults(t *testing.T) {
	typ := writefile.Type()
	for body, want := range map[string]string{
		`content = "[1]"`:                       "is an object of the keys to set",
		`content = "{"`:                         "is an object of the keys to set",
		`content_base64 = "e30="`:               "takes its keys from content",
		"content = \"{}\"\nsource = \"x.json\"": "exactly one of",
	} {
		if got := blocktest.Faults(typ, "path = \"/etc/x\"\nmerge = \"json\"\n"+body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
	args := blocktest.Args(t, typ, mergeBody)
	args.Secret = map[string]bool{"content": true}
	if _, diags := typ.New(args); !diags.HasErrors() || !strings.Contains(diags.Error(), "cannot be kept secret") {
		t.Errorf("a sensitive merge: %v", diags)
	}
}

// Claims keep merged content whole: a reset needs its keys.
func TestMergedContentIsNotSlimmed(t *testing.T) {
	typ := writefile.Type()
	big := `{"key": "` + strings.Repeat("x", 1000) + `"}`
	args := blocktest.Args(t, typ, "path = \"/etc/x\"\nmerge = \"json\"\ncontent = <<EOT\n"+big+"\nEOT\n")
	data, err := block.Plain(typ.Schema, args.Value, nil)
	if err != nil {
		t.Fatal(err)
	}
	if slim, err := block.Slim(typ.Schema, data); err != nil || string(slim) != string(data) {
		t.Errorf("slimmed to %s (%v)", slim, err)
	}
}
