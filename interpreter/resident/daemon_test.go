package resident

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
)

// running is a daemon of a test and what it said.
type running struct {
	*site
	Daemon
	mu     sync.Mutex
	said   []string
	states []string
	cancel context.CancelFunc
	// heard is called with everything that is said.
	heard func(text string)
}

func daemonOf(s *site) *running {
	r := &running{site: s}
	r.Daemon = Daemon{
		Interpreter: s.interpreter(), Version: "1.2.3",
		Say: func(n Note) {
			text := n.Text
			if n.Warning {
				text = "warning: " + text
			}
			r.said = append(r.said, text)
			if r.heard != nil {
				r.heard(text)
			}
		},
		Notify: func(state string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.states = append(r.states, state)
		},
	}
	r.Interpreter.OwnUnit = delivery.DaemonUnit
	return r
}

// run runs the daemon until it ends by itself or the test does.
func (r *running) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r.cancel = cancel
	err := r.Run(ctx)
	if ctx.Err() == context.DeadlineExceeded {
		r.Error("the daemon went on and on")
	}
	return err
}

func (r *running) note() (s interpreter.DaemonNote) {
	r.Helper()
	if ok, err := r.store().ReadNote(interpreter.DaemonNoteName, &s); err != nil || !ok {
		r.Fatalf("no status file: %v", err)
	}
	return s
}

// TestR105StandsDown: while an installation is not finished the daemon does
// nothing, which is no failure.
func TestR105StandsDown(t *testing.T) {
	for name, change := range map[string]func(*site){
		"installing": func(s *site) { s.phase(record.Installing) },
		"absent":     func(s *site) { s.ok(s.Host().Files.Remove(record.File)) },
	} {
		s := newSite(t, recipe)
		change(s)
		s.put("/etc/a.conf", "edited\n")
		r := daemonOf(s)
		err := r.run()
		down, ok := errors.AsType[*StandDownError](fmt.Errorf("wrapped: %w", err)) // R115
		if !ok || down.Phase != name || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "hostler ensure") {
			t.Errorf("%s: %v", name, err)
		}
		if s.read("/etc/a.conf") != "edited\n" {
			t.Errorf("%s: it repaired", name)
		}
		if n := r.note(); n.State != "stood down" || n.Version != "1.2.3" || n.PID != 7 {
			t.Errorf("%s: status file %+v", name, n)
		}
		if r.states[0] != "READY=1" || len(r.said) > 0 {
			t.Errorf("%s: states %q, said %q", name, r.states, r.said)
		}
	}
}

// TestUnreadableRecordIsRefused, not stood down for.
func TestUnreadableRecordIsRefused(t *testing.T) {
	s := newSite(t, recipe)
	s.record("{")
	if err := daemonOf(s).run(); err == nil || !strings.Contains(err.Error(), "cannot be told") {
		t.Errorf("error: %v", err)
	}
}

// sleeping is a clock whose long sleeps do not pass by themselves, and that is
// told of every sleep.
type sleeping struct {
	host.Clock
	longest time.Duration
	slept   func(time.Duration)
}

func (c sleeping) Sleep(ctx context.Context, d time.Duration) error {
	if c.slept != nil {
		c.slept(d)
	}
	if d > c.longest {
		<-ctx.Done()
		return ctx.Err()
	}
	return c.Clock.Sleep(ctx, d)
}

// TestR043WaitsForTheLock for half a minute and not more; what it says then
// depends on what is under way.
func TestR043WaitsForTheLock(t *testing.T) {
	for name, c := range map[string]struct {
		after int // polls until it is let go
		phase record.Phase
		want  func(error) bool
	}{
		"let go":           {20, record.Complete, func(err error) bool { return err == nil }},
		"held":             {1 << 30, record.Complete, func(err error) bool { return err == nil }},
		"held, resetting":  {1 << 30, record.Resetting, isHeld},
		"held, installing": {1 << 30, record.Installing, func(err error) bool { _, ok := errors.AsType[*StandDownError](err); return ok }},
	} {
		s := newSite(t, recipe)
		s.phase(c.phase)
		release, err := s.Host().Locks.Acquire(context.Background(), host.LockExclusive, host.Holder{PID: 9})
		s.ok(err)
		r := daemonOf(s)
		polls := 0
		r.Interpreter.Host.Clock = sleeping{r.Interpreter.Host.Clock, time.Second, func(d time.Duration) {
			if polls++; polls == c.after {
				s.ok(release())
			}
			if d > time.Second {
				r.cancel() // it watches
			}
		}}
		watched := false
		r.Watch = func(context.Context, interpreter.Watched) (<-chan string, error) { watched = true; return nil, nil }
		began := s.Host().Clock.Monotonic()
		if err := r.run(); !c.want(err) {
			t.Errorf("%s: %v", name, err)
		}
		if watched != (c.phase == record.Complete) {
			t.Errorf("%s: it watches: %v", name, watched)
		}
		if took := s.Host().Clock.Monotonic() - began; took > LockWait+time.Second {
			t.Errorf("%s: it waited %s", name, took)
		}
	}
}

// TestRepairsOnSchedule, as on_drift says.
func TestRepairsOnSchedule(t *testing.T) {
	s := newSite(t, recipe)
	s.put("/etc/a.conf", "edited\n")
	s.put("/etc/b.conf", "edited\n")
	r := daemonOf(s)
	r.heard = func(text string) {
		if strings.HasPrefix(text, "repaired: 1 (on schedule)") {
			r.cancel()
		}
	}
	s.ok(r.run())
	if s.read("/etc/a.conf") != "a\n" || s.read("/etc/b.conf") != "edited\n" {
		t.Errorf("a is %q, b is %q", s.read("/etc/a.conf"), s.read("/etc/b.conf"))
	}
	if n := r.note(); n.State != "stopped" || n.LastLook == nil || n.LastLook.Changed != 1 || n.LastLook.Result != "ok" {
		t.Errorf("status file: %+v %+v", n, n.LastLook)
	}
	if all := strings.Join(r.states, "|"); !strings.Contains(all, "STATUS=watching") || !strings.Contains(all, "STATUS=verifying: on schedule") {
		t.Errorf("states: %s", all)
	}
	release, err := s.Host().Locks.Acquire(context.Background(), host.LockExclusive, host.Holder{})
	if s.ok(err); release() != nil {
		t.Error("the lock is held")
	}
}

// TestLooksWhenSomethingChanges: not before it has come to rest, and after what
// it changed itself everything is watched anew.
func TestLooksWhenSomethingChanges(t *testing.T) {
	s := newSite(t, recipe)
	r := daemonOf(s)
	r.Interpreter.Host.Clock = sleeping{Clock: r.Interpreter.Host.Clock, longest: 5 * time.Second}
	changes := make(chan string, 4)
	watches := 0
	r.Watch = func(_ context.Context, w interpreter.Watched) (<-chan string, error) {
		if watches++; watches == 2 {
			r.cancel()
		}
		all := strings.Join(append(w.Paths, w.Units...), " ")
		for _, want := range []string{"/etc/a.conf", record.File, bin + "hostler-current", "/etc/systemd/system/" + delivery.DaemonUnit, "multi-user.target.wants/" + delivery.DaemonUnit} {
			if !strings.Contains(all, want) {
				t.Errorf("%s is not watched", want)
			}
		}
		return changes, nil
	}
	s.put("/etc/a.conf", "edited\n")
	changes <- "/etc/a.conf"
	changes <- "/etc/a.conf"
	s.ok(r.run())
	if s.read("/etc/a.conf") != "a\n" || watches != 2 || !strings.Contains(strings.Join(r.said, "|"), "repaired: 1 (/etc/a.conf changed)") {
		t.Errorf("a is %q, watched %d times, said %q", s.read("/etc/a.conf"), watches, r.said)
	}
}

// TestWatchesWhatIsOwnedNow: what an update brought is watched, too, although
// nothing had to be repaired, and it is looked at once more for what happened
// in between.
func TestWatchesWhatIsOwnedNow(t *testing.T) {
	s := newSite(t, recipe)
	r := daemonOf(s)
	r.Every, r.First = time.Hour, time.Second
	changes := make(chan string, 4)
	var watched []string
	r.Watch = func(_ context.Context, w interpreter.Watched) (<-chan string, error) {
		watched = append(watched, strings.Join(w.Paths, " "))
		if len(watched) == 1 {
			s.apply(recipe + "write_file_if_changed \"c\" {\n  path = \"/etc/c.conf\"\n  content = \"c\\n\"\n}\n")
			changes <- record.File
		}
		return changes, nil
	}
	looks := 0
	r.Notify = func(state string) {
		if strings.HasPrefix(state, "STATUS=verifying: on schedule") {
			if looks++; len(watched) == 2 {
				r.cancel()
			}
		}
	}
	s.ok(r.run())
	if len(watched) != 2 || strings.Contains(watched[0], "/etc/c.conf") || !strings.Contains(watched[1], "/etc/c.conf") || looks == 0 {
		t.Errorf("looked %d times, watched %q", looks, watched)
	}
}

// TestWatchingThatEnds is begun again, and what cannot be watched is said.
func TestWatchingThatEnds(t *testing.T) {
	s := newSite(t, recipe)
	r := daemonOf(s)
	n := 0
	r.Watch = func(context.Context, interpreter.Watched) (<-chan string, error) {
		if n++; n < 3 {
			ended := make(chan string)
			close(ended)
			return ended, nil
		}
		if n == 5 {
			r.cancel()
		}
		return nil, errors.New("no more watches")
	}
	s.ok(r.run())
	if len(r.said) != 1 || !strings.Contains(r.said[0], "warning: changes are found on schedule only, every 10m0s: no more watches") {
		t.Errorf("said %q", r.said)
	}
}

// TestPace: things that change all the time and are as wanted are looked at
// less and less often.
func TestPace(t *testing.T) {
	w := &watching{gap: MinGap, unwatch: func() {}}
	for range 20 {
		w.pace("x changed", interpreter.Outcome{})
	}
	if w.gap != MaxGap {
		t.Errorf("gap %s, want %s", w.gap, MaxGap)
	}
	var repaired interpreter.Outcome
	repaired.Changed = 1
	w.pace("x changed", repaired)
	if w.gap != MinGap {
		t.Errorf("gap %s after a repair", w.gap)
	}
}

// TestFinishesAReset: a daemon that is started in a reset goes on with it, and
// stops its own unit as the last act.
func TestFinishesAReset(t *testing.T) {
	s := newSite(t, recipe)
	s.phase(record.Resetting)
	r := daemonOf(s)
	s.ok(r.run())
	for _, name := range []string{"/etc/a.conf", bin + "hostler", "/etc/systemd/system/" + delivery.DaemonUnit, record.File} {
		if _, err := host.Lstat(s.Host().Files, name); !host.Absent(err) {
			t.Errorf("%s is left", name)
		}
	}
	s.Advance(time.Second)
	if s.unit(delivery.DaemonUnit).Running() {
		t.Error("the daemon's unit runs")
	}
	if len(r.said) != 1 || !strings.Contains(r.said[0], "a reset was begun") {
		t.Errorf("said %q", r.said)
	}
}

// TestAnotherRun: while one holds the lock nothing is done, and one that left
// the installation unfinished makes the daemon stand down.
func TestAnotherRun(t *testing.T) {
	s := newSite(t, recipe)
	r := daemonOf(s)
	var release func() error
	r.Notify = func(state string) {
		var err error
		switch {
		case state == "STATUS=verifying: on schedule" && release == nil:
			release, err = s.Host().Locks.Acquire(context.Background(), host.LockExclusive, host.Holder{PID: 9})
		case state == "STATUS=watching" && release != nil:
			err = release()
			s.phase(record.Installing)
		}
		s.ok(err)
	}
	if _, ok := errors.AsType[*StandDownError](r.run()); !ok || release == nil {
		t.Error("it did not stand down")
	}
}

// TestFailedRepairIsSaid, and the daemon goes on.
func TestFailedRepairIsSaid(t *testing.T) {
	s := newSite(t, recipe)
	s.ok(s.Host().Files.Remove("/etc/a.conf"))
	s.ok(s.Host().Files.Mkdir("/etc/a.conf", 0o755))
	r := daemonOf(s)
	r.heard = func(string) { r.cancel() }
	s.ok(r.run())
	if !strings.Contains(r.said[0], "warning: the host is not as its recipe says (on schedule): ") || !strings.Contains(r.said[0], "/etc/a.conf") {
		t.Errorf("said %q", r.said)
	}
	if n := r.note(); n.LastLook.Result != "failed" || n.LastLook.Error == "" {
		t.Errorf("status file: %+v", n.LastLook)
	}
}

// TestWatchdogIsFed, but not for a look that never ends.
func TestWatchdogIsFed(t *testing.T) {
	s := newSite(t, recipe)
	ctx, cancel := context.WithCancel(context.Background())
	w := &watching{Daemon: Daemon{Interpreter: s.interpreter(), Alive: time.Minute}}
	w.looking.Store(int64(s.Host().Clock.Monotonic()))
	fed := 0
	w.Notify = func(state string) {
		if fed++; state != "WATCHDOG=1" {
			t.Errorf("told %q", state)
		}
	}
	slept := 0
	w.Interpreter.Host.Clock = sleeping{w.Interpreter.Host.Clock, time.Hour, func(time.Duration) {
		if slept++; slept == 100 {
			cancel()
		}
	}}
	w.beat(ctx)
	if fed < 58 || fed > 61 {
		t.Errorf("fed %d times in 100 minutes of one look, want about 60", fed)
	}
}

// TestLooksWhenARepaveIsOver: the daemon goes back from a repave that nobody
// confirmed, in time, and is quick after a repair.
func TestLooksWhenARepaveIsOver(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	until := func(d time.Duration) interpreter.Outcome { return interpreter.Outcome{ConfirmUntil: now.Add(d)} }
	repaired := until(time.Hour)
	repaired.Changed = 1
	for _, c := range []struct {
		out  interpreter.Outcome
		want time.Duration
	}{
		{interpreter.Outcome{}, Every}, {until(time.Hour), Every}, {until(time.Minute), time.Minute}, {until(-time.Minute), time.Second},
		{repaired, MinGap},
	} {
		if got := nextLook(Every, c.out, now); got != c.want {
			t.Errorf("%+v: %s, want %s", c.out, got, c.want)
		}
	}
}
