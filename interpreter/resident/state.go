package resident

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/record"
)

// StateNote is the name of the status file below /run/hostler.
const StateNote = "daemon.json"

// state is what the status file says.
type state struct {
	FormatVersion string `json:"format_version"`
	PID           int    `json:"pid"`
	Version       string `json:"version"`
	// State is "waiting", "watching", "verifying", "stood down" or "stopped",
	// Since when.
	State string    `json:"state"`
	Since time.Time `json:"since"`
	// Paths and Units are how many are watched.
	Paths int `json:"watched_paths"`
	Units int `json:"watched_units"`
	// LastLook is the last look at the host, Next when the next is due at the
	// latest.
	LastLook *look      `json:"last_look,omitempty"`
	Next     *time.Time `json:"next,omitempty"`
	// Repairs are the times of repairs within the last hour, by step; Held are
	// steps that are left as they are because of them.
	Repairs map[string][]time.Time `json:"repairs,omitempty"`
	Held    []string               `json:"held,omitempty"`

	lookedAt time.Duration
	blind    bool
}

// look is how a look at the host ended.
type look struct {
	Time    time.Time `json:"time"`
	Cause   string    `json:"cause"`
	Result  string    `json:"result"`
	Changed int       `json:"changed"`
	Error   string    `json:"error,omitempty"`
}

func (s *state) looked(now time.Time, cause string, out interpreter.Outcome, err error) {
	s.LastLook = &look{Time: now, Cause: cause, Result: "ok", Changed: out.Changed}
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
	var before state
	if ok, err := w.store().ReadNote(StateNote, &before); ok && err == nil {
		w.budget.Spent = before.Repairs
	}
	w.state = state{FormatVersion: "1", PID: w.Interpreter.Holder.PID, Version: w.Version}
}

// saveState writes the status file. One that cannot be written fails nothing.
func (w *watching) saveState(name string) {
	if w.state.State != name {
		w.state.State, w.state.Since = name, w.Interpreter.Host.Clock.Now()
	}
	w.state.Repairs, w.state.Held = w.budget.Spent, slices.Sorted(maps.Keys(w.budget.held))
	_ = w.store().WriteNote(StateNote, w.state)
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
