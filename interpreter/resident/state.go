package resident

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/record"
)

// state is what the status file says, and what the daemon knows besides.
type state struct {
	interpreter.DaemonNote

	lookedAt time.Duration
	blind    bool
}

func (s *state) looked(now time.Time, cause string, out interpreter.Outcome, err error) {
	s.LastLook = &interpreter.DaemonLook{Time: now, Cause: cause, Result: "ok", Changed: out.Changed}
	if err != nil {
		s.LastLook.Result, s.LastLook.Error = "failed", err.Error()
	}
}

func (w *watching) store() *record.Store {
	return record.NewStore(w.Interpreter.Host, w.Interpreter.Rand)
}

// load takes over what an earlier daemon noted since boot: how often something
// was repaired counts for all of them.
func (w *watching) load() {
	var before interpreter.DaemonNote
	if ok, err := w.store().ReadNote(interpreter.DaemonNoteName, &before); ok && err == nil {
		w.budget.Spent = before.Repairs
	}
	w.state.DaemonNote = interpreter.DaemonNote{FormatVersion: "1", PID: w.Interpreter.Holder.PID, Version: w.Version}
}

// saveState writes the status file. One that cannot be written fails nothing.
func (w *watching) saveState(name string) {
	if w.state.State != name {
		w.state.State, w.state.Since = name, w.Interpreter.Host.Clock.Now()
	}
	w.state.Repairs, w.state.Held = w.budget.Spent, slices.Sorted(maps.Keys(w.budget.held))
	_ = w.store().WriteNote(interpreter.DaemonNoteName, w.state.DaemonNote)
}

// rest tells that the daemon waits, and for how long at most.
func (w *watching) rest(longest time.Duration) {
	clock := w.Interpreter.Host.Clock
	next := clock.Now().Add(longest)
	w.state.Next = &next
	if w.state.LastLook != nil {
		w.state.lookedAt = clock.Monotonic()
	}
	w.saveState("watching")
	w.Notify("STATUS=" + w.words())
}

func (w *watching) words() string {
	s := "watching"
	if last := w.state.LastLook; last != nil {
		s += fmt.Sprintf("; last look %s, %s: %s", last.Time.UTC().Format(time.RFC3339), last.Cause, last.Result)
	}
	if len(w.state.Held) > 0 {
		s += fmt.Sprintf("; left as they are: %d", len(w.state.Held))
	}
	return s
}
