package report_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/block"
	"hostler/interpreter/report"
	"hostler/interpreter/walk"
)

// finished is the end of a step that took 1.5 s.
func finished(address, stage string, change block.Change) walk.Event {
	return walk.Event{Kind: walk.StepFinished, Stage: stage, Address: address, Type: "t", Change: change, Duration: 1500 * time.Millisecond}
}

func warned(address, summary, detail string) walk.Event {
	return walk.Event{Kind: walk.Diagnosed, Address: address, Warning: block.Warning{Summary: summary, Detail: detail}}
}

// events is a run with everything that can happen.
func events() []walk.Event {
	failed := finished("a.bad", "two", block.Change{Action: block.ActionUpdate})
	failed.Err = errors.New("no space left")
	unchecked := finished("a.worse", "two", block.Change{})
	unchecked.Err = errors.New("gone")
	return []walk.Event{
		finished("a.fine", "", block.NoChange()),
		{Kind: walk.StageStarted, Stage: "one"},
		finished("a.same", "one", block.NoChange()),
		finished("a.new", "one", block.Change{Action: block.ActionCreate, Reason: "it is not there"}),
		finished("a.later", "one", block.Change{Action: block.ActionNone, Deferred: []string{"started at boot"}}),
		warned("a.new", "Odd", "but fine"),
		{Kind: walk.StageStarted, Stage: "two"},
		finished("a.waits", "two", block.Change{Action: block.ActionNone, Pending: []block.Pending{{Machine: "m", Needs: "repave", Reason: "image differs"}}}),
		failed, unchecked,
		finished("a.last", "", block.Change{Action: block.ActionRun}),
	}
}

func TestTextEvents(t *testing.T) {
	for name, c := range map[string]struct {
		text report.Text
		want string
	}{
		"plain": {report.Text{}, `stage one
  + create  a.new: it is not there (1.5s)
  … later   a.later: started at boot
stage two
  … pending a.waits: needs rebuild, which hostler repave does: image differs
  ✗ a.bad: update failed after 1.5s
  ✗ a.worse: check failed after 1.5s
outside of stages
  ! run     a.last (1.5s)
`},
		"verbose": {report.Text{Verbose: true}, `  = none    a.fine (1.5s)
stage one
  = none    a.same (1.5s)
  + create  a.new: it is not there (1.5s)
  = none    a.later (1.5s)
  … later   a.later: started at boot
stage two
  = none    a.waits (1.5s)
  … pending a.waits: needs rebuild, which hostler repave does: image differs
  ✗ a.bad: update failed after 1.5s
  ✗ a.worse: check failed after 1.5s
outside of stages
  ! run     a.last (1.5s)
`},
		"quiet": {report.Text{Quiet: true}, `stage two
  ✗ a.bad: update failed after 1.5s
  ✗ a.worse: check failed after 1.5s
`},
	} {
		t.Run(name, func(t *testing.T) {
			var out, notes strings.Builder
			c.text.Out.W, c.text.Notes.W = &out, &notes
			for _, e := range events() {
				c.text.Event(e)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff("warning: a.new: Odd: but fine\n", notes.String()); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTextColours: each stream has colours of its own.
func TestTextColours(t *testing.T) {
	var out, notes strings.Builder
	text := report.Text{Out: report.Pen{W: &out, Color: true}, Notes: report.Pen{W: &notes}}
	text.Event(finished("a", "s", block.Change{Action: block.ActionCreate}))
	text.Event(warned("a", "Odd", ""))
	if want := "\x1b[1mstage s\x1b[0m\n  \x1b[32m+\x1b[0m create  a\x1b[2m (1.5s)\x1b[0m\n"; out.String() != want {
		t.Errorf("results are %q, want %q", out.String(), want)
	}
	if want := "warning: a: Odd\n"; notes.String() != want {
		t.Errorf("notes are %q, want %q", notes.String(), want)
	}
	notes.Reset()
	text.Notes.Color = true
	text.Warning(report.Diagnostic{Severity: "error", Summary: "Bad"})
	if want := "\x1b[31merror\x1b[0m: Bad\n"; notes.String() != want {
		t.Errorf("notes are %q, want %q", notes.String(), want)
	}
}

func TestFinish(t *testing.T) {
	outputs := []report.Output{
		{Name: "a", Value: []byte(`"x"`)}, {Name: "b", Sensitive: true, Value: []byte(`"never"`)}, {Name: "c"},
	}
	for want, f := range map[string]report.Finished{
		"Done: 2 changed, 3 unchanged (20ms).\n":                                                  {Result: "ok", Counts: report.Counts{Changed: 2, Unchanged: 3}},
		"Done: 1 changed, 0 unchanged (20ms). The rest waits for the first boot.\n":               {Result: "deferred", Counts: report.Counts{Changed: 1}},
		"Nothing to do: 1 step is as wanted (20ms).\n":                                            {Result: "ok", Counts: report.Counts{Unchanged: 1}},
		"Nothing to do: 2 steps are as wanted (20ms). The rest waits for the first boot.\n":       {Result: "deferred", Counts: report.Counts{Unchanged: 2}},
		"Nothing to do (20ms).\n":                                                                 {Result: "ok", Command: "reset"},
		"Reset: 1 thing undone (20ms).\n":                                                         {Result: "ok", Command: "reset", Counts: report.Counts{Changed: 1}},
		"Failed after 20ms: 1 changed, 2 unchanged, 1 failed.\n":                                  {Result: "failed", Counts: report.Counts{Changed: 1, Unchanged: 2, Failed: 1}},
		"Done: 1 changed, 0 unchanged (20ms).\na = \"x\"\nb = (sensitive)\nc = (not known yet)\n": {Result: "ok", Counts: report.Counts{Changed: 1}, Outputs: outputs},
	} {
		f.Took = 20 * time.Millisecond
		var out strings.Builder
		text := report.Text{Out: report.Pen{W: &out}}
		text.Finish(f)
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
	var out strings.Builder
	text := report.Text{Out: report.Pen{W: &out}, Quiet: true}
	text.Finish(report.Finished{Result: "ok", Outputs: outputs})
	if strings.Contains(out.String(), "a =") {
		t.Errorf("quiet shows outputs: %q", out.String())
	}
}
