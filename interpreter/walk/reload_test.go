package walk_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

// TestReloadOncePerBatch: changed unit files are read again once, before the
// next question that needs it, and not before they are in place.
func TestReloadOncePerBatch(t *testing.T) {
	s := newScene(t, memory.Options{Units: []memory.Unit{{Name: "theirs.service"}}})
	plain := func(name, v string) string {
		return "systemd_unit \"" + name + "\" { content = \"[Service]\\nExecStart=/usr/bin/sleep infinity\\nEnvironment=V=" + v + "\\n\" }\n"
	}
	s.drive(plain("a.service", "1") + plain("b.service", "1") + plain("c.service", "1"))
	s.list(s.jobs(), "reload ")
	if last, reload := s.place("rename", "/etc/systemd/system/.c.service.hostler-tmp"), s.place("reload", "manager"); reload < last {
		t.Errorf("read again at %d, the last file was there at %d", reload, last)
	}
	s.drive(plain("a.service", "1") + plain("b.service", "1") + plain("c.service", "1"))
	s.list(s.jobs())
	s.drive(plain("a.service", "2") + plain("b.service", "2") + "systemd_unit \"theirs.service\" { state = \"started\" }\n")
	s.list(s.jobs(), "reload ", "reload ", "start theirs.service") // c.service is undone first
}

// TestReloadBeforeRestart: a unit whose definition changes is restarted with
// the new one.
func TestReloadBeforeRestart(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(service("a.service", "1", ""))
	s.list(s.jobs(), "reload ", "start a.service")
	s.drive(service("a.service", "2", ""))
	s.list(s.jobs(), "reload ", "restart a.service")
	if s.unit("a.service").NeedDaemonReload {
		t.Error("it runs with an old definition")
	}
}

// TestNoReloadForState: a unit that is only started needs no reload.
func TestNoReloadForState(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(service("a.service", "1", ""))
	s.ok(s.Host().Units.Run(background, host.JobStop, "a.service"))
	s.drive(service("a.service", "1", ""))
	s.list(s.jobs(), "start a.service")
	if _, err := host.Lstat(s.Host().Files, record.ReloadDebt); !host.Absent(err) {
		t.Errorf("a reload is owed: %v", err)
	}
}

// TestC33ReloadRefused: a reload that is refused fails the run; the unit is not
// restarted with its old definition; the next run reads and restarts, although
// no file changes.
func TestC33ReloadRefused(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(service("a.service", "1", ""))
	before := s.unit("a.service").InvocationID
	s.Refuse(memory.CallReload, errors.New("not enough space in /run"))
	s.fails(service("a.service", "2", ""), "not enough space in /run")
	if s.unit("a.service").InvocationID != before {
		t.Error("it was restarted with its old definition")
	}
	s.fails(service("a.service", "2", ""), "not enough space in /run")
	s.Crash()
	s.restart()
	s.Refuse(memory.CallReload, nil)
	s.drive(service("a.service", "2", ""))
	s.list(s.jobs(), "reload ", "restart a.service")
	if len(s.debts()) > 0 || s.unit("a.service").InvocationID == before {
		t.Errorf("debts %v", s.debts())
	}
}

// TestReloadOwedAcrossCrash: wherever the run dies, the next one reads the
// files again before it starts anything.
func TestReloadOwedAcrossCrash(t *testing.T) {
	clean := newScene(t, memory.Options{})
	clean.drive(service("a.service", "1", ""))
	clean.drive(service("a.service", "2", ""))
	written := clean.place("rename", "/etc/systemd/system/.a.service.hostler-tmp")
	restarted := clean.place("unit restart", "a.service")
	for n := written + 1; n <= restarted+1; n++ {
		s := newScene(t, memory.Options{})
		s.drive(service("a.service", "1", ""))
		s.plan = fault.CrashAfter(n)
		fault.Recover(func() { _, _ = s.try(service("a.service", "2", "")) })
		s.Crash()
		s.restart()
		s.drive(service("a.service", "2", ""))
		u := s.unit("a.service")
		if u.NeedDaemonReload || !u.Running() {
			t.Errorf("crash after %s: %+v", clean.plan.Log()[n-1], u)
		}
	}
}

// TestManagerFails: that the manager cannot be asked is an error before unit
// files change.
func TestManagerFails(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.tune = func(*walk.Input) { s.Refuse(memory.CallManager, errors.New("no reply")) }
	s.fails("systemd_unit \"a.service\" { content = \"[Service]\\nExecStart=/usr/bin/true\\n\" }\n", "no reply")
	s.want("/etc/systemd/system/a.service", "(absent)")
}

// TestNotedReloadsArePaid: a reload of an earlier run is made even when this
// one has nothing to do, and one of a machine that is gone is forgotten.
func TestNotedReloadsArePaid(t *testing.T) {
	s := newScene(t, memory.Options{})
	store := record.NewStore(s.Host(), nil)
	s.ok(store.OweReload(background, ""))
	s.ok(store.OweReload(background, "gone"))
	s.drive(file("a", "/etc/a", "1", ""))
	s.list(s.jobs(), "reload ")
	if owed, err := store.OwedReloads(); err != nil || len(owed) > 0 {
		t.Errorf("still owed: %v, %v", owed, err)
	}
}

// TestJobsThroughBatch: jobs that a step queues come after the reload, too.
func TestJobsThroughBatch(t *testing.T) {
	a, _ := once()
	a.apply = func(ctx context.Context, _ string, in block.Do) error {
		return in.Host.Units.Queue(ctx, host.JobStart, "a.service")
	}
	done := false
	a.check = func(string) (block.Change, error) {
		if done {
			return block.NoChange(), nil
		}
		done = true
		return block.Change{Action: block.ActionRun}, nil
	}
	s := newScene(t, memory.Options{})
	s.extra = []*block.Type{a.blockType()}
	s.drive("systemd_unit \"a.service\" { content = \"[Service]\\nExecStart=/usr/bin/sleep infinity\\n\" }\nact \"q\" {}\n")
	var kinds []string
	for _, e := range s.plan.Log() {
		if e.Kind == "reload" || strings.HasPrefix(e.Kind, "queue") {
			kinds = append(kinds, e.Kind)
		}
	}
	if !slices.Equal(kinds, []string{"reload", "queue start"}) {
		t.Errorf("effects %v", kinds)
	}
}
