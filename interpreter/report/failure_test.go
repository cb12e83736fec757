package report_test

import (
	"strings"
	"testing"

	"hostler/interpreter/report"
)

// TestFailure: the end of a run that failed says where, why and what to do.
func TestFailure(t *testing.T) {
	f := report.Finished{Command: "ensure", Result: "failed", Failure: report.Failure{Stage: "host", Step: "command.a", Reason: "AFailed", Cause: "exit status 3", Advice: "look at a"}}
	entry := report.Journal{Command: "ensure"}.Finish(f, "site")
	for field, want := range map[string]string{
		"HOSTLER_FAILED_STAGE": "host", "HOSTLER_FAILED_STEP": "command.a", "HOSTLER_REASON": "AFailed", "HOSTLER_CAUSE": "exit status 3", "HOSTLER_ADVICE": "look at a",
	} {
		if entry.Fields[field] != want {
			t.Errorf("%s is %q", field, entry.Fields[field])
		}
	}
	var out strings.Builder
	if err := (report.Lines{W: &out}).Finish(f); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"failure":{"stage":"host","step":"command.a","reason":"AFailed","cause":"exit status 3","advice":"look at a"}`) {
		t.Error(out.String())
	}
	f.Failure = report.Failure{}
	out.Reset()
	if err := (report.Lines{W: &out}).Finish(f); err != nil || strings.Contains(out.String(), "failure") || (report.Journal{}).Finish(f, "").Fields["HOSTLER_REASON"] != "" {
		t.Errorf("%v: %s", err, out.String())
	}
}
