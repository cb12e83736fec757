package interpreter

import (
	"context"
	"errors"
	"time"

	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/report"
)

// DaemonNoteName is the name of the daemon's status file below /run/hostler.
const DaemonNoteName = "daemon.json"

// DaemonNote is what the daemon's status file says.
type DaemonNote struct {
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
	LastLook *DaemonLook `json:"last_look,omitempty"`
	Next     *time.Time  `json:"next,omitempty"`
	// Repairs are the times of repairs within the last hour, by step; Held are
	// steps that are left as they are because of them.
	Repairs map[string][]time.Time `json:"repairs,omitempty"`
	Held    []string               `json:"held,omitempty"`
}

// DaemonLook is how a look of the daemon at the host ended.
type DaemonLook struct {
	Time    time.Time `json:"time"`
	Cause   string    `json:"cause"`
	Result  string    `json:"result"`
	Changed int       `json:"changed"`
	Error   string    `json:"error,omitempty"`
}

// daemon is what the daemon says of itself, nil if there is none since boot. One
// that was killed says nothing any more.
func (r *run) daemon(ctx context.Context) (*DaemonNote, error) {
	var note DaemonNote
	ok, err := r.store.ReadNote(DaemonNoteName, &note)
	if !ok || err != nil {
		return nil, err
	}
	u, err := r.host.Units.Unit(ctx, delivery.DaemonUnit)
	if errors.Is(err, host.ErrNoManager) || err == nil && !u.Running() {
		if note.State != "stood down" {
			note.State = "stopped"
		}
		return &note, nil
	}
	return &note, err
}

func daemonDocument(d *DaemonNote) *report.Daemon {
	if d == nil {
		return nil
	}
	doc := &report.Daemon{State: d.State, Since: d.Since, Version: d.Version, Held: d.Held}
	if l := d.LastLook; l != nil {
		doc.LastLook = &report.DaemonLook{Time: l.Time, Cause: l.Cause, Result: l.Result, Changed: l.Changed, Error: l.Error}
	}
	return doc
}
