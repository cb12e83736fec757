package main

import (
	"context"
	"fmt"

	"hostler/interpreter"
	"hostler/interpreter/host/linux"
	"hostler/interpreter/report"
	"hostler/interpreter/resident"
)

// watchHost watches the running host.
func watchHost(ctx context.Context, w interpreter.Watched) (<-chan string, error) {
	return linux.Watch(ctx, linux.Watched{Paths: w.Paths, Units: w.Units})
}

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
