package report_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/block"
	"hostler/interpreter/report"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

func TestLines(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	failed := finished("a.b", "s", block.Change{Action: block.ActionUpdate, Reason: "differs"})
	failed.Err, failed.Machine = errors.New("no space"), "m"
	rich := finished("a.c", "", block.Change{Deferred: []string{"at boot"}, Pending: []block.Pending{{Machine: "m", Needs: "repave", Reason: "image"}}})
	rich.Drift = []walk.Drift{{Address: "a.c", Thing: "path:/c", Found: thing.State{Kind: thing.Absent}, Policy: block.DriftHold}}
	var out strings.Builder
	l := report.Lines{W: &out}
	for _, err := range []error{
		l.Start(report.Started{Time: at, Command: "apply"}),
		l.Event(walk.Event{Kind: walk.StageStarted, Time: at, Stage: "s"}),
		l.Event(walk.Event{Kind: walk.StepStarted, Time: at, Address: "a.b", Type: "a", Change: block.Change{Action: block.ActionRun}}),
		l.Event(walk.Event{Kind: walk.Progressed, Time: at, Address: "a.b", Progress: block.Progress{What: "unpack", Name: "n", Done: 1, Total: 2}}),
		l.Event(failed),
		l.Event(rich),
		l.Event(warned("a.b", "Odd", "but fine")),
		l.Diagnose(at, report.Diagnostic{Severity: "error", Summary: "Bad"}),
		l.Finish(report.Finished{Time: at, Command: "apply", Result: "failed", Phase: "installing", Took: time.Second, Error: "no space",
			Counts: report.Counts{Failed: 1}, Identity: map[string]string{"recipe": "r"}, Outputs: []report.Output{{Name: "o", Value: []byte("1")}}}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	none := `"time":"0001-01-01T00:00:00Z"`
	when := `"time":"2030-01-02T02:04:05Z"`
	want := strings.Join([]string{
		`{"format_version":"1","type":"run_started",` + when + `,"command":"apply"}`,
		`{"format_version":"1","type":"stage_started",` + when + `,"stage":"s"}`,
		`{"format_version":"1","type":"step_started",` + when + `,"address":"a.b","block_type":"a","action":"run"}`,
		`{"format_version":"1","type":"progress",` + when + `,"address":"a.b","progress":{"what":"unpack","name":"n","done_bytes":1,"total_bytes":2}}`,
		`{"format_version":"1","type":"step_finished",` + none + `,"stage":"s","address":"a.b","block_type":"t","machine":"m","action":"update","reason":"differs","changed":false,"duration_ms":1500,"error":"no space"}`,
		`{"format_version":"1","type":"step_finished",` + none + `,"address":"a.c","block_type":"t","action":"none","changed":false,"duration_ms":1500,"deferred":["at boot"],` +
			`"pending":[{"address":"a.c","machine":"m","needs":"repave","reason":"image"}],"drift":[{"address":"a.c","thing":"path:/c","found":"absent","on_drift":"hold"}]}`,
		`{"format_version":"1","type":"diagnostic",` + none + `,"address":"a.b","diagnostic":{"severity":"warning","summary":"Odd","detail":"but fine","address":"a.b"}}`,
		`{"format_version":"1","type":"diagnostic",` + when + `,"diagnostic":{"severity":"error","summary":"Bad"}}`,
		`{"format_version":"1","type":"run_finished",` + when + `,"duration_ms":1000,"error":"no space","command":"apply","identity":{"recipe":"r"},"phase":"installing",` +
			`"summary":{"changed":0,"unchanged":0,"failed":1},"result":"failed","outputs":[{"name":"o","sensitive":false,"value":1}]}`,
	}, "\n") + "\n"
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(out.String(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestLinesSayThatTheyCannotBeWritten(t *testing.T) {
	if err := (report.Lines{W: closed{}}).Start(report.Started{}); err == nil {
		t.Error("no error")
	}
}

func progressed(seconds float64, done, total int64) walk.Event {
	at := time.Unix(0, 0).Add(time.Duration(seconds * float64(time.Second)))
	return walk.Event{Kind: walk.Progressed, Time: at, Address: "a", Progress: block.Progress{What: "download", Name: "image", Done: done, Total: total}}
}

func TestThrottle(t *testing.T) {
	throttle := report.Throttle{Every: time.Second}
	for i, c := range []struct {
		event walk.Event
		pass  bool
	}{
		{progressed(100, 1, 9), true}, {progressed(100.5, 2, 9), false}, {progressed(101, 3, 9), true}, {progressed(101.1, 4, 0), false},
		{finished("a", "", block.NoChange()), true}, {progressed(101.2, 9, 9), true}, {progressed(101.3, 1, 9), false},
	} {
		if got := throttle.Pass(c.event); got != c.pass {
			t.Errorf("event %d passes: %v, want %v", i, got, c.pass)
		}
	}
}

func TestProgress(t *testing.T) {
	var out strings.Builder
	p := report.Progress{Pen: report.Pen{W: &out}, Width: 60}
	const clear = "\r\x1b[K"
	for _, c := range []struct {
		event walk.Event
		want  string
	}{
		{walk.Event{Kind: walk.StepStarted, Address: "a", Change: block.Change{Action: block.ActionCreate}}, "  … a: create"},
		{progressed(0, 512, 0), clear + "  … a: download image 512 B"},
		{progressed(0, 3<<19, 3<<20), clear + "  … a: download image 1.5 MiB of 3.0 MiB (50 %)"},
		{progressed(0, 5<<40, 0), clear + "  … a: download image 5.0 TiB"},
		{finished("a", "", block.NoChange()), clear},
		{finished("b", "", block.NoChange()), ""},
	} {
		out.Reset()
		p.Event(c.event)
		if out.String() != c.want {
			t.Errorf("%q, want %q", out.String(), c.want)
		}
	}
	out.Reset()
	p.Width = 20
	p.Event(progressed(0, 1, 0))
	if want := "  … a: download im…"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
