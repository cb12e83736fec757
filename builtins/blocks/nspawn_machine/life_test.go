package nspawnmachine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
)

func TestWhole(t *testing.T) {
	m := memoryHost(nil)
	s := blocktest.NewStage(m.Host())
	text := body("/srv/one.tar", settings+"ready {\n unit = \"multi-user.target\"\n}\nready {\n file = \"/etc/os-release\"\n}\nready {\n command = [\"true\"]\n}")
	up(t, s, text)
	found, registered, err := thing.FindMachine(context.Background(), s.Host.Machines, "kube1")
	if err != nil || !registered || !found.Alive {
		t.Fatalf("%+v %v %v", found, registered, err)
	}
	// Again is nothing, and the machine runs on.
	for _, phase := range []string{"rootfs", "boot", "ready"} {
		s.MustHold(t, part(t, phase, text))
	}
	// Settings change: files are written, the restart is pending.
	changed := strings.Replace(text, `"10s"`, `"11s"`, 1)
	s.MustApply(t, part(t, "rootfs", changed))
	pending := s.MustCheck(t, part(t, "rootfs", changed)).Pending
	if len(pending) != 1 || pending[0].Needs != "machine restart" || pending[0].Machine != "kube1" {
		t.Errorf("pending %+v", pending)
	}
	again, _, err := thing.FindMachine(context.Background(), s.Host.Machines, "kube1")
	if err != nil || again.Leader != found.Leader {
		t.Errorf("the machine was restarted: %+v %v", again, err)
	}
	// After a restart nothing is pending.
	if err := s.Host.Clock.Sleep(context.Background(), 1e9); err != nil {
		t.Fatal(err)
	}
	if err := s.Host.Units.Run(context.Background(), host.JobRestart, thing.MachineUnit("kube1")); err != nil {
		t.Fatal(err)
	}
	if pending := s.MustCheck(t, part(t, "rootfs", changed)).Pending; len(pending) != 0 {
		t.Errorf("pending after a restart: %+v", pending)
	}
	// Another image: a repave is pending, the tree stays.
	other := strings.Replace(changed, "one.tar", "two.tar", 1)
	c := s.MustCheck(t, part(t, "rootfs", other))
	if c.Needed() || len(c.Pending) != 1 || c.Pending[0].Needs != "repave" || !strings.Contains(c.Pending[0].Reason, "/srv/two.tar") {
		t.Errorf("another image: %+v", c)
	}
	// The image need not be there any more.
	if err := s.Host.Files.Remove("/srv/one.tar"); err != nil {
		t.Fatal(err)
	}
	s.MustHold(t, part(t, "rootfs", changed))
	for _, phase := range []string{"ready", "boot", "rootfs"} {
		s.MustReset(t, part(t, phase, changed))
	}
	for _, name := range []string{"/var/lib/machines/kube1", "/var/lib/machines/.hostler", "/etc/systemd/nspawn", "/run/hostler/machines"} {
		if _, err := host.Lstat(s.Host.Files, name); !host.Absent(err) {
			t.Errorf("%s is left (%v)", name, err)
		}
	}
	if _, registered, _ := thing.FindMachine(context.Background(), s.Host.Machines, "kube1"); registered {
		t.Error("the machine is still registered")
	}
}

// TestRecord: what a machine was built from is recorded after ready, by whom
// started it.
func TestRecord(t *testing.T) {
	m := memoryHost(nil)
	s := blocktest.NewStage(m.Host())
	text := body("/srv/one.tar", settings+"ready {\n command = [\"true\"]\n}")
	s.MustApply(t, part(t, "rootfs", text))
	s.MustApply(t, part(t, "boot", text))
	var built []block.Built
	do := s.Do()
	do.Build = func(_ context.Context, b block.Built) error { built = append(built, b); return nil }
	ready := part(t, "ready", text)
	for range 2 {
		if err := ready.Apply(context.Background(), do); err != nil {
			t.Fatal(err)
		}
	}
	digest, _, err := rootfs.Complete(s.Host.Files, "kube1")
	if err != nil || len(built) != 1 || built[0].Active != "kube1" || built[0].Digest != digest || built[0].Image != "/srv/one.tar" || len(built[0].Parts) != 2 {
		t.Fatalf("built %+v (%v)", built, err)
	}
	// A file that drifted and is put right is what the machine started with.
	name := "/etc/systemd/nspawn/kube1.nspawn"
	if err := host.Replace(s.Host.Files, name, host.Content{Bytes: []byte("edited"), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	s.MustApply(t, part(t, "rootfs", text))
	do = s.Do()
	if c, err := part(t, "rootfs", text).Check(context.Background(), do.Look); err != nil || len(c.Pending) != 1 {
		t.Errorf("without the record: %+v %v", c, err)
	}
	do.Built = &built[0]
	if c, err := part(t, "rootfs", text).Check(context.Background(), do.Look); err != nil || len(c.Pending) != 0 {
		t.Errorf("with the record: %+v %v", c, err)
	}
}

// TestC35StaleRegistration: it is cleared once, and only it.
func TestC35StaleRegistration(t *testing.T) {
	m := memoryHost(nil)
	s := blocktest.NewStage(m.Host())
	text := body("/srv/one.tar", "")
	up(t, s, text)
	m.KillMachine("kube1", true)
	c := s.MustCheck(t, part(t, "boot", text))
	if c.Action != block.ActionRestart || !strings.Contains(c.Reason, "registered") {
		t.Errorf("change %+v", c)
	}
	s.MustApply(t, part(t, "boot", text))
	s.MustApply(t, part(t, "ready", text))
	err := thing.ClearStale(context.Background(), s.Host, "kube1")
	if err == nil || !strings.Contains(err.Error(), "runs: it is not terminated") {
		t.Errorf("a living machine: %v", err)
	}
}

// TestRegisteredIsNeverRebuilt: R065, R130.
func TestRegisteredIsNeverRebuilt(t *testing.T) {
	m := memoryHost(func(o *memory.Options) {
		o.Machines = []memory.Machine{{Name: "kube1", Running: true, Files: map[string]memory.File{"/mine": {}}}}
	})
	s := blocktest.NewStage(m.Host())
	c := s.MustCheck(t, part(t, "rootfs", body("/srv/one.tar", "")))
	if len(c.Pending) == 0 || c.Pending[0].Needs != "repave" {
		t.Errorf("change %+v", c)
	}
	s.MustApply(t, part(t, "rootfs", body("/srv/one.tar", "")))
	if _, err := host.Lstat(s.Host.Files, "/var/lib/machines/kube1/mine"); err != nil {
		t.Error(err)
	}
	m.Refuse(memory.CallRegistered, fmt.Errorf("inventory broken"))
	for _, phase := range []string{"rootfs", "boot", "ready"} {
		if _, err := s.Check(part(t, phase, body("/srv/one.tar", ""))); err == nil || !strings.Contains(err.Error(), "inventory broken") || !strings.Contains(err.Error(), "kube1") {
			t.Errorf("%s: %v", phase, err)
		}
	}
}

// TestIncompleteIsRebuilt: an owned tree without the mark is emptied (R060).
func TestIncompleteIsRebuilt(t *testing.T) {
	m := memoryHost(func(o *memory.Options) { o.Files["/var/lib/machines/kube1/half"] = memory.File{Content: "x"} })
	s := blocktest.NewStage(m.Host())
	c := s.MustCheck(t, part(t, "rootfs", body("/srv/one.tar", "")))
	if c.Action != block.ActionReplace {
		t.Errorf("change %+v", c)
	}
	s.MustApply(t, part(t, "rootfs", body("/srv/one.tar", "")))
	if _, err := host.Lstat(s.Host.Files, "/var/lib/machines/kube1/half"); !host.Absent(err) {
		t.Errorf("half: %v", err)
	}
}

func TestReadyFaults(t *testing.T) {
	for more, want := range map[string]string{
		"ready {\n unit = \"gone.service\"\n timeout = \"5s\"\n on_timeout = [[\"false\"], [\"true\"]]\n}": "not ready after 5s: unit gone.service does not exist\nfalse:",
		"ready {\n file = \"/gone\"\n timeout = \"5s\"\n}":                                                 "file /gone is not there",
		"ready {\n command = [\"false\"]\n timeout = \"5s\"\n}":                                            "command false does not succeed",
	} {
		s := blocktest.NewStage(memoryHost(nil).Host())
		text := body("/srv/one.tar", more)
		s.MustApply(t, part(t, "rootfs", text))
		s.MustApply(t, part(t, "boot", text))
		err := s.Apply(part(t, "ready", text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "machine kube1") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	s := blocktest.NewStage(memoryHost(nil).Host())
	if c := s.MustCheck(t, part(t, "ready", body("/srv/one.tar", ""))); c.Action != block.ActionRun {
		t.Errorf("not running: %+v", c)
	}
	if err := s.Apply(part(t, "ready", body("/srv/one.tar", ""))); err == nil || !strings.Contains(err.Error(), "it does not run") {
		t.Errorf("not running: %v", err)
	}
}

// TestFailureReasons: the tree and each condition say what their failure is
// reported as.
func TestFailureReasons(t *testing.T) {
	rootfs := func(image string) string {
		return strings.Replace(body(image, ""), "image =", "failure_reason = \"TreeFailed\"\n image =", 1)
	}
	s := blocktest.NewStage(memoryHost(nil).Host())
	if err := s.Apply(part(t, "rootfs", rootfs("/srv/gone.tar"))); block.Reason(err, "Other") != "TreeFailed" {
		t.Errorf("tree: %v is %s", err, block.Reason(err, "Other"))
	}
	for more, want := range map[string]string{
		"ready {\n file = \"/etc/os-release\"\n failure_reason = \"First\"\n}\nready {\n file = \"/gone\"\n timeout = \"1s\"\n failure_reason = \"Second\"\n}": "Second",
		"ready {\n file = \"/gone\"\n timeout = \"1s\"\n}": "Other",
	} {
		s := blocktest.NewStage(memoryHost(nil).Host())
		text := body("/srv/one.tar", more)
		s.MustApply(t, part(t, "rootfs", text))
		s.MustApply(t, part(t, "boot", text))
		if err := s.Apply(part(t, "ready", text)); err == nil || block.Reason(err, "Other") != want {
			t.Errorf("%s: %v is %s", more, err, block.Reason(err, "Other"))
		}
	}
}

func TestOffline(t *testing.T) {
	s := blocktest.NewStage(memoryHost(func(o *memory.Options) { o.Offline = true }).Host())
	text := body("/srv/one.tar", settings)
	up(t, s, text)
	for phase, want := range map[string]string{"boot": "started at boot", "ready": "becomes ready after boot"} {
		if c := s.MustCheck(t, part(t, phase, text)); len(c.Deferred) != 1 || !strings.Contains(c.Deferred[0], want) {
			t.Errorf("%s: %+v", phase, c)
		}
	}
	if digest, ok, err := rootfs.Complete(s.Host.Files, "kube1"); !ok || err != nil || digest == "" {
		t.Errorf("%q %v %v", digest, ok, err)
	}
}

// TestBootAfterReboot: the machine starts at boot by its links.
func TestBootAfterReboot(t *testing.T) {
	m := memoryHost(nil)
	s := blocktest.NewStage(m.Host())
	text := body("/srv/one.tar", settings)
	up(t, s, text)
	m.Reboot()
	for _, phase := range []string{"rootfs", "boot", "ready"} {
		s.MustHold(t, part(t, phase, text))
	}
}

// TestNoContainerPackage: the package may come by an earlier step, so a check
// does not fail; applying without it does.
func TestNoContainerPackage(t *testing.T) {
	s := blocktest.NewStage(memoryHost(func(o *memory.Options) { o.Offline, o.NoSystemdContainer = true, true }).Host())
	text := body("/srv/one.tar", "")
	if c := s.MustCheck(t, part(t, "rootfs", text)); c.Action != block.ActionUnknown || !strings.Contains(c.Reason, "systemd-container") {
		t.Errorf("change %+v", c)
	}
	if err := s.Apply(part(t, "rootfs", text)); err == nil || !strings.Contains(err.Error(), "systemd-container") {
		t.Errorf("apply: %v", err)
	}
}
