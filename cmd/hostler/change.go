package main

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"hostler/interpreter"
	"hostler/interpreter/operate"
	"hostler/interpreter/report"
	"hostler/interpreter/walk"
)

// doing is a command of the interpreter.
type doing func(in *interpreter.Interpreter, ctx context.Context, req interpreter.Request) (interpreter.Outcome, error)

// change runs a command that changes a host and reports it as it goes.
func (a *app) change(c *cobra.Command, args []string, ask func(*interpreter.Request), do doing) error {
	collectLate()
	req, err := a.request(args)
	if err != nil {
		return err
	}
	if ask != nil {
		ask(&req)
	}
	t := a.telling(c.Name())
	began := time.Now()
	t.start(report.Started{Time: began, Command: c.Name()})
	out := interpreter.Outcome{Word: "failed"}
	err = a.on(c.Context(), c.Name(), func(in *interpreter.Interpreter) (err error) {
		in.Emit = t.event
		out, err = do(in, c.Context(), req)
		return err
	})
	t.finish(out, err, report.Finished{Time: time.Now(), Command: c.Name(), Took: time.Since(began)})
	return err
}

// teller reports a run as it goes, as text or as events.
type teller struct {
	*app
	text     *report.Text
	lines    report.Lines
	progress report.Progress
	throttle report.Throttle
	reporter *reporter
}

// The least times between two reports of progress.
const (
	progressOnScreen = 100 * time.Millisecond
	progressInEvents = time.Second
)

func (a *app) telling(command string) *teller {
	a.outlive()
	t := &teller{app: a, text: a.text(), lines: report.Lines{W: a.out.W}, reporter: a.reportTo(a.supervisor, command)}
	t.progress = report.Progress{Pen: a.pen(a.err), Width: a.width}
	t.throttle.Every = progressOnScreen
	if a.json() {
		t.throttle.Every = progressInEvents
	}
	return t
}

// start tells that the run starts, and what is odd about the recipe.
func (t *teller) start(s report.Started) {
	if t.json() {
		_ = t.lines.Start(s)
	}
	t.warnings(t.found, s.Time)
}

func (t *teller) event(e walk.Event) {
	if !t.throttle.Pass(e) {
		return
	}
	written := t.reporter.event(e)
	if t.json() {
		_ = t.lines.Event(e)
		return
	}
	t.progress.Clear()
	if !written {
		t.text.Event(e)
	}
	if t.terminal && !t.flags.quiet {
		t.progress.Event(e)
	}
}

// finish tells how the run ended.
func (t *teller) finish(out interpreter.Outcome, err error, f report.Finished) {
	t.progress.Clear()
	f.Result, f.Phase, f.Identity = out.Word, out.Phase, out.Identity
	f.Counts = report.Counts{Changed: out.Changed + out.Undone, Unchanged: out.Unchanged, Failed: out.Failed}
	f.Failure = report.Failure(operate.Diagnose(err))
	t.warnings(out.Warnings, f.Time)
	if err == nil {
		f.Outputs = interpreter.OutputDocuments(out.Outputs)
	}
	written := t.reporter.finish(f, out.Identity.Recipe)
	switch {
	case t.json():
		t.finishLines(err, f)
	case written:
	case err == nil || f.Counts != report.Counts{}:
		t.text.Finish(f)
	}
}

func (t *teller) finishLines(err error, f report.Finished) {
	if diags, ok := errors.AsType[hcl.Diagnostics](err); ok {
		t.warnings(diags, f.Time)
	}
	if err != nil {
		f.Error = operate.Cause(err)
	}
	_ = t.lines.Finish(f)
	t.reported = !has[*codeError](err)
}

func (t *teller) warnings(diags hcl.Diagnostics, at time.Time) {
	if len(diags) == 0 {
		return
	}
	if !t.json() {
		t.diagnose(diags)
		return
	}
	for _, d := range report.Diagnostics(diags, t.sources()) {
		_ = t.lines.Diagnose(at, d)
	}
}
