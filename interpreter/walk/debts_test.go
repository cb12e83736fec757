package walk_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
)

// two units that are not ours, running, with a restart each.
func twoUnits() memory.Options {
	return memory.Options{Units: []memory.Unit{{Name: "a.service", Running: true}, {Name: "b.service", Running: true}, {Name: "off.service"}}}
}

func restart(unit, watch string) string {
	return "restart_on_change \"" + unit + "\" { watch = [" + watch + "] }\n"
}

// TestDebtBeforeChange: a restart is noted before the change that causes it, as
// not in place, then as in place, and forgotten after it succeeded.
func TestDebtBeforeChange(t *testing.T) {
	s := newScene(t, twoUnits())
	body := file("f", "/etc/f", "1", "") + restart("a.service", "write_file_if_changed.f")
	var before, after []block.Debt
	s.plan = fault.HookAt(1, func(fault.Effect) { before = s.debts() }).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, "/etc/.f") })
	invocation := s.unit("a.service").InvocationID
	s.drive(body)
	if len(before) != 1 || before[0].Unit != "a.service" || before[0].Invocation != invocation || before[0].InPlace != 0 || before[0].Cause != "write_file_if_changed.f" {
		t.Errorf("before the change: %+v", before)
	}
	s.plan = fault.HookAt(1, func(fault.Effect) { after = s.debts() }).Only(func(e fault.Effect) bool { return e.Kind == "unit restart" })
	s.drive(strings.ReplaceAll(body, "\"1\"", "\"2\""))
	if len(after) != 1 || after[0].InPlace == 0 {
		t.Errorf("before the restart: %+v", after)
	}
	if left := s.debts(); len(left) > 0 {
		t.Errorf("after the restart: %+v", left)
	}
	s.list(s.jobs(), "restart a.service")
}

// TestR071NotRunning: a unit that does not run owes nothing.
func TestR071NotRunning(t *testing.T) {
	s := newScene(t, twoUnits())
	s.drive(file("f", "/etc/f", "1", "") + restart("off.service", "write_file_if_changed.f"))
	s.list(s.jobs())
	if s.unit("off.service").Running() {
		t.Error("it was started")
	}
}

// TestR068R069R070: nothing is restarted without a change, only what watches
// what changed, and in the order of the recipe.
func TestR068R069R070Restarts(t *testing.T) {
	s := newScene(t, twoUnits())
	body := func(x, y string) string {
		return file("x", "/etc/x", x, "") + file("y", "/etc/y", y, "") + restart("b.service", "write_file_if_changed.y, write_file_if_changed.x") + restart("a.service", "write_file_if_changed.x")
	}
	s.drive(body("1", "1"))
	s.drive(body("1", "1"))
	s.list(s.jobs())
	s.drive(body("1", "2"))
	s.list(s.jobs(), "restart b.service")
	s.drive(body("2", "3"))
	s.list(s.jobs(), "restart b.service", "restart a.service")
}

// TestR072ModeOnly: a mode that drifted is put right and restarts nothing.
func TestR072ModeOnly(t *testing.T) {
	s := newScene(t, twoUnits())
	body := file("f", "/etc/f", "1", "") + restart("a.service", "write_file_if_changed.f")
	s.drive(body)
	s.ok(s.Host().Files.Chmod("/etc/f", 0o600))
	s.drive(body)
	s.list(s.did(), "update write_file_if_changed.f")
	s.list(s.jobs())
	if s.mode("/etc/f") != "0644" {
		t.Errorf("mode %s", s.mode("/etc/f"))
	}
}

// TestC27OneRestart: many changes are one restart of a unit in a run.
func TestC27OneRestart(t *testing.T) {
	s := newScene(t, memory.Options{Units: []memory.Unit{{Name: "a.service", Running: true,
		Content: "[Unit]\nStartLimitBurst=2\nStartLimitIntervalSec=120\n[Service]\nExecStart=/usr/bin/sleep infinity\n"}}})
	var body string
	for _, name := range []string{"1", "2", "3", "4"} {
		body += file("f"+name, "/etc/f"+name, "1", "")
	}
	body += restart("a.service", "write_file_if_changed.f1, write_file_if_changed.f2, write_file_if_changed.f3, write_file_if_changed.f4")
	s.drive(body)
	s.list(s.jobs(), "restart a.service")
	for _, v := range []string{"2", "3", "4", "5"} {
		s.drive(strings.ReplaceAll(body, "\"1\"", "\""+v+"\""))
		s.list(s.jobs(), "restart a.service")
	}
}

// TestC28LaterStepFails: the restart that a run did not come to is made by the
// next one, although nothing changes then.
func TestC28LaterStepFails(t *testing.T) {
	for name, between := range map[string]func(*scene){
		"as it is":     func(*scene) {},
		"after a kill": func(s *scene) { s.Crash() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, twoUnits())
			body := file("f", "/etc/f", "1", "") + file("b", "/etc/b", "1", "") + restart("a.service", "write_file_if_changed.f")
			s.plan = fault.FailAt(1, syscall.ENOSPC).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, "/etc/.b") })
			s.fails(body)
			if len(s.debts()) != 1 {
				t.Fatalf("debts %v", s.debts())
			}
			between(s)
			s.restart()
			s.drive(body)
			s.list(s.did(), "create write_file_if_changed.b", "restart restart_on_change[\"a.service\"]")
		})
	}
}

// TestDebtVoid: a unit that was started since, by whomever, owes nothing; a
// reboot clears all.
func TestDebtVoid(t *testing.T) {
	for name, between := range map[string]func(*scene){
		"restarted by hand": func(s *scene) {
			s.ok(s.Host().Clock.Sleep(background, time.Second))
			s.ok(s.Host().Units.Run(background, host.JobRestart, "a.service"))
		},
		"stopped":    func(s *scene) { s.ok(s.Host().Units.Run(background, host.JobStop, "a.service")) },
		"reboot":     func(s *scene) { s.Reboot() },
		"power loss": func(s *scene) { s.PowerLoss(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, twoUnits())
			body := file("f", "/etc/f", "1", "") + file("b", "/etc/b", "1", "") + restart("a.service", "write_file_if_changed.f")
			s.plan = fault.FailAt(1, syscall.ENOSPC).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, "/etc/.b") })
			s.fails(body)
			between(s)
			s.restart()
			s.drive(body)
			s.list(s.jobs())
			if left := s.debts(); len(left) > 0 {
				t.Errorf("debts %v", left)
			}
		})
	}
}

// TestRenameNotDurable: a change that is there although its last step failed
// owes its restart.
func TestRenameNotDurable(t *testing.T) {
	s := newScene(t, twoUnits())
	body := file("f", "/etc/f", "1", "") + restart("a.service", "write_file_if_changed.f")
	s.plan = fault.FailAt(1, syscall.EIO).Only(func(e fault.Effect) bool { return e.Kind == "sync" && e.Name == "/etc" })
	s.fails(body, "input/output error")
	s.want("/etc/f", "1")
	s.restart()
	s.drive(body)
	s.list(s.jobs(), "restart a.service")
}

// TestAttemptOwesNothing: a change that failed and left nothing owes no
// restart, and leaves a debt of before as it was.
func TestAttemptOwesNothing(t *testing.T) {
	s := newScene(t, twoUnits())
	body := func(v string) string {
		return file("f", "/etc/f", v, "") + file("b", "/etc/b", v, "") + restart("a.service", "write_file_if_changed.f")
	}
	full := func(part string) *fault.Plan {
		return fault.FailAt(1, syscall.ENOSPC).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, part) })
	}
	s.plan = full("/etc/.f")
	s.fails(body("1"))
	if left := s.debts(); len(left) > 0 {
		t.Errorf("debts %v", left)
	}
	s.plan = full("/etc/.b")
	s.fails(body("1"))
	earlier := s.debts()
	s.plan = full("/etc/.f")
	s.fails(body("2"))
	if left := s.debts(); len(left) != 1 || left[0] != earlier[0] {
		t.Errorf("debts %v, want %v", left, earlier)
	}
	s.drive(body("1"))
	s.list(s.jobs(), "restart a.service")
}

// TestPrunedThingsCount: what is not wanted any more restarts who watched it,
// in the applied recipe, in a target that was not reached, or under another
// label.
func TestPrunedThingsCount(t *testing.T) {
	both := file("f", "/etc/f", "1", "") + file("g", "/etc/g", "1", "") + restart("a.service", "write_file_if_changed.f, write_file_if_changed.g")
	one := file("f", "/etc/f", "1", "") + restart("a.service", "write_file_if_changed.f")
	t.Run("applied", func(t *testing.T) {
		s := newScene(t, twoUnits())
		s.drive(both)
		s.drive(one)
		s.list(s.jobs(), "restart a.service")
		s.drive(one)
		s.list(s.jobs())
	})
	t.Run("under another label", func(t *testing.T) {
		s := newScene(t, twoUnits())
		s.drive(both)
		s.drive(file("f", "/etc/f", "1", "") + "restart_on_change \"other\" {\n name = \"a.service\"\n watch = [write_file_if_changed.f]\n}\n")
		s.list(s.did(), "delete path:/etc/g", "restart restart_on_change.other")
	})
	t.Run("not reached", func(t *testing.T) {
		s := newScene(t, twoUnits())
		s.plan = fault.FailAt(1, syscall.EIO).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, "/etc/.z") })
		s.fails(both + file("z", "/etc/z", "1", ""))
		s.Crash()
		s.ok(s.Host().Files.RemoveAll(record.DebtDir))
		s.restart()
		s.drive(one)
		s.list(s.jobs(), "restart a.service")
	})
}

// TestWatcherGone: debts that nobody is left to pay are forgotten.
func TestWatcherGone(t *testing.T) {
	s := newScene(t, twoUnits())
	body := file("f", "/etc/f", "1", "") + file("b", "/etc/b", "1", "") + restart("a.service", "write_file_if_changed.f")
	s.plan = fault.FailAt(1, syscall.ENOSPC).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, "/etc/.b") })
	s.fails(body)
	s.restart()
	s.drive(file("f", "/etc/f", "1", ""))
	s.list(s.jobs())
	if left := s.debts(); len(left) > 0 {
		t.Errorf("debts %v", left)
	}
}

// TestDebtCannotBeNoted: without a note there is no change.
func TestDebtCannotBeNoted(t *testing.T) {
	s := newScene(t, twoUnits())
	s.plan = fault.FailAt(1, syscall.ENOSPC).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, record.DebtDir+"/") })
	s.fails(file("f", "/etc/f", "1", "")+restart("a.service", "write_file_if_changed.f"), "owes a restart of a.service")
	s.want("/etc/f", "(absent)")
}

// TestDebtCannotBeTold: a manager that does not answer is an error, not a unit
// that does not run.
func TestDebtCannotBeTold(t *testing.T) {
	s := newScene(t, twoUnits())
	s.Refuse(memory.CallUnit, errors.New("no reply"))
	s.fails(file("f", "/etc/f", "1", "")+restart("a.service", "write_file_if_changed.f"), "no reply")
	s.want("/etc/f", "(absent)")
}

// TestRestartFails: a restart that fails is still owed.
func TestRestartFails(t *testing.T) {
	s := newScene(t, twoUnits())
	body := file("f", "/etc/f", "1", "") + restart("a.service", "write_file_if_changed.f")
	s.FailJob(host.JobRestart, "a.service", "failed")
	s.fails(body, "a.service", "failed")
	s.FailJob(host.JobRestart, "a.service", "")
	s.restart()
	s.drive(body)
	s.list(s.jobs(), "restart a.service")
}

// TestOfflineShowsRestarts: without a manager restarts are shown as what the
// next boot does, and nothing is noted.
func TestOfflineShowsRestarts(t *testing.T) {
	s := newScene(t, memory.Options{Offline: true, Units: []memory.Unit{{Name: "a.service"}}})
	result := s.drive(file("f", "/etc/f", "1", "") + restart("a.service", "write_file_if_changed.f"))
	if !result.Deferred || len(s.debts()) > 0 {
		t.Errorf("result %+v, debts %v", result, s.debts())
	}
	last := s.events[len(s.events)-1]
	if len(last.Change.Deferred) != 1 || !strings.Contains(last.Change.Deferred[0], "at next boot") {
		t.Errorf("event %+v", last)
	}
}
