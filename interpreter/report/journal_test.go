package report_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/block"
	"hostler/interpreter/report"
	"hostler/interpreter/walk"
)

// entries are those of a run, one a line: priority, fields, message.
func entries(j report.Journal) string {
	var b strings.Builder
	write := func(e report.Entry) {
		fmt.Fprintf(&b, "%d", e.Priority)
		for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
			fmt.Fprintf(&b, " %s=%s", strings.TrimPrefix(name, "HOSTLER_"), e.Fields[name])
		}
		fmt.Fprintf(&b, " | %s\n", e.Message)
	}
	for _, e := range events() {
		e.Recipe = "worker"
		for _, entry := range j.Event(e) {
			write(entry)
		}
	}
	write(j.Finish(report.Finished{Command: "apply", Result: "failed", Phase: "installing", Took: 2 * time.Second, Counts: report.Counts{Changed: 2, Unchanged: 3, Failed: 2}}, "worker"))
	return b.String()
}

func TestJournalEntries(t *testing.T) {
	const failures = `3 ACTION=update COMMAND=apply DURATION_USEC=1500000 RECIPE=worker RESULT=failed STAGE=two STEP=a.bad | a.bad: update failed after 1.5s: no space left
3 ACTION=none COMMAND=apply DURATION_USEC=1500000 RECIPE=worker RESULT=failed STAGE=two STEP=a.worse | a.worse: check failed after 1.5s: gone
`
	const end = "3 COMMAND=apply DURATION_USEC=2000000 PHASE=installing RECIPE=worker RESULT=failed | Failed after 2s: 2 changed, 3 unchanged, 2 failed.\n"
	const one, two = "7 COMMAND=apply RECIPE=worker STAGE=one | stage one\n", "7 COMMAND=apply RECIPE=worker STAGE=two | stage two\n"
	const odd = "4 COMMAND=apply RECIPE=worker RESULT=warning STEP=a.new | a.new: Odd: but fine\n"
	for name, c := range map[string]struct {
		journal report.Journal
		want    string
	}{
		"quiet": {report.Journal{Command: "apply", Quiet: true}, one + odd + two + failures + end},
		"plain": {report.Journal{Command: "apply"}, one +
			"6 ACTION=create COMMAND=apply DURATION_USEC=1500000 RECIPE=worker RESULT=changed STAGE=one STEP=a.new | create a.new: it is not there (1.5s)\n" +
			"6 ACTION=none COMMAND=apply DURATION_USEC=1500000 RECIPE=worker RESULT=deferred STAGE=one STEP=a.later | a.later: later: started at boot\n" + odd + two +
			"6 ACTION=none COMMAND=apply DURATION_USEC=1500000 RECIPE=worker RESULT=pending STAGE=two STEP=a.waits | a.waits: needs repave: image differs\n" +
			failures +
			"6 ACTION=run COMMAND=apply DURATION_USEC=1500000 RECIPE=worker RESULT=changed STEP=a.last | run a.last (1.5s)\n" + end},
	} {
		if diff := cmp.Diff(c.want, entries(c.journal)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := entries(report.Journal{Command: "apply", Verbose: true}); !strings.Contains(got, "7 ACTION=none COMMAND=apply DURATION_USEC=1500000 RECIPE=worker RESULT=unchanged STAGE=one STEP=a.same | a.same is as wanted (1.5s)\n") {
		t.Errorf("verbose: %s", got)
	}
}

func TestStatusLine(t *testing.T) {
	for _, c := range []struct {
		event walk.Event
		want  string
	}{
		{walk.Event{Kind: walk.StageStarted, Stage: "host"}, "stage host"},
		{walk.Event{Kind: walk.StepStarted, Address: "a.b", Change: block.Change{Action: block.ActionCreate}}, "a.b: create"},
		{walk.Event{Kind: walk.Progressed, Address: "a.b", Progress: block.Progress{What: "unpack", Done: 1 << 20, Total: 4 << 20}}, "a.b: unpack 1.0 MiB of 4.0 MiB (25 %)"},
		{finished("a.b", "", block.NoChange()), ""},
	} {
		if got := report.StatusLine(c.event); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
