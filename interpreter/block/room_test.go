package block_test

import (
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/host/memory"
)

// TestRoom: whether something can be made in a directory, or run from it, is
// found out without making anything (R175, R176).
func TestRoom(t *testing.T) {
	m := memory.New(memory.Options{
		Files:  map[string]memory.File{"/srv/file": {Content: "x"}, "/srv/nowhere": {Link: "gone"}},
		Mounts: []memory.Mount{{Point: "/usr/local", ReadOnly: true}, {Point: "/tmp", NoExec: true}},
	})
	v := m.Host().View()
	before := m.Snapshot()
	for dir, want := range map[string][2]string{
		"/opt/a/b":         {"", ""},
		"/usr/local/bin":   {"/usr/local/bin cannot be written: /usr/local is mounted read-only", ""},
		"/usr/local/x/y":   {"/usr/local is mounted read-only", ""},
		"/tmp/bin":         {"", "nothing can be run from /tmp/bin: /tmp is mounted noexec"},
		"/srv/file/bin":    {"/srv/file is not a directory", ""},
		"/srv/nowhere/bin": {"/srv/nowhere is a link that leads nowhere", ""},
		"/":                {"", ""},
	} {
		for i, look := range []func() (*block.Unmet, error){
			func() (*block.Unmet, error) { return block.Writable(t.Context(), v, dir) },
			func() (*block.Unmet, error) { return block.RunsFrom(t.Context(), v, dir) },
		} {
			unmet, err := look()
			switch {
			case i == 1 && strings.HasPrefix(dir, "/srv/"): // what is in the way says so before
			case err != nil || (unmet == nil) != (want[i] == ""):
				t.Errorf("%s: %v, %v", dir, unmet, err)
			case unmet != nil && (!strings.Contains(unmet.Summary, want[i]) || unmet.Advice == ""):
				t.Errorf("%s: %q, %q", dir, unmet.Summary, unmet.Advice)
			}
		}
	}
	if diff := memory.Difference(before, m.Snapshot()); len(diff) > 0 {
		t.Errorf("the looks changed %v", diff)
	}
}
