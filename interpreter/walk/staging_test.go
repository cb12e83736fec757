package walk_test

import (
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
)

// TestC20StagingOfAnotherTarget: an update that was killed while it wrote a file
// leaves what it wrote beside it. Whoever goes back finds the file as it is to
// be, and tidies up all the same; on a complete host nobody looks.
func TestC20StagingOfAnotherTarget(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(file("a", "/etc/a", "1", ""))
	left := host.TemporaryName("/etc/a")
	s.put(left, "half of 2")
	s.rec.Phase = record.Complete
	s.drive(file("a", "/etc/a", "1", ""))
	s.want(left, "half of 2")
	s.rec.Phase = record.Installing
	s.drive(file("a", "/etc/a", "1", ""))
	if _, err := host.Lstat(s.Host().Files, left); !host.Absent(err) {
		t.Errorf("it is left (%v)", err)
	}
	s.want("/etc/a", "1")
}
