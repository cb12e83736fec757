package operate

import (
	"context"
	"errors"
	"strings"

	"hostler/interpreter"
	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/history"
	"hostler/interpreter/record"
	"hostler/interpreter/sink"
	"hostler/interpreter/walk"
)

// Ended keeps the run and tells its end.
func (a *attendant) Ended(ctx context.Context, e interpreter.Ended) []block.Warning {
	if e.Command = strings.TrimPrefix(e.Command, "hostler "); edited(e.Err) {
		return nil // a question, and no run
	}
	f := Diagnose(e.Err)
	run := a.run(e, f)
	var before history.Run
	if last := history.Last(a.host.Files); last != nil {
		before = *last
	}
	a.keep(run, e, again(before, run))
	a.last(ctx, e, f, run, before.Result == "failed")
	return a.warnings
}

// again says whether a run failed as the one before it did and changed nothing:
// a daemon that tries for hours is not to push all else out of the history.
func again(before history.Run, run *history.Run) bool {
	return run.Result == "failed" && before.Result == "failed" && run.Changed == 0 && before.Recipe == run.Recipe &&
		before.Command == run.Command && before.Step == run.Step && before.Cause == run.Cause
}

func edited(err error) bool {
	_, ok := errors.AsType[*walk.EditedError](err)
	return ok
}

// run is the run as it is kept.
func (a *attendant) run(e interpreter.Ended, f Failure) *history.Run {
	for _, d := range e.Warnings {
		a.recorder.Warn(history.Warning{Summary: d.Summary, Detail: d.Detail})
	}
	run := a.recorder.Run()
	run.Command, run.Version, run.DurationUsec = e.Command, a.version, e.Time.Sub(e.Began).Microseconds()
	run.InstallationID, run.Recipe, run.RecipeVersion = e.Identity.InstallationID, e.Identity.Recipe, e.Identity.RecipeVersion
	if a.admitted != nil && run.Recipe == "" {
		run.Recipe, run.RecipeVersion = a.admitted.Identity.Recipe, a.admitted.Identity.RecipeVersion
	}
	run.Result, run.Phase = e.Word, e.Phase
	run.Changed, run.Unchanged, run.Failed = e.Changed+e.Undone, e.Unchanged, e.Failed
	run.Stage, run.Step, run.Reason = f.Stage, f.Step, f.Reason
	run.Cause, run.Advice = a.clean(f.Cause), a.clean(f.Advice)
	return run
}

// keep keeps a run. One that did nothing, or after which nothing is installed,
// leaves no trace behind the next boot; nor does one that fails again.
func (a *attendant) keep(run *history.Run, e interpreter.Ended, again bool) {
	installed := run.Recipe != "" && (e.Phase == string(record.Installing) || e.Phase == string(record.Complete) || e.Phase == string(record.Resetting))
	quiet := again || !installed || !e.Begun && (e.Err == nil || !e.Walked)
	a.saved(history.Save(a.host.Files, run, quiet))
}

// saved warns where a run could not be kept.
func (a *attendant) saved(err error) {
	if err != nil {
		a.warnings = append(a.warnings, block.Warning{Summary: "Run not kept", Detail: err.Error()})
	}
}

// begun notes that the run does something, in case that it dies.
func (a *attendant) begun() {
	run := a.recorder.Run()
	run.Command, run.Version, run.Phase = a.status.Command, a.version, a.status.Phase
	run.InstallationID, run.Recipe, run.RecipeVersion = a.status.InstallationID, a.status.Recipe, a.status.RecipeVersion
	a.saved(history.Begin(a.host.Files, run))
}

// last tells how the run ended: everybody, when it did something, failed, or
// comes after one that had failed.
func (a *attendant) last(ctx context.Context, e interpreter.Ended, f Failure, run *history.Run, recovered bool) {
	if a.admitted == nil {
		return
	}
	s := a.status
	s.Command, s.Phase, s.Result, s.Reason, s.Time, s.Changed = e.Command, e.Phase, sink.Result(e.Word), "Succeeded", e.Time.UTC(), run.Changed
	if e.Identity.InstallationID != "" {
		s.InstallationID = e.Identity.InstallationID
	}
	s.Stage = ""
	switch s.Result {
	case sink.Failed:
		s.Stage, s.Step, s.Reason, s.Cause, s.Advice = run.Stage, run.Step, run.Reason, run.Cause, run.Advice
	case sink.Deferred:
		s.Reason = "Deferred"
	case sink.OK:
		if e.Phase == "absent" {
			s.Reason = "Reset"
		}
	}
	m := a.metrics(run, e)
	s.Metrics = &m
	if e.Err != nil || recovered {
		a.begin(ctx)
	}
	if a.board == nil {
		a.board = sink.NewBoard(ctx, sink.DoorOf(a.host), a.find(ctx, true))
	}
	for _, fault := range a.board.Close(s) {
		a.warn(fault.Sink, fault.Err)
	}
}

func (a *attendant) metrics(run *history.Run, e interpreter.Ended) sink.Metrics {
	return MetricsOf(run, sink.Metrics{
		Version: a.version, Language: eval.LanguageVersion, Recipe: e.Identity.Recipe, RecipeVersion: e.Identity.RecipeVersion,
		Phase: e.Phase, Debts: e.Debts,
	})
}
