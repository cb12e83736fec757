package nspawnmachine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// slotted is the machine with two slots; parts are made for the first one.
func slotted(first, second, more string) string {
	return strings.Replace(body("/srv/one.tar", settings+more), `name = "kube1"`, `slots = ["`+first+`", "`+second+`"]`, 1)
}

// TestReplacedSlotIsLeft: a repave builds the other slot and touches nothing of
// the one that it replaces, until the step that stops that.
func TestReplacedSlotIsLeft(t *testing.T) {
	ctx := context.Background()
	s := blocktest.NewStage(memoryHost(nil).Host())
	old := slotted("kube1", "kube2", "")
	up(t, s, old)
	do := s.Do()
	do.Replaces = "kube1"
	look := func(name string) thing.State {
		t.Helper()
		st, err := thing.LookPath(s.Host.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	const dropIn = "/etc/systemd/system/systemd-nspawn@kube1.service.d/10-hostler.conf"
	before := look(dropIn)
	next := strings.Replace(slotted("kube2", "kube1", ""), `"10s"`, `"11s"`, 1)
	rootfs, boot := part(t, "rootfs", next), part(t, "boot", next)
	if err := rootfs.Apply(ctx, do); err != nil {
		t.Fatal(err)
	}
	if c, err := rootfs.Check(ctx, do.Look); err != nil || c.Needed() || len(c.Pending) > 0 {
		t.Errorf("the tree's step, again: %+v %v", c, err)
	}
	if now := look(dropIn); now.Digest != before.Digest {
		t.Error("the drop-in of the slot that is replaced was written")
	}
	enabled := func(want string) {
		t.Helper()
		for _, slot := range []string{"kube1", "kube2"} {
			u, err := s.Host.Units.Unit(ctx, thing.MachineUnit(slot))
			if err != nil || (u.UnitFileState == "enabled") != (slot == want) {
				t.Errorf("%s is %s, want enabled %s (%v)", slot, u.UnitFileState, want, err)
			}
		}
	}
	enabled("kube1")

	var stopped []string
	do.AfterStop = func(_ context.Context, slot string) error {
		found, registered, err := thing.FindMachine(ctx, s.Host.Machines, slot)
		if err != nil || registered {
			t.Errorf("after the stop of %s it is %+v (%v)", slot, found, err)
		}
		stopped = append(stopped, slot)
		return nil
	}
	if c, err := boot.Check(ctx, do.Look); err != nil || c.Action != block.ActionRun || !strings.Contains(c.Reason, "kube1, another slot of it, runs") {
		t.Errorf("check: %+v %v", c, err)
	}
	if err := boot.Apply(ctx, do); err != nil {
		t.Fatal(err)
	}
	enabled("kube2")
	if c, err := boot.Check(ctx, do.Look); err != nil || c.Needed() {
		t.Errorf("again: %+v %v", c, err)
	}
	if !slices.Equal(stopped, []string{"kube1"}) {
		t.Errorf("after the stop of %v", stopped)
	}
	// A run that was killed before the links were changed.
	s.MustApply(t, part(t, "rootfs", old))
	enabled("kube1")
	if c, err := boot.Check(ctx, do.Look); err != nil || c.Action != block.ActionUpdate || !strings.Contains(c.Reason, "kube2.service is not enabled") {
		t.Errorf("links: %+v %v", c, err)
	}
	if err := boot.Apply(ctx, do); err != nil {
		t.Fatal(err)
	}
	enabled("kube2")
}

// queuedUnits are units of which one is queued to start, until it is stopped.
type queuedUnits struct {
	host.Units
	name    string
	stopped bool
}

func (q *queuedUnits) Unit(ctx context.Context, name string) (host.UnitState, error) {
	u, err := q.Units.Unit(ctx, name)
	if name == q.name && !q.stopped {
		u.JobType = "start"
	}
	return u, err
}

func (q *queuedUnits) Queue(ctx context.Context, verb host.JobVerb, name string) error {
	q.stopped = q.stopped || verb == host.JobStop && name == q.name
	return q.Units.Queue(ctx, verb, name)
}

// TestOtherSlotIsQueued: a killed run may have queued the start of the slot that
// it moved to, of which machined knows nothing yet: it never comes up beside the
// active one.
func TestOtherSlotIsQueued(t *testing.T) {
	s := blocktest.NewStage(memoryHost(nil).Host())
	text := strings.Replace(body("/srv/one.tar", settings), "name = \"kube1\"", "slots = [\"kube1\", \"kube2\"]", 1)
	s.MustApply(t, part(t, "rootfs", text))
	q := &queuedUnits{Units: s.Host.Units, name: thing.MachineUnit("kube2")}
	s.Host.Units = q
	boot := part(t, "boot", text)
	if c := s.MustCheck(t, boot); c.Action != block.ActionRun || !strings.Contains(c.Reason, "kube2, another slot of it, runs") {
		t.Errorf("check: %+v", c)
	}
	s.MustApply(t, boot)
	if !q.stopped {
		t.Error("the queued start was not taken back")
	}
	s.MustHold(t, boot)
}

// TestAfterStopFails: the new slot is not started when what follows the stop of
// the old one fails.
func TestAfterStopFails(t *testing.T) {
	ctx := context.Background()
	s := blocktest.NewStage(memoryHost(nil).Host())
	up(t, s, slotted("kube1", "kube2", ""))
	next := slotted("kube2", "kube1", "")
	s.MustApply(t, part(t, "rootfs", next))
	do := s.Do()
	refused := errors.New("still mounted")
	do.AfterStop = func(context.Context, string) error { return refused }
	if err := part(t, "boot", next).Apply(ctx, do); !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
	if all, err := s.Host.Machines.Registered(ctx); err != nil || len(all) > 0 {
		t.Errorf("registered are %+v (%v)", all, err)
	}
}

// TestRebuildOn: values that are others than those it was built with make a
// repave pending, as soon as it is known what it was built with.
func TestRebuildOn(t *testing.T) {
	ctx := context.Background()
	s := blocktest.NewStage(memoryHost(nil).Host())
	text := func(values string) string { return body("/srv/one.tar", "rebuild_on = ["+values+"]") }
	s.MustApply(t, part(t, "rootfs", text(`"1", "2"`)))
	s.MustApply(t, part(t, "boot", text(`"1", "2"`)))
	var built *block.Built
	do := s.Do()
	do.Build = func(_ context.Context, b block.Built) error { built = &b; return nil }
	if err := part(t, "ready", text(`"1", "2"`)).Apply(ctx, do); err != nil || built == nil || built.RebuildOn == "" {
		t.Fatalf("built %+v (%v)", built, err)
	}
	other := *built
	other.Active = "kube9"
	for _, c := range []struct {
		values  string
		built   *block.Built
		pending bool
	}{
		{`"1", "2"`, built, false}, {`"12"`, built, true}, {`"1", "3"`, built, true}, {`"2", "1"`, built, true},
		{``, built, false}, {`"3"`, nil, false}, {`"3"`, &other, false},
	} {
		look := s.Do().Look
		look.Built = c.built
		change, err := part(t, "rootfs", text(c.values)).Check(ctx, look)
		pending := slices.ContainsFunc(change.Pending, func(p block.Pending) bool { return p.Needs == "repave" })
		if err != nil || change.Needed() || pending != c.pending {
			t.Errorf("%s: %+v (%v)", c.values, change, err)
		}
	}
}

// TestStartNoteGoesWithTheTree: of a machine that is taken away nothing is left
// that speaks of its start.
func TestStartNoteGoesWithTheTree(t *testing.T) {
	s := blocktest.NewStage(memoryHost(nil).Host())
	text := body("/srv/one.tar", "")
	s.MustApply(t, part(t, "rootfs", text))
	s.MustApply(t, part(t, "boot", text))
	const note = "/run/hostler/machines/kube1.json"
	if _, err := host.Lstat(s.Host.Files, note); err != nil {
		t.Fatal(err)
	}
	s.MustReset(t, part(t, "rootfs", text))
	if _, err := host.Lstat(s.Host.Files, note); !host.Absent(err) {
		t.Errorf("the note is left (%v)", err)
	}
}
