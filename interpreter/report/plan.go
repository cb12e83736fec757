package report

import (
	"hostler/interpreter/block"
	"hostler/interpreter/walk"
)

// Plan is the document of what a walk would do.
type Plan struct {
	FormatVersion string   `json:"format_version"`
	Phase         string   `json:"phase" doc:"of the installation: absent, installing, complete, resetting or unreadable" enum:"absent,installing,complete,resetting,unreadable"`
	Identity      any      `json:"identity" doc:"installation_id, recipe, recipe_version, fingerprint, prefix, as far as they are known"`
	Actions       []Action `json:"actions" doc:"one a step, in the order of the run"`
	Summary       Summary  `json:"summary"`
	// Pending waits for a machine restart or a repave, Deferred for the first
	// live run or boot.
	Pending  []Pending `json:"pending" doc:"what waits for a machine restart or a repave"`
	Deferred []Note    `json:"deferred" doc:"what waits for the first live run or boot"`
	// Drift lists what was changed behind our back.
	Drift []Drift `json:"drift" doc:"what was changed behind our back"`
	// Provisional is true when another run was in progress.
	Provisional bool         `json:"provisional,omitempty" doc:"true when another run was in progress"`
	Diagnostics []Diagnostic `json:"diagnostics"`

	cut bool
}

// CutShort is the plan of a run that a fault ended: nothing is said of what
// comes after it.
func (p Plan) CutShort() Plan {
	p.cut = true
	return p
}

// Action is what one step would do.
type Action struct {
	Address   string `json:"address"`
	Type      string `json:"type"`
	Stage     string `json:"stage,omitempty" doc:"the stage the step stands in; inside a machine, its phase after a slash"`
	Machine   string `json:"machine,omitempty" doc:"the machine it runs in"`
	Action    string `json:"action" doc:"create, update, replace, delete, restart, run, none or unknown" enum:"create,update,replace,delete,restart,run,none,unknown"`
	Reason    string `json:"reason,omitempty" doc:"why; for unknown, the cause"`
	Diff      string `json:"diff,omitempty" doc:"unified, or digests and sizes"`
	Sensitive bool   `json:"sensitive" doc:"whether an argument of the step is sensitive"`
}

// Note says what waits at an address.
type Note struct {
	Address string `json:"address"`
	Text    string `json:"text"`
}

// Pending is a change that waits.
type Pending struct {
	Address string `json:"address"`
	Machine string `json:"machine"`
	Needs   string `json:"needs" doc:"machine restart, repave or confirmation"`
	Reason  string `json:"reason"`
}

// whose names the machine, or the step if the machine is not known.
func (p Pending) whose() string {
	if p.Machine == "" {
		return p.Address
	}
	return "machine " + p.Machine
}

// sentence says what is needed, in the words of commands.
func (p Pending) sentence() string {
	switch p.Needs {
	case "repave":
		return "needs rebuild, which hostler repave does: " + p.Reason
	case "confirmation":
		return "waits for confirmation: " + p.Reason
	}
	return "needs " + p.Needs + ": " + p.Reason
}

// Drift is a thing that was changed behind our back.
type Drift struct {
	Address string `json:"address"`
	Thing   string `json:"thing" doc:"such as path:/etc/motd"`
	Found   string `json:"found" doc:"what is on the host"`
	OnDrift string `json:"on_drift" doc:"repair, report or hold"`
}

// Summary counts actions.
type Summary struct {
	Create  int `json:"create"`
	Update  int `json:"update"`
	Replace int `json:"replace"`
	Delete  int `json:"delete"`
	Restart int `json:"restart"`
	Run     int `json:"run"`
	Unknown int `json:"unknown"`
	None    int `json:"none"`
}

// Changes says whether anything would be done.
func (s Summary) Changes() bool {
	return s.Create+s.Update+s.Replace+s.Delete+s.Restart+s.Run+s.Unknown > 0
}

// Differs says whether the host is another than what the plan drives to; what
// cannot be foreseen does not count.
func (p Plan) Differs() bool {
	s := p.Summary
	s.Unknown = 0
	return s.Changes() || len(p.Drift) > 0
}

// NewPlan makes the document of what was said.
func NewPlan(events []walk.Event) Plan {
	p := Plan{
		FormatVersion: FormatVersion, Actions: []Action{}, Pending: []Pending{}, Deferred: []Note{},
		Drift: []Drift{}, Diagnostics: []Diagnostic{},
	}
	for _, e := range events {
		switch e.Kind {
		case walk.StepFinished:
			p.add(e)
		case walk.Diagnosed:
			p.Diagnostics = append(p.Diagnostics, warningOf(e))
		}
	}
	return p
}

func (p *Plan) add(e walk.Event) {
	a := actionOf(e)
	p.Actions = append(p.Actions, a)
	p.Summary.count(block.Action(a.Action))
	for _, text := range e.Change.Deferred {
		p.Deferred = append(p.Deferred, Note{e.Address, text})
	}
	for _, pending := range e.Change.Pending {
		p.Pending = append(p.Pending, Pending{e.Address, pending.Machine, pending.Needs, pending.Reason})
	}
	for _, d := range e.Drift {
		p.Drift = append(p.Drift, DriftOf(d))
	}
}

// DriftOf is d as documents show it.
func DriftOf(d walk.Drift) Drift {
	return Drift{Address: d.Address, Thing: string(d.Thing), Found: found(d), OnDrift: string(d.Policy)}
}

func found(d walk.Drift) string {
	s := d.Found
	switch {
	case s.Digest != "":
		return s.Kind + " " + s.Digest + " mode " + s.Mode
	case s.Target != "":
		return s.Kind + " to " + s.Target
	case s.Value != "":
		return s.Value
	}
	return s.Kind
}

func actionOf(e walk.Event) Action {
	action := e.Change.Action
	if action == "" {
		action = block.ActionNone
	}
	return Action{
		Address: e.Address, Type: e.Type, Stage: e.Stage, Machine: e.Machine, Action: string(action), Reason: e.Change.Reason,
		Diff: Diffs(e.Change.Diffs), Sensitive: e.Sensitive,
	}
}

func (s *Summary) count(a block.Action) {
	switch a {
	case block.ActionCreate:
		s.Create++
	case block.ActionUpdate:
		s.Update++
	case block.ActionReplace:
		s.Replace++
	case block.ActionDelete:
		s.Delete++
	case block.ActionRestart:
		s.Restart++
	case block.ActionRun:
		s.Run++
	case block.ActionUnknown:
		s.Unknown++
	default:
		s.None++
	}
}
