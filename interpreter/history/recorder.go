package history

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hostler/interpreter/block"
	"hostler/interpreter/walk"
)

// The most that is kept of one run.
const (
	maxSteps    = 4000
	maxWarnings = 100
	maxThings   = 32
	maxText     = 2000 // bytes of one text
)

// Recorder makes a Run of the events of a walk.
type Recorder struct {
	// Clean takes out of a text what must not be kept; nil leaves it.
	Clean func(string) string

	began   time.Time
	run     Run
	watches map[string][]string
	changed []string
	work    map[string][]Work
}

// NewRecorder returns the recorder of a run that begins.
func NewRecorder(began time.Time) *Recorder {
	return &Recorder{began: began, watches: map[string][]string{}, work: map[string][]Work{}}
}

// Steps notes what the run drives to: which steps act upon changes of others.
func (r *Recorder) Steps(steps []block.Placed) {
	for i := range steps {
		if w, ok := steps[i].Step.(block.Watcher); ok {
			addresses, _ := w.Watches()
			r.watches[steps[i].Address] = addresses
		}
	}
}

// Event notes an event.
func (r *Recorder) Event(e walk.Event) {
	switch e.Kind {
	case walk.StepFinished:
		r.finished(e)
	case walk.Progressed:
		r.progressed(e)
	case walk.Diagnosed:
		r.Warn(Warning{e.Address, e.Warning.Summary, e.Warning.Detail})
	}
}

// Warn notes a warning.
func (r *Recorder) Warn(w Warning) {
	if len(r.run.Warnings) < maxWarnings {
		r.run.Warnings = append(r.run.Warnings, Warning{w.Address, r.text(w.Summary), r.text(w.Detail)})
	}
}

func (r *Recorder) finished(e walk.Event) {
	if len(r.run.Steps) == maxSteps {
		return
	}
	s := Step{
		Address: e.Address, Type: e.Type, Stage: e.Stage, Machine: e.Machine, Action: string(e.Change.Action), Reason: r.text(e.Change.Reason),
		DurationUsec: e.Duration.Microseconds(), Work: r.work[e.Address],
	}
	delete(r.work, e.Address)
	if s.Action == "" {
		s.Action = string(block.ActionNone)
	}
	s.StartUsec = max(0, e.Time.Add(-e.Duration).Sub(r.began).Microseconds())
	if e.Err != nil {
		s.Error = r.text(e.Err.Error())
	}
	for _, d := range e.Drift {
		s.Drift = add(s.Drift, string(d.Thing))
	}
	if s.Did() {
		for _, d := range e.Change.Diffs {
			s.Things = add(s.Things, d.Thing)
		}
		s.After = r.causes(e.Address)
		r.changed = append(r.changed, e.Address)
	}
	r.run.Steps = append(r.run.Steps, s)
}

func add(list []string, one string) []string {
	if one == "" || len(list) == maxThings || slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}

// causes are the steps that changed and that a step watches.
func (r *Recorder) causes(address string) (all []string) {
	for _, watched := range r.watches[address] {
		for _, changed := range r.changed {
			if changed == watched || strings.HasPrefix(changed, watched+"[") {
				all = add(all, changed)
			}
		}
	}
	return all
}

// progressed notes the work a step does: the first and the last word of it.
func (r *Recorder) progressed(e walk.Event) {
	at := e.Time.Sub(r.began).Microseconds()
	list := r.work[e.Address]
	if n := len(list); n > 0 && list[n-1].What == e.Progress.What && list[n-1].Name == e.Progress.Name {
		list[n-1].DurationUsec, list[n-1].Bytes = at-list[n-1].StartUsec, e.Progress.Done
		return
	}
	if len(list) < maxThings {
		r.work[e.Address] = append(list, Work{What: e.Progress.What, Name: r.text(e.Progress.Name), StartUsec: at, Bytes: e.Progress.Done})
	}
}

// Run is what was noted so far, for the caller to complete.
func (r *Recorder) Run() *Run {
	run := r.run
	run.FormatVersion, run.Began = FormatVersion, r.began.UTC()
	return &run
}

// text is a text as it is kept.
func (r *Recorder) text(s string) string {
	if r.Clean != nil {
		s = r.Clean(s)
	}
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
