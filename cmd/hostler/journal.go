package main

import (
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/coreos/go-systemd/v22/journal"

	"hostler/interpreter/host/linux"
	"hostler/interpreter/report"
	"hostler/interpreter/walk"
)

// supervisor is systemd, when it runs the program as a service. What there is
// none of is nil.
type supervisor struct {
	// entry writes to the journal, which the program's output goes to.
	entry func(report.Entry)
	// notify sends sd_notify(3) states.
	notify func(state string)
	// alive is how often the watchdog wants to hear of us; 0: never.
	alive time.Duration
}

// supervised finds out how the program was started. What cannot be told is as
// if there was nobody to tell.
func supervised() (s supervisor) {
	if ours, err := journal.StdoutIsJournalStream(); err == nil && ours && journal.Enabled() {
		s.entry = toJournal(linux.OwnUnit())
	}
	if os.Getenv("NOTIFY_SOCKET") != "" {
		s.notify = func(state string) { _, _ = daemon.SdNotify(false, state) }
	}
	if every, err := daemon.SdWatchdogEnabled(false); err == nil && s.notify != nil {
		s.alive = every / 2
	}
	return s
}

// toJournal writes entries of a unit. The journal finds the unit of a process by
// itself, unless that has ended before it looks.
func toJournal(unit string) func(report.Entry) {
	return func(e report.Entry) {
		if unit != "" {
			e.Fields["OBJECT_SYSTEMD_UNIT"] = unit
		}
		_ = journal.Send(e.Message, journal.Priority(e.Priority), e.Fields)
	}
}

// reporter tells the supervisor of one run.
type reporter struct {
	supervisor
	entries report.Journal
	recipe  string
	stop    chan struct{}
}

// reportTo begins to tell of a run. Events as JSON are asked for by somebody
// who reads them where they go, so that they are not written to the journal a
// second time.
func (a *app) reportTo(s supervisor, command string) *reporter {
	r := &reporter{supervisor: s, stop: make(chan struct{})}
	r.entries = report.Journal{Command: command, Quiet: a.flags.quiet, Verbose: a.flags.verbose}
	if a.json() {
		r.entry = nil
	}
	if r.alive > 0 {
		go r.stayAlive()
	}
	return r
}

// stayAlive feeds the watchdog while the run lasts: how long a step may take is
// the step's to say.
func (r *reporter) stayAlive() {
	tick := time.NewTicker(r.alive)
	defer tick.Stop()
	for {
		r.notify(daemon.SdNotifyWatchdog)
		select {
		case <-r.stop:
			return
		case <-tick.C:
		}
	}
}

// event tells of an event; written says that it stands in the journal now.
func (r *reporter) event(e walk.Event) (written bool) {
	if e.Recipe != "" {
		r.recipe = e.Recipe
	}
	if line := report.StatusLine(e); line != "" && r.notify != nil {
		r.notify("STATUS=" + line)
	}
	if r.entry == nil {
		return false
	}
	for _, entry := range r.entries.Event(e) {
		r.entry(entry)
	}
	return true
}

// finish tells how the run ended. A unit of Type=notify counts as started when
// the run has ended well, and not before.
func (r *reporter) finish(f report.Finished, recipe string) (written bool) {
	close(r.stop)
	if recipe != "" {
		r.recipe = recipe
	}
	entry := r.entries.Finish(f, r.recipe)
	if r.notify != nil {
		state := "STATUS=" + entry.Message
		if f.Result != "failed" {
			state = daemon.SdNotifyReady + "\n" + state
		}
		r.notify(state)
	}
	if r.entry == nil {
		return false
	}
	r.entry(entry)
	return true
}
