package interpreter_test

import (
	"strings"
	"testing"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
)

// TestResetLeavesMountPoints: what a disk is mounted on cannot be removed and
// stays, with a warning where the directory counts as ours; all else goes.
func TestResetLeavesMountPoints(t *testing.T) {
	r := newRig(t, memory.Options{
		Mounts: []memory.Mount{{Point: "/srv/agent", Type: "xfs"}, {Point: record.Dir, Type: "xfs"}},
		Files:  map[string]memory.File{"/srv/agent/bin/hostler": {Content: "delivered", Mode: 0o755}},
	})
	r.tune = func(req *interpreter.Request) { req.Prefix = "/srv/agent" }
	r.must(apply, a(withInterpreter))
	r.tune = nil
	if out := r.must(reset, nothing); out.Phase != "absent" {
		t.Errorf("phase %s", out.Phase)
	}
	if said := strings.Join(r.warned(), "\n"); !strings.Contains(said, "/srv/agent was made by hostler and is a mount point now; it stays") {
		t.Errorf("warnings: %s", said)
	}
	for _, dir := range []string{"/srv/agent", record.Dir} {
		names, err := host.Names(r.Host().Files, dir)
		if err != nil || len(names) > 0 {
			t.Errorf("%s holds %v (%v)", dir, names, err)
		}
	}
}
