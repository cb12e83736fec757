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
	what := linux.Watched{Places: linux.Places(w.Places)}
	for _, m := range w.Machines {
		what.Machines = append(what.Machines, linux.WatchedMachine{Name: m.Name, Leader: m.Leader, Places: linux.Places(m.Places)})
	}
	return linux.Watch(ctx, what)
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
