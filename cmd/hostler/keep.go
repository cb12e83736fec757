package main

import (
	"context"
	"fmt"

	"hostler/interpreter"
	"hostler/interpreter/host/linux"
	"hostler/interpreter/report"
	"hostler/interpreter/resident"
	"hostler/interpreter/walk"
)

// watchHost watches the running host.
func watchHost(ctx context.Context, w interpreter.Watched) (<-chan string, error) {
	return linux.Watch(ctx, linux.Watched{Paths: w.Paths, Units: w.Units})
}

// notable tells only what changed, failed or warns.
func (t *teller) notable(e walk.Event) {
	if e.Kind == walk.StepFinished && (e.Change.Needed() || e.Err != nil) || e.Kind == walk.Diagnosed {
		t.event(e)
	}
}

// slim is how the daemon rests.
func slim() error { return linux.Slim() }

// say writes what the daemon says of itself.
func (a *app) say(n resident.Note) {
	entry := report.Entry{Message: n.Text, Priority: report.PriorityInfo, Fields: map[string]string{"HOSTLER_COMMAND": "daemon"}}
	text := "hostler: " + n.Text
	if n.Warning {
		entry.Priority, text = report.PriorityWarning, "hostler: warning: "+n.Text
	}
	if a.supervisor.entry != nil && !a.json() {
		a.supervisor.entry(entry)
		return
	}
	fmt.Fprintln(a.err.W, text)
}
