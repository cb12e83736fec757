package resident

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
)

func TestUpgrade(t *testing.T) {
	s := newSite(t, recipe)
	before := s.unit(delivery.DaemonUnit)
	done, err := s.upgrade("two")
	s.ok(err)
	if !done.Changed || done.Version != "hostler two" || done.Slot != bin+"hostler-green" {
		t.Errorf("done: %+v", done)
	}
	s.runs("two", "old")
	after := s.unit(delivery.DaemonUnit)
	if !after.Running() || after.InvocationID == before.InvocationID {
		t.Error("the daemon was not started anew")
	}
	done, err = s.upgrade("two")
	if err != nil || done.Changed || s.unit(delivery.DaemonUnit).InvocationID != after.InvocationID {
		t.Errorf("the same again: %+v, %v", done, err)
	}
	// The one that is written over is never the last good one.
	_, err = s.upgrade("three")
	s.ok(err)
	s.runs("three", "two")
}

func TestUpgradeThatCrashesGoesBack(t *testing.T) {
	s := newSite(t, recipe)
	_, err := s.upgrade("crash")
	back, ok := errors.AsType[*RolledBackError](err)
	if !ok || back.Back != nil || !strings.Contains(err.Error(), "the last good one does again") || !strings.Contains(err.Error(), delivery.DaemonUnit) {
		t.Fatalf("error: %v", err)
	}
	s.runs("old", "old")
	if !s.unit(delivery.DaemonUnit).Running() {
		t.Error("the daemon does not run")
	}
}

// TestUpgradeOfABrokenOne: a current program that does not work is given up,
// and the last good one stays.
func TestUpgradeOfABrokenOne(t *testing.T) {
	for _, how := range []string{"crash", "mute"} {
		s := newSite(t, recipe)
		_, err := s.upgrade("two")
		s.ok(err)
		s.put(bin+"hostler-green", how)
		_ = s.Host().Units.Run(context.Background(), host.JobRestart, delivery.DaemonUnit)
		s.Advance(2e9)
		_, err = s.upgrade("three")
		s.ok(err)
		s.runs("three", "old")
	}
}

func TestUpgradeToWhatIsNoInterpreter(t *testing.T) {
	s := newSite(t, recipe)
	if _, err := s.upgrade("mute"); err == nil || !strings.Contains(err.Error(), "no interpreter of this host") {
		t.Fatalf("error: %v", err)
	}
	s.runs("old", "old")
	if _, err := host.Lstat(s.Host().Files, bin+"hostler-next"); !host.Absent(err) {
		t.Error("it was left in the slot")
	}
}

func TestUpgradeRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*site)
		want   string
	}{
		"nothing installed": {func(s *site) { s.ok(s.Host().Files.Remove(record.File)) }, "nothing is installed"},
		"resetting":         {func(s *site) { s.phase(record.Resetting) }, "reset of this host is not finished"},
		"unreadable":        {func(s *site) { s.ok(s.Host().Files.Chmod(record.File, 0o600)); s.record("{") }, "cannot be told"},
		"no slot":           {func(s *site) { s.ok(host.Symlink(s.Host().Files, "gone", bin+"hostler-current")) }, "leads to no slot"},
	} {
		s := newSite(t, recipe)
		c.change(s)
		if _, err := s.upgrade("two"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func (s *site) record(text string) {
	s.ok(host.Replace(s.Host().Files, record.File, host.Content{Bytes: []byte(text), Mode: 0o600}))
}

// TestUpgradeOfAnUnfinishedHost: the daemon stands down, which is no failure.
func TestUpgradeOfAnUnfinishedHost(t *testing.T) {
	s := newSite(t, recipe)
	s.phase(record.Installing)
	_, err := s.upgrade("stand")
	s.ok(err)
	s.runs("stand", "old")
}

// TestUpgradeWaitsForTheLock, and does nothing while another run has it.
func TestUpgradeWaitsForTheLock(t *testing.T) {
	s := newSite(t, recipe)
	release, err := s.Host().Locks.Acquire(context.Background(), host.LockExclusive, host.Holder{PID: 9})
	s.ok(err)
	if _, err := s.upgrade("two"); !isHeld(err) {
		t.Errorf("error: %v", err)
	}
	s.ok(release())
	s.runs("old", "old")
}

// TestBusyProgramIsTriedAgain: a program that was just written may be busy.
func TestBusyProgramIsTriedAgain(t *testing.T) {
	s := newSite(t, recipe)
	in := s.interpreter()
	busy := &busyCommands{Commands: in.Host.Commands, left: 3}
	in.Host.Commands = busy
	_, err := Upgrade{Interpreter: in}.Run(context.Background(), []byte("two"))
	s.ok(err)
	busy.left = 1000
	if _, err := (Upgrade{Interpreter: in}).Run(context.Background(), []byte("three")); !errors.Is(err, syscall.ETXTBSY) {
		t.Errorf("a program that stays busy: %v", err)
	}
	s.runs("two", "old")
}

type busyCommands struct {
	host.Commands
	left int
}

func (b *busyCommands) Run(ctx context.Context, c host.Command) (host.CommandResult, error) {
	if b.left > 0 && strings.HasSuffix(c.Argv[0], "next") || b.left > 100 {
		b.left--
		return host.CommandResult{}, &pathError{syscall.ETXTBSY}
	}
	return b.Commands.Run(ctx, c)
}

type pathError struct{ error }

func (e *pathError) Unwrap() error { return e.error }

// TestUpgradeCutShort lets an upgrade die before and after its every effect, and
// lose its power: what runs is always a program that works, the last good one is
// never gone, and the next upgrade comes to the end.
func TestUpgradeCutShort(t *testing.T) {
	count := newSite(t, recipe)
	count.plan = fault.Count()
	_, err := count.upgrade("two")
	count.ok(err)
	effects := len(count.plan.Log())
	if effects < 8 {
		t.Fatalf("only %d effects", effects)
	}
	lost := func(s *site, choose func(int) int) func(int) *fault.Plan {
		return func(n int) *fault.Plan {
			return fault.HookAt(n, func(e fault.Effect) { s.PowerLoss(choose); panic(&fault.Crash{Effect: e}) })
		}
	}
	for n := 1; n <= effects; n++ {
		for name, plan := range map[string]func(*site) func(int) *fault.Plan{
			"before":    func(*site) func(int) *fault.Plan { return fault.CrashAt },
			"after":     func(*site) func(int) *fault.Plan { return fault.CrashAfter },
			"most lost": func(s *site) func(int) *fault.Plan { return lost(s, memory.LoseMost) },
			"most kept": func(s *site) func(int) *fault.Plan { return lost(s, memory.KeepMost) },
			"disk fails": func(*site) func(int) *fault.Plan {
				return func(n int) *fault.Plan { return fault.FailAt(n, syscall.EIO) }
			},
		} {
			s := newSite(t, recipe)
			s.Advance(5e9)
			before := s.unit(delivery.DaemonUnit).InvocationID
			s.plan = plan(s)(n)
			s.cut()
			s.plan = fault.Count()
			if current := s.read(bin + "hostler-current"); current != "old" && current != "two" {
				t.Fatalf("%s %d: current is %q", name, n, current)
			}
			if good := s.read(bin + "hostler-last-good"); good != "old" {
				t.Fatalf("%s %d: the last good one is %q", name, n, good)
			}
			s.Advance(5e9)
			s.revive()
			if _, err := s.upgrade("two"); err != nil {
				t.Fatalf("%s %d: the next upgrade: %v", name, n, err)
			}
			s.runs("two", "old")
			if u := s.unit(delivery.DaemonUnit); !u.Running() || u.InvocationID == before {
				t.Errorf("%s %d: the daemon does not run anew", name, n)
			}
		}
	}
}

// cut runs an upgrade that dies.
func (s *site) cut() {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(*fault.Crash); !ok {
				panic(r)
			}
			s.Crash()
		}
	}()
	_, _ = s.upgrade("two")
}

// revive starts the daemon if a power loss ended it, as a boot would.
func (s *site) revive() {
	if !s.unit(delivery.DaemonUnit).Running() {
		_ = s.Host().Units.Run(context.Background(), host.JobStart, delivery.DaemonUnit)
	}
}

func TestRollBack(t *testing.T) {
	roll := func(s *site) (string, error) {
		return Upgrade{Interpreter: s.interpreter()}.RollBack(context.Background())
	}
	s := newSite(t, recipe)
	if _, err := roll(s); !nothingBack(err) || !strings.Contains(err.Error(), "it is the last good one") {
		t.Errorf("nothing to go back to: %v", err)
	}
	_, err := s.upgrade("two")
	s.ok(err)
	// R116: an installation that is not finished is no reason to go back.
	s.phase(record.Installing)
	if _, err := roll(s); !nothingBack(err) || !strings.Contains(err.Error(), "installing, not complete") {
		t.Errorf("unfinished: %v", err)
	}
	s.runs("two", "old")
	s.phase(record.Complete)
	// R044: the lock is not waited for, whoever has it.
	release, err := s.Host().Locks.Acquire(context.Background(), host.LockExclusive, host.Holder{PID: 9})
	s.ok(err)
	slot, err := roll(s)
	if err != nil || slot != bin+"hostler-blue" {
		t.Errorf("roll back: %q, %v", slot, err)
	}
	s.ok(release())
	s.runs("old", "old")
	if !s.unit(delivery.DaemonUnit).Running() {
		t.Error("the daemon does not run")
	}
	s.ok(host.Symlink(s.Host().Files, "gone", bin+"hostler-last-good"))
	if _, err := roll(s); !nothingBack(err) || !strings.Contains(err.Error(), "leads to no program") {
		t.Errorf("no last good one: %v", err)
	}
	s.ok(s.Host().Files.Remove(record.File))
	if _, err := roll(s); !nothingBack(err) {
		t.Errorf("no record: %v", err)
	}
}

func nothingBack(err error) bool {
	_, ok := errors.AsType[*NothingBackError](err)
	return ok
}

func isHeld(err error) bool {
	_, ok := errors.AsType[*host.HeldError](err)
	return ok
}

func TestRead(t *testing.T) {
	const sum = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae" // of foo
	if program, err := Read(strings.NewReader("foo"), sum); err != nil || string(program) != "foo" {
		t.Errorf("%q, %v", program, err)
	}
	if _, err := Read(strings.NewReader("bar"), sum); err == nil || !strings.Contains(err.Error(), "its sha256 is fcde2b2e") {
		t.Errorf("another digest: %v", err)
	}
	if program, err := Read(strings.NewReader("bar"), ""); err != nil || string(program) != "bar" {
		t.Errorf("no digest: %v", err)
	}
}

// TestR112RefusedResetFailed: that a policy of the host refuses to clear a
// failed state hinders nothing.
func TestR112RefusedResetFailed(t *testing.T) {
	s := newSite(t, recipe)
	in := s.interpreter()
	in.Host.Units = refusing{in.Host.Units}
	if _, err := (Upgrade{Interpreter: in}).Run(context.Background(), []byte("two")); err != nil {
		t.Fatal(err)
	}
	s.runs("two", "old")
}

type refusing struct{ host.Units }

func (refusing) ResetFailed(context.Context, string) error { return syscall.EACCES }
