package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hostler/interpreter/walk"
)

// Journal makes entries of systemd's journal: text for people, and fields to
// look for, such as journalctl HOSTLER_STEP=write_file_if_changed.kubelet.
type Journal struct {
	// Command is the command that runs.
	Command string
	// Quiet and Verbose are as for Text.
	Quiet, Verbose bool
}

// Entry is one entry of the journal.
type Entry struct {
	Message  string
	Priority int
	// Fields are HOSTLER_COMMAND, _RECIPE, _STAGE, _STEP, _MACHINE, _ACTION,
	// _RESULT, _PHASE and _DURATION_USEC, those that are not empty; of a run
	// that failed also _FAILED_STAGE, _FAILED_STEP, _REASON, _CAUSE and _ADVICE.
	Fields map[string]string
}

// The priorities of syslog(3) that are used.
const (
	PriorityError   = 3
	PriorityWarning = 4
	PriorityInfo    = 6
	PriorityDebug   = 7
)

// The values of HOSTLER_RESULT of a step; a run has those of its last event.
const (
	resultChanged   = "changed"
	resultUnchanged = "unchanged"
	resultDeferred  = "deferred"
	resultPending   = "pending"
	resultWarning   = "warning"
	resultFailed    = "failed"
)

// Event makes the entries of an event of a run.
func (j Journal) Event(e walk.Event) []Entry {
	switch e.Kind {
	case walk.StageStarted:
		return []Entry{j.entry(e, "", PriorityDebug, "stage "+e.Stage)}
	case walk.StepFinished:
		return j.finished(e)
	case walk.Diagnosed:
		d := warningOf(e)
		return []Entry{j.entry(e, resultWarning, PriorityWarning, join(d.Address, d.Summary, d.Detail))}
	}
	return nil
}

func (j Journal) finished(e walk.Event) (all []Entry) {
	a := actionOf(e)
	add := func(result string, priority int, format string, args ...any) {
		all = append(all, j.entry(e, result, priority, fmt.Sprintf(format, args...)))
	}
	switch {
	case e.Err != nil:
		add(resultFailed, PriorityError, "%s: %s failed after %s: %v", e.Address, orCheck(e.Change.Action), took(e.Duration), e.Err)
		return all
	case j.Quiet:
		return nil
	case e.Change.Needed():
		add(resultChanged, PriorityInfo, "%s %s (%s)", a.Action, join(e.Address, a.Reason, e.Change.Made), took(e.Duration))
	case j.Verbose:
		add(resultUnchanged, PriorityDebug, "%s is as wanted (%s)", e.Address, took(e.Duration))
	}
	for _, text := range e.Change.Deferred {
		add(resultDeferred, PriorityInfo, "%s: later: %s", e.Address, text)
	}
	for _, p := range e.Change.Pending {
		add(resultPending, PriorityInfo, "%s: needs %s: %s", e.Address, p.Needs, p.Reason)
	}
	return all
}

func (j Journal) entry(e walk.Event, result string, priority int, message string) Entry {
	n := named{
		"COMMAND": j.Command, "RECIPE": e.Recipe, "STAGE": e.Stage, "STEP": e.Address, "MACHINE": e.Machine, "RESULT": result,
	}
	if e.Kind == walk.StepFinished {
		n["ACTION"], n["DURATION_USEC"] = actionOf(e).Action, micro(e.Duration)
	}
	return Entry{message, priority, n.fields()}
}

// Finish makes the last entry of a run.
func (j Journal) Finish(f Finished, recipe string) Entry {
	priority := PriorityInfo
	if f.Result == resultFailed {
		priority = PriorityError
	}
	return Entry{sentence(f), priority, named{
		"COMMAND": f.Command, "RECIPE": recipe, "RESULT": f.Result, "PHASE": f.Phase, "DURATION_USEC": micro(f.Took),
		"FAILED_STAGE": f.Failure.Stage, "FAILED_STEP": f.Failure.Step, "REASON": f.Failure.Reason, "CAUSE": f.Failure.Cause, "ADVICE": f.Failure.Advice,
	}.fields()}
}

// sentence is the last line of a run, as Text writes it.
func sentence(f Finished) string {
	var b strings.Builder
	(&Text{Out: Pen{W: &b}, Quiet: true}).Finish(f)
	return strings.TrimSpace(b.String())
}

// StatusLine says what a run is at, for who asks the service manager; "" if an
// event says nothing of that.
func StatusLine(e walk.Event) string {
	switch e.Kind {
	case walk.StageStarted:
		return "stage " + e.Stage
	case walk.StepStarted:
		return fmt.Sprintf("%s: %s", e.Address, e.Change.Action)
	case walk.Progressed:
		return fmt.Sprintf("%s: %s %s", e.Address, e.Progress.What, amount(e.Progress.Done, e.Progress.Total))
	}
	return ""
}

// named are journal fields without their prefix.
type named map[string]string

func (n named) fields() map[string]string {
	all := map[string]string{}
	for name, value := range n {
		if value != "" {
			all["HOSTLER_"+name] = value
		}
	}
	return all
}

// join puts colons between the parts that are not empty.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

func micro(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
