package walk

import (
	"time"

	"hostler/interpreter/block"
)

// Kind is what an Event tells.
type Kind string

// The kinds of events, in the words of the JSON output.
const (
	StageStarted Kind = "stage_started"
	StepStarted  Kind = "step_started"
	StepFinished Kind = "step_finished"
	Progressed   Kind = "progress"
	Diagnosed    Kind = "diagnostic"
)

// Event is one thing that happened in a walk.
type Event struct {
	Kind Kind
	Time time.Time
	// Recipe is the name of the recipe that the host is driven to.
	Recipe  string
	Stage   string
	Address string
	// Type is the block type's name.
	Type string
	// Machine is where the step ran, "" for the host.
	Machine string
	// Change is what the step needed; Err how it failed.
	Change   block.Change
	Err      error
	Duration time.Duration
	// Sensitive says that the step has sensitive arguments.
	Sensitive bool
	// Drift is set when the step was found changed behind our back.
	Drift    []Drift
	Progress block.Progress
	Warning  block.Warning
}

// Warned tells one warning from another.
type Warned struct{ Address, Summary, Detail string }

// Warned is what the event warns of.
func (e Event) Warned() Warned { return Warned{e.Address, e.Warning.Summary, e.Warning.Detail} }

func (w *walker) emit(e Event) {
	if w.Emit == nil {
		return
	}
	e.Time = w.Host.Clock.Now()
	if w.Record != nil {
		e.Recipe = w.Record.Recipe.Name
	}
	w.Emit(e)
}

func about(p *block.Placed, kind Kind) Event {
	return Event{Kind: kind, Stage: p.Stage, Address: p.Address, Type: p.Type.Name, Machine: p.Machine, Sensitive: p.Sensitive}
}

func (w *walker) emitStart(p *block.Placed, change block.Change) {
	e := about(p, StepStarted)
	e.Change = change
	w.emit(e)
}

func (w *walker) emitDone(p *block.Placed, began time.Time, change block.Change, err error) {
	e := about(p, StepFinished)
	e.Change, e.Err, e.Duration = change, err, w.Host.Clock.Now().Sub(began)
	e.Drift = w.found
	w.found = nil
	w.emit(e)
}

func (w *walker) progress(p *block.Placed, pr block.Progress) {
	e := about(p, Progressed)
	e.Progress = pr
	w.emit(e)
}

func (w *walker) warn(p *block.Placed, warning block.Warning) {
	e := about(p, Diagnosed)
	e.Warning = warning
	w.emit(e)
}
