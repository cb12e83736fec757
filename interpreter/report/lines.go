package report

import (
	"encoding/json"
	"io"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/walk"
)

// Lines writes one JSON event per line.
type Lines struct{ W io.Writer }

// line is an event of a command that changes a host.
type line struct {
	FormatVersion string      `json:"format_version"`
	Type          string      `json:"type" doc:"run_started, stage_started, step_started, step_finished, progress, diagnostic or run_finished" enum:"run_started,stage_started,step_started,step_finished,progress,diagnostic,run_finished"`
	Time          time.Time   `json:"time" doc:"in UTC"`
	Stage         string      `json:"stage,omitempty"`
	Address       string      `json:"address,omitempty"`
	BlockType     string      `json:"block_type,omitempty" doc:"the type of the step"`
	Machine       string      `json:"machine,omitempty"`
	Action        string      `json:"action,omitempty" doc:"as in a plan"`
	Reason        string      `json:"reason,omitempty"`
	Changed       *bool       `json:"changed,omitempty" doc:"in step_finished"`
	Made          string      `json:"made,omitempty" doc:"in step_finished: what came of it, such as an image with the digest its tag stood for"`
	DurationMS    *int64      `json:"duration_ms,omitempty" doc:"in step_finished and run_finished"`
	Error         string      `json:"error,omitempty" doc:"why a step or the run failed"`
	Deferred      []string    `json:"deferred,omitempty" doc:"what waits for the first live run or boot"`
	Pending       []Pending   `json:"pending,omitempty"`
	Drift         []Drift     `json:"drift,omitempty"`
	Progress      *progress   `json:"progress,omitempty" doc:"in progress, at most one a second"`
	Diagnostic    *Diagnostic `json:"diagnostic,omitempty" doc:"in diagnostic"`
	Command       string      `json:"command,omitempty" doc:"in run_started and run_finished"`
	Identity      any         `json:"identity,omitempty"`
	Phase         string      `json:"phase,omitempty"`
	Summary       *Counts     `json:"summary,omitempty"`
	Result        string      `json:"result,omitempty" doc:"in run_finished: ok, failed or deferred" enum:"ok,failed,deferred"`
	Failure       *Failure    `json:"failure,omitempty" doc:"in run_finished, when it failed"`
	Outputs       []Output    `json:"outputs,omitempty" doc:"in run_finished, when the recipe was evaluated"`
}

type progress struct {
	What  string `json:"what" doc:"such as download or unpack"`
	Name  string `json:"name"`
	Done  int64  `json:"done_bytes"`
	Total int64  `json:"total_bytes,omitempty"`
}

// Counts is the summary of a run.
type Counts struct {
	Changed   int `json:"changed"`
	Unchanged int `json:"unchanged"`
	Failed    int `json:"failed"`
}

// Started is the run_started event.
type Started struct {
	Time    time.Time
	Command string
}

// Finished is the run_finished event.
type Finished struct {
	Time     time.Time
	Command  string
	Result   string // "ok", "failed", "deferred"
	Phase    string
	Identity any
	Counts   Counts
	Took     time.Duration
	Error    string
	Failure  Failure
	Outputs  []Output
}

// Failure says how a run failed, and what to do. It is zero for a run that did
// not.
type Failure struct {
	Stage  string `json:"stage,omitempty"`
	Step   string `json:"step,omitempty" doc:"the step that failed"`
	Reason string `json:"reason" doc:"the step's failure_reason, or the class of the fault"`
	Cause  string `json:"cause" doc:"what went wrong"`
	Advice string `json:"advice,omitempty" doc:"what to do about it"`
}

// Output is a value that a recipe gives to whoever runs it.
type Output struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Sensitive   bool   `json:"sensitive"`
	// Value is JSON; absent when it is sensitive or not known yet.
	Value json.RawMessage `json:"value,omitempty"`
}

func (o Output) text() string {
	switch {
	case o.Sensitive:
		return "(sensitive)"
	case o.Value == nil:
		return "(not known yet)"
	}
	return string(o.Value)
}

// Start writes run_started.
func (l Lines) Start(s Started) error {
	return l.write(line{Type: "run_started", Time: s.Time, Command: s.Command})
}

// Finish writes run_finished.
func (l Lines) Finish(f Finished) error {
	ms := f.Took.Milliseconds()
	var failure *Failure
	if f.Failure != (Failure{}) {
		failure = &f.Failure
	}
	return l.write(line{
		Failure: failure,
		Type:    "run_finished", Time: f.Time, Command: f.Command, Result: f.Result, Phase: f.Phase, Identity: f.Identity,
		Summary: &f.Counts, DurationMS: &ms, Error: f.Error, Outputs: f.Outputs,
	})
}

// Diagnose writes a diagnostic.
func (l Lines) Diagnose(at time.Time, d Diagnostic) error {
	return l.write(line{Type: string(walk.Diagnosed), Time: at, Address: d.Address, Diagnostic: &d})
}

// Event writes an event of a walk.
func (l Lines) Event(e walk.Event) error {
	out := line{
		Type: string(e.Kind), Time: e.Time, Stage: e.Stage, Address: e.Address, BlockType: e.Type, Machine: e.Machine,
		Reason: e.Change.Reason, Deferred: e.Change.Deferred,
	}
	switch e.Kind {
	case walk.StepStarted:
		out.Action = string(e.Change.Action)
	case walk.StepFinished:
		out.finished(e)
	case walk.Progressed:
		out.Progress = &progress{e.Progress.What, e.Progress.Name, e.Progress.Done, e.Progress.Total}
	case walk.Diagnosed:
		d := warningOf(e)
		out.Diagnostic = &d
	}
	return l.write(out)
}

func (l *line) finished(e walk.Event) {
	action := e.Change.Action
	if action == "" {
		action = block.ActionNone
	}
	l.Action = string(action)
	changed := e.Err == nil && e.Change.Needed()
	ms := e.Duration.Milliseconds()
	l.Changed, l.DurationMS, l.Made = &changed, &ms, e.Change.Made
	if e.Err != nil {
		l.Error = e.Err.Error()
	}
	for _, p := range e.Change.Pending {
		l.Pending = append(l.Pending, Pending{e.Address, p.Machine, p.Needs, p.Reason})
	}
	for _, d := range e.Drift {
		l.Drift = append(l.Drift, DriftOf(d))
	}
}

func (l Lines) write(v line) error {
	v.FormatVersion = FormatVersion
	v.Time = v.Time.UTC()
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = l.W.Write(append(data, '\n'))
	return err
}
