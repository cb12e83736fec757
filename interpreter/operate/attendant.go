// Package operate answers what happened on a host and why: it keeps the history
// of runs, tells their status to the sinks that a recipe names, says which step
// owns a thing and when it last changed, and gathers what a supporter needs.
//
// It stands in front of the corridor, which tells its [Attendant] of each run.
package operate

import (
	"context"
	"errors"
	"strings"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/block"
	"hostler/interpreter/history"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/sink"
	"hostler/interpreter/walk"
)

// Attend makes the attendants of runs on a host, for Interpreter.Attend.
// version is that of the program.
func Attend(h host.Host, version string) func(began time.Time) interpreter.Attendant {
	return func(began time.Time) interpreter.Attendant {
		a := &attendant{host: h, version: version, began: began, recorder: history.NewRecorder(began)}
		a.recorder.Clean = a.clean
		return a
	}
}

// attendant attends one run.
type attendant struct {
	host     host.Host
	version  string
	began    time.Time
	recorder *history.Recorder
	admitted *interpreter.Admitted
	// secrets are texts that must not be shown, once they were asked for.
	secrets *strings.Replacer
	board   *sink.Board
	// noted says that the run is noted as one that does something.
	noted bool
	// status is what is told next.
	status   sink.Status
	warnings []block.Warning
}

// Admitted looks for sinks. An installation that is complete is probably as
// wanted: of that run nothing is told before it does something.
func (a *attendant) Admitted(ctx context.Context, in interpreter.Admitted) {
	a.admitted = &in
	a.recorder.Steps(in.Steps)
	if died := history.Died(a.host.Files); died != nil {
		a.saved(history.Save(a.host.Files, died, died.Phase == ""))
	}
	a.status = sink.Status{
		FormatVersion: "1", Host: in.Facts.Hostname, InstallationID: in.Identity.InstallationID, Recipe: in.Identity.Recipe,
		RecipeVersion: in.Identity.RecipeVersion, Command: strings.TrimPrefix(in.Command, "hostler "), Phase: in.Phase, Result: sink.Running, Reason: "Running", Began: a.began.UTC(), Time: a.began.UTC(),
	}
	if in.Phase != string(record.Complete) {
		a.begin(ctx)
		a.board.Tell(a.status)
	}
}

// begin begins to tell all sinks, once.
func (a *attendant) begin(ctx context.Context) {
	if a.board != nil || a.admitted == nil {
		return
	}
	a.board = sink.NewBoard(ctx, sink.DoorOf(a.host), a.find(ctx, false))
}

// find are the sinks of what the run drives to, or those that need neither the
// network nor a write outside of /run.
func (a *attendant) find(ctx context.Context, volatile bool) (all []block.Sink) {
	for i := range a.admitted.Steps {
		p := &a.admitted.Steps[i]
		telling, ok := p.Step.(block.Telling)
		if !ok || volatile && !telling.Tells().Volatile() {
			continue
		}
		if len(p.NeedsInput) > 0 {
			filled, err := a.fill(ctx, p)
			if err != nil {
				a.warn(p.Label, err)
				continue
			}
			telling = filled
		}
		all = append(all, telling.Tells())
	}
	return all
}

// fill makes a sink with its token. Without one it is not told of this run.
func (a *attendant) fill(ctx context.Context, p *block.Placed) (block.Telling, error) {
	step, err := a.admitted.Fill(ctx, p)
	if telling, ok := step.(block.Telling); ok && err == nil && hasToken(telling.Tells()) {
		return telling, nil
	}
	return nil, errors.New("its token is the sensitive " + strings.Join(p.NeedsInput, ", ") + ", which has no value in this run")
}

// hasToken says whether a sink that was made with a token has one now: its
// variable may have a default that is null.
func hasToken(s block.Sink) bool {
	return s.Webhook != nil && s.Webhook.Token != "" || s.Kubernetes != nil && s.Kubernetes.Token != ""
}

func (a *attendant) warn(label string, err error) {
	a.warnings = append(a.warnings, block.Warning{Summary: "Status not told", Detail: "status_sink." + label + ": " + a.clean(err.Error())})
}

// Event notes an event and tells where the run is.
func (a *attendant) Event(e walk.Event) {
	a.recorder.Event(e)
	switch e.Kind {
	case walk.StageStarted:
		a.status.Stage = e.Stage
		a.tell(e.Time)
	case walk.StepStarted:
		a.acts(e.Time)
		if !a.noted {
			a.noted = true
			a.begun()
		}
	case walk.StepFinished:
		if e.Err == nil && e.Change.Needed() {
			a.acts(e.Time)
			a.status.Changed++
		}
	}
}

// acts tells that the run does something, the first time.
func (a *attendant) acts(at time.Time) {
	if a.board == nil && a.admitted != nil {
		a.begin(context.Background())
		a.tell(at)
	}
}

func (a *attendant) tell(at time.Time) {
	a.status.Time = at.UTC()
	a.board.Tell(a.status)
}

// clean takes the sensitive values given out of a text. To know them the recipe
// is read, which costs more than all else of a run that finds nothing to do:
// such a run has no texts.
func (a *attendant) clean(s string) string {
	if s == "" || a.admitted == nil {
		return s
	}
	if a.secrets == nil {
		var pairs []string
		for _, text := range a.admitted.Secrets() {
			pairs = append(pairs, text, "(sensitive)")
		}
		a.secrets = strings.NewReplacer(pairs...)
	}
	return a.secrets.Replace(s)
}
