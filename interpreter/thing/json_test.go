package thing_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/thing"
)

// What a host says in bytes that are no UTF-8 comes back from the record as it
// was: a link is put back with its own target, and a state is the same as
// itself.
func TestStatesComeBackFromJSONByteForByte(t *testing.T) {
	for name, s := range map[string]thing.State{
		"nothing":          {},
		"a file":           {Kind: thing.File, Digest: "sha256:00", Size: 3, Mode: "0644", UID: 1, GID: 2},
		"a link":           {Kind: thing.Link, Target: "café"},
		"a Latin-1 link":   {Kind: thing.Link, Target: "caf\xe9"},
		"a Latin-1 line":   {Kind: thing.File, Value: " caf\xe9 \xff\xfe\n\ufffd"},
		"a Latin-1 target": {Kind: thing.Present, Links: map[string]string{"/a": "/b", "/c": "/\xe9"}},
	} {
		raw, err := json.Marshal(thing.Origin{Kind: thing.OriginSaved, State: &s})
		if err != nil {
			t.Fatal(err)
		}
		var back thing.Origin
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if diff := cmp.Diff(&s, back.State); diff != "" {
			t.Errorf("%s: %s: %s", name, raw, diff)
		}
		if strings.Contains(string(raw), "exact") != strings.Contains(name, "Latin") {
			t.Errorf("%s: %s", name, raw)
		}
	}
}

// Releases before wrote no exact bytes, and one with nonsense in their place
// must not panic.
func TestStatesOfOtherReleases(t *testing.T) {
	var s thing.State
	if err := json.Unmarshal([]byte(`{"kind":"link","target":"a"}`), &s); err != nil || s.Target != "a" {
		t.Errorf("%+v, %v", s, err)
	}
	if err := json.Unmarshal([]byte(`{"kind":"present","exact":{"links":{"/a":"aA=="}}}`), &s); err != nil || s.Links["/a"] != "h" {
		t.Errorf("%+v, %v", s, err)
	}
	if err := json.Unmarshal([]byte(`{"kind":5}`), &s); err == nil {
		t.Error("a kind that is a number is taken")
	}
}
