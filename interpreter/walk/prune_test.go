package walk_test

import (
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
)

// TestPruneOrder: what a recipe does not name any more is undone before
// anything is applied, last claim first.
func TestPruneOrder(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(file("a", "/etc/a", "1", "") + file("b", "/etc/b", "1", "") + file("c", "/etc/c", "1", ""))
	result := s.drive(file("d", "/etc/d", "1", "") + file("b", "/etc/b", "2", ""))
	s.list(s.did(), "delete path:/etc/c", "delete path:/etc/a", "create write_file_if_changed.d", "update write_file_if_changed.b")
	if result.Undone != 2 || result.Changed != 2 {
		t.Errorf("result %+v", result)
	}
	if last, first := s.place("remove", "/etc/a"), s.place("open", "/etc/.d.hostler-tmp"); last < 0 || first < 0 || last > first {
		t.Errorf("removed at %d, written at %d", last, first)
	}
	s.list(s.claims(), "path:/etc/d", "path:/etc/b")
}

// TestPrunedOriginals: a pruned thing gets its original back, and is claimed
// anew with what is there then.
func TestPrunedOriginals(t *testing.T) {
	s := newScene(t, memory.Options{Files: map[string]memory.File{"/etc/a": {Content: "theirs", Mode: 0o600}}})
	foreign := "replaces_foreign = true\n"
	s.drive(file("a", "/etc/a", "ours", foreign))
	s.drive(file("x", "/etc/x", "x", ""))
	s.want("/etc/a", "theirs")
	if s.mode("/etc/a") != "0600" {
		t.Errorf("mode %s", s.mode("/etc/a"))
	}
	s.put("/etc/a", "edited by them")
	s.drive(file("a", "/etc/a", "ours again", foreign))
	s.mustReset()
	s.want("/etc/a", "edited by them")
}

// TestHandOver: a thing keeps its origin and is not undone when its step has
// another label, another place, another key, or another type.
func TestHandOver(t *testing.T) {
	before := file("a", "/etc/a", "ours", "replaces_foreign = true\n") + file("other", "/etc/o", "o", "")
	for name, after := range map[string]string{
		"renamed":  file("b", "/etc/a", "ours", "replaces_foreign = true\n") + file("other", "/etc/o", "o", ""),
		"moved":    "stage \"s\" {\n" + file("other", "/etc/o", "o", "") + file("a", "/etc/a", "ours", "replaces_foreign = true\n") + "}\n",
		"re-keyed": file("other", "/etc/o", "o", "") + "write_file_if_changed \"k\" {\n for_each = [\"a\"]\n path = \"/etc/${each.key}\"\n content = \"ours\"\n replaces_foreign = true\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, memory.Options{Files: map[string]memory.File{"/etc/a": {Content: "theirs"}}})
			s.drive(before)
			s.restart()
			s.drive(after)
			s.list(s.did())
			s.mustReset()
			s.want("/etc/a", "theirs")
		})
	}
	t.Run("another type", func(t *testing.T) {
		s := newScene(t, memory.Options{Files: map[string]memory.File{"/etc/a": {Content: "theirs"}}})
		s.drive(before)
		s.drive("symlink \"a\" {\n path = \"/etc/a\"\n target = \"o\"\n}\n" + file("other", "/etc/o", "o", ""))
		s.list(s.did(), "replace symlink.a")
		s.mustReset()
		s.want("/etc/a", "theirs")
	})
}

// TestTwoAttempts: what an attempt that failed wrote and the next does not want
// is undone, and does not count as drift.
func TestTwoAttempts(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(file("a", "/etc/a", "1", "on_drift = \"hold\"\n"))
	s.plan = fault.FailAt(1, syscall.EIO).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, "/etc/.z") })
	s.fails(file("a", "/etc/a", "2", "on_drift = \"hold\"\n") + file("b", "/etc/b", "2", "") + file("z", "/etc/z", "2", ""))
	s.want("/etc/a", "2")
	s.restart()
	result := s.drive(file("a", "/etc/a", "3", "on_drift = \"hold\"\n") + file("z", "/etc/z", "3", ""))
	if len(result.Drift) > 0 {
		t.Errorf("drift %v", result.Drift)
	}
	s.want("/etc/a", "3")
	s.want("/etc/b", "(absent)")
	s.list(s.claims(), "path:/etc/a", "path:/etc/z")
}

// TestPruneFails: a thing that cannot be undone stays claimed, and the next run
// goes on.
func TestPruneFails(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(file("a", "/etc/a", "1", "") + file("b", "/etc/b", "1", ""))
	s.plan = fault.FailAt(1, syscall.EBUSY).Only(func(e fault.Effect) bool { return e.Kind == "remove" && e.Name == "/etc/a" })
	s.fails("", "path:/etc/a", "resource busy")
	s.want("/etc/b", "(absent)")
	s.restart()
	s.drive("")
	s.want("/etc/a", "(absent)")
	s.list(s.claims())
}

// TestPruneLeavesResetSteps: a reset_step does nothing on apply, also when it
// is changed or dropped.
func TestPruneLeavesResetSteps(t *testing.T) {
	step := func(path string) string {
		return "reset_step \"r\" {\n remove_path {\n  path = \"" + path + "\"\n  recursive = true\n }\n}\n"
	}
	s := newScene(t, memory.Options{Files: map[string]memory.File{"/var/lib/data/x": {Content: "kept"}}})
	s.drive(step("/var/lib/data") + step("/var/lib/data/x")[:0] + file("a", "/etc/a", "1", ""))
	s.drive(step("/var/lib/other") + file("a", "/etc/a", "1", ""))
	s.want("/var/lib/data/x", "kept")
	s.drive(file("a", "/etc/a", "1", ""))
	s.want("/var/lib/data/x", "kept")
	s.list(s.claims(), "path:/etc/a")
}

// TestPruneStopsUnits: a pruned unit is stopped, disabled and gone, and the
// manager knows.
func TestPruneStopsUnits(t *testing.T) {
	s := newScene(t, memory.Options{})
	before := s.Snapshot("/run", record.Dir)
	s.drive(service("a.service", "1", ""))
	if s.unit("a.service").ActiveState != "active" {
		t.Fatal("it does not run")
	}
	s.drive("")
	if u := s.unit("a.service"); u.LoadState != "not-found" || u.ActiveState != "inactive" {
		t.Errorf("unit %s, %s", u.LoadState, u.ActiveState)
	}
	if diff := memory.Difference(before, s.Snapshot("/run", record.Dir)); len(diff) > 0 {
		t.Errorf("left: %v", diff)
	}
	if _, err := host.Lstat(s.Host().Files, record.ReloadDebt); !host.Absent(err) {
		t.Errorf("a reload is still owed: %v", err)
	}
}
