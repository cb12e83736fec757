package writefileifchanged_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	writefile "hostler/builtins/blocks/write_file_if_changed"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

func write(t testing.TB, path, content string, more ...string) block.Step {
	t.Helper()
	return blocktest.Step(t, writefile.Type(), fmt.Sprintf("path = %q\ncontent = %q\n%s\n", path, content, strings.Join(more, "\n")))
}

func text(t testing.TB, h host.Host, name string) string {
	t.Helper()
	b, err := thing.ReadAll(h.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func state(t testing.TB, h host.Host, name string) thing.State {
	t.Helper()
	s, err := thing.LookPath(h.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func holds(t testing.TB, err error, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not hold %q: %v", want, err)
		}
	}
}

func TestC06OnlyOctalModesAreTaken(t *testing.T) {
	for mode, want := range map[string]string{
		`"0999"`: "octal", `"644"`: `write "0644"`, `644`: `write "0644"`, `"010000"`: "largest", `"rw"`: "octal", `"1204"`: `write "01204"`, `""`: "leading zero",
	} {
		got := blocktest.Faults(writefile.Type(), "path = \"/etc/x\"\ncontent = \"\"\nmode = "+mode)
		if !strings.Contains(got, want) || !strings.Contains(got, "line 3") {
			t.Errorf("mode = %s: %q does not hold %q", mode, got, want)
		}
	}
	h := on(nil)(t)
	blocktest.NewStage(h).MustApply(t, write(t, "/etc/x", "", `mode = "0644"`))
	if got := state(t, h, "/etc/x").Mode; got != "0644" {
		t.Errorf("the mode is %s", got)
	}
}

func TestC10ABindMountedFile(t *testing.T) {
	h := memory.New(memory.Options{Files: files{"/etc/x": {Content: "old", Mode: 0o640}}, BindFiles: []string{"/etc/x"}}).Host()
	before := blocktest.Snapshot(t, h.Files, "/etc")
	s := blocktest.NewStage(h)
	for range 3 {
		err := s.Apply(write(t, "/etc/x", "new"))
		holds(t, err, "/etc/x", "mount point", "in_place = true")
		if diff := blocktest.Snapshot(t, h.Files, "/etc").Untouched(before); diff != "" {
			t.Fatalf("a refused write left something: %s", diff)
		}
	}
	s.MustApply(t, write(t, "/etc/x", "new", "in_place = true", `mode = "0640"`))
	after := blocktest.Snapshot(t, h.Files, "/etc")
	if text(t, h, "/etc/x") != "new" || after["/etc/x"].Ino != before["/etc/x"].Ino || after["/etc/x"].State.Mode != "0640" || len(after) != len(before) {
		t.Errorf("written in place: %+v", after["/etc/x"])
	}
}

func TestC13LinksAndHardLinks(t *testing.T) {
	for _, target := range []string{"same", "other"} {
		f := files{"/t/link": {Link: "real"}, "/t/real": {Content: target}}
		h := on(f)(t)
		s := blocktest.NewStage(h)
		change := s.MustCheck(t, write(t, "/t/link", "same"))
		if change.Action != block.ActionReplace {
			t.Errorf("replacing a link to %s content: %+v", target, change)
		}
		s.MustApply(t, write(t, "/t/link", "same"))
		if state(t, h, "/t/link").Kind != thing.File || text(t, h, "/t/real") != target {
			t.Errorf("the link was written through")
		}
		h = on(f)(t)
		blocktest.NewStage(h).MustApply(t, write(t, "/t/link", "same", "follow = true"))
		if state(t, h, "/t/link").Target != "real" || text(t, h, "/t/real") != "same" {
			t.Errorf("the link was not followed")
		}
	}
	h := on(files{"/t/a": {Content: "old"}})(t)
	if err := h.Files.Link("/t/a", "/t/b"); err != nil {
		t.Fatal(err)
	}
	blocktest.NewStage(h).MustApply(t, write(t, "/t/a", "new"))
	if text(t, h, "/t/a") != "new" || text(t, h, "/t/b") != "old" {
		t.Errorf("the other hard link holds %q", text(t, h, "/t/b"))
	}
}

func TestC13LinkLoops(t *testing.T) {
	h := on(files{"/t/a": {Link: "b"}, "/t/b": {Link: "a"}})(t)
	_, err := blocktest.NewStage(h).Check(write(t, "/t/a", "x", "follow = true"))
	holds(t, err, "/t/a", "too many levels")
	blocktest.NewStage(h).MustApply(t, write(t, "/t/a", "x"))
}

// TestFollowedToNowhere: a directory that a link leads to is not made on the
// side, where nothing would remove it.
func TestFollowedToNowhere(t *testing.T) {
	h := on(files{"/t/a": {Link: "/nowhere/deep/a"}})(t)
	before := blocktest.Snapshot(t, h.Files, "/")
	_, err := blocktest.NewStage(h).Check(write(t, "/t/a", "x", "follow = true"))
	holds(t, err, "/t/a", "/nowhere/deep/a", "there is no directory /nowhere/deep", "directory step")
	if diff := blocktest.Snapshot(t, h.Files, "/").Untouched(before); diff != "" {
		t.Error(diff)
	}
}

func TestH46ASymlinkAtThePathIsReplacedAndItsTargetUntouched(t *testing.T) {
	h := on(files{"/etc/shadow": {Content: "secret", Mode: 0o600}, "/tmp/x": {Link: "/etc/shadow"}})(t)
	before := blocktest.Snapshot(t, h.Files, "/etc/shadow")
	blocktest.NewStage(h).MustApply(t, write(t, "/tmp/x", "mine"))
	if diff := blocktest.Snapshot(t, h.Files, "/etc/shadow").Untouched(before); diff != "" {
		t.Error(diff)
	}
}

// The name stands for the whole file before it stands for anything else, and
// the file is synced before it is renamed.
func TestC15ModeOwnerAndSyncComeBeforeTheRename(t *testing.T) {
	h := on(files{"/etc/x": {Content: "old"}})(t)
	plan := fault.Count()
	s := blocktest.NewStage(fault.Wrap(h, plan))
	if err := s.Apply(write(t, "/etc/x", "new", `mode = "0640"`, `group = "4"`)); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range plan.Log() {
		if e.Name != "/etc/x" || e.Kind == "rename" {
			kinds = append(kinds, e.Kind)
		}
	}
	got := strings.Join(kinds, " ")
	if want := "remove open write lchown chmod sync rename sync"; got != want {
		t.Errorf("effects: %s, want %s", got, want)
	}
	for n := 1; n <= len(plan.Log()); n++ {
		h := on(files{"/etc/x": {Content: "old", Mode: 0o644}})(t)
		crashed := fault.Recover(func() {
			if err := blocktest.NewStage(fault.Wrap(h, fault.CrashAt(n))).Apply(write(t, "/etc/x", "new", `mode = "0640"`)); err != nil {
				t.Error(err)
			}
		})
		got := text(t, h, "/etc/x") + " " + state(t, h, "/etc/x").Mode
		if crashed == nil || got != "old 0644" && got != "new 0640" {
			t.Errorf("killed at effect %d, the file is %s", n, got)
		}
		blocktest.NewStage(h).MustApply(t, write(t, "/etc/x", "new", `mode = "0640"`))
		if left := blocktest.Snapshot(t, h.Files, "/etc"); len(left) != len(blocktest.Snapshot(t, on(files{"/etc/x": {}})(t).Files, "/etc")) {
			t.Errorf("killed at effect %d, something is left: %v", n, left)
		}
	}
}

func TestC17TheImmutableAttribute(t *testing.T) {
	h := on(files{"/etc/x": {Content: "same"}})(t)
	immutable := fault.FailAt(1, syscall.EPERM).From().Only(func(e fault.Effect) bool {
		return e.Kind == "rename" || e.Name == "/etc/x"
	})
	s := blocktest.NewStage(fault.Wrap(h, immutable))
	s.MustApply(t, write(t, "/etc/x", "same"))
	if log := immutable.Log(); len(log) != 0 {
		t.Errorf("nothing was to do, and this was tried: %v", log)
	}
	before := blocktest.Snapshot(t, h.Files, "/etc")
	holds(t, s.Apply(write(t, "/etc/x", "other")), "/etc/x", "immutable attribute")
	holds(t, s.Apply(write(t, "/etc/x", "same", `mode = "0600"`)), "/etc/x", "immutable attribute")
	if diff := blocktest.Snapshot(t, h.Files, "/etc").Untouched(before); diff != "" {
		t.Error(diff)
	}
}

func TestC18AReadOnlyMountIsFoundBeforeAnythingIsWritten(t *testing.T) {
	h := memory.New(memory.Options{ReadOnly: []string{"/usr"}, Files: files{"/usr/lib/there": {Content: "right"}}}).Host()
	s := blocktest.NewStage(h)
	_, err := s.Check(write(t, "/usr/local/lib/demo/x.sh", "x"))
	holds(t, err, "/usr/local/lib/demo/x.sh", "read-only file system", "mounted at /usr")
	holds(t, s.Apply(write(t, "/usr/local/lib/demo/x.sh", "x")), "/usr/local/lib/demo/x.sh", "read-only")
	s.MustHold(t, write(t, "/usr/lib/there", "right"))
}

func TestC19EmptyContentIsContent(t *testing.T) {
	h := on(nil)(t)
	s := blocktest.NewStage(h)
	s.MustApply(t, write(t, "/etc/x", "A\n"))
	change := s.MustCheck(t, write(t, "/etc/x", ""))
	if change.Action != block.ActionUpdate || !change.Bytes || change.Diffs[0].New == nil {
		t.Errorf("check: %+v", change)
	}
	s.MustApply(t, write(t, "/etc/x", ""))
	if got := state(t, h, "/etc/x"); got.Size != 0 || got.Mode != "0644" {
		t.Errorf("the file is %+v", got)
	}
}

func TestC20FailedWritesLeaveNothing(t *testing.T) {
	h := memory.New(memory.Options{
		Files: files{"/mnt/s": {Dir: true}}, Mounts: []memory.Mount{{Point: "/mnt/s", Size: 64 << 10}},
	}).Host()
	s := blocktest.NewStage(h)
	s.MustApply(t, write(t, "/mnt/s/app.conf.d/10-x.conf", "old"))
	before := blocktest.Snapshot(t, h.Files, "/mnt/s")
	for range 5 {
		err := s.Apply(write(t, "/mnt/s/app.conf.d/10-x.conf", strings.Repeat("x", 1<<20)))
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("the error is %v", err)
		}
		holds(t, err, "/mnt/s/app.conf.d/10-x.conf")
		if diff := blocktest.Snapshot(t, h.Files, "/mnt/s").Untouched(before); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestC20WhatAKilledRunLeftIsRemoved(t *testing.T) {
	h := on(files{"/etc/app.d/.10-x.conf.hostler-tmp": {Content: "half"}})(t)
	if host.TemporaryName("/etc/app.d/10-x.conf") != "/etc/app.d/.10-x.conf.hostler-tmp" {
		t.Fatal("a temporary file has another name now")
	}
	blocktest.NewStage(h).MustApply(t, write(t, "/etc/app.d/10-x.conf", "x"))
	if names, err := host.Names(h.Files, "/etc/app.d"); err != nil || len(names) != 1 {
		t.Errorf("%v (%v)", names, err)
	}
}

func TestR072ModeDriftIsPutRightAndRestartsNothing(t *testing.T) {
	h := on(files{"/etc/x": {Content: "same", Mode: 0o600, UID: 3}})(t)
	before := blocktest.Snapshot(t, h.Files, "/etc/x")
	s := blocktest.NewStage(h)
	change := s.MustCheck(t, write(t, "/etc/x", "same"))
	if change.Action != block.ActionUpdate || change.Bytes || change.Reason != "mode differs, owner differs" {
		t.Errorf("check: %+v", change)
	}
	if d := change.Diffs[0]; d.OldMode != "0600" || d.NewMode != "0644" || d.OldOwner != "3:0" || d.NewOwner != "0:0" || d.Old != nil {
		t.Errorf("diff: %+v", d)
	}
	s.MustApply(t, write(t, "/etc/x", "same"))
	after := blocktest.Snapshot(t, h.Files, "/etc/x")
	if after["/etc/x"].Ino != before["/etc/x"].Ino {
		t.Error("the file was rewritten for its mode")
	}
}

func TestH44AForeignFileIsKeptWholeAndPutBack(t *testing.T) {
	fstab := "# comment\tkept\n/dev/sda2\tnone\tswap\tsw 0 0\n"
	h := on(files{"/etc/fstab": {Content: fstab, Mode: 0o664, GID: 6}})(t)
	before := blocktest.Snapshot(t, h.Files, "/etc")
	s := blocktest.NewStage(h)
	step := write(t, "/etc/fstab", "# comment\tkept\n#/dev/sda2\tnone\tswap\tsw 0 0\n", "replaces_foreign = true")
	s.MustApply(t, step)
	once := blocktest.Snapshot(t, h.Files, "/etc")
	s.MustApply(t, step)
	if diff := blocktest.Snapshot(t, h.Files, "/etc").Untouched(once); diff != "" {
		t.Errorf("a second run changed: %s", diff)
	}
	s.MustReset(t, step)
	if diff := blocktest.Snapshot(t, h.Files, "/etc").Restored(before); diff != "" {
		t.Error(diff)
	}
}
