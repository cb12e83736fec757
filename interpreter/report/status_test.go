package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/report"
)

func TestStatusText(t *testing.T) {
	for name, c := range map[string]struct {
		status      report.Status
		want, notes string
	}{
		"absent": {report.Status{Phase: "absent"}, "phase         absent\n", ""},
		"unreadable": {report.Status{Phase: "unreadable", Unreadable: "it is damaged", Provisional: true},
			"phase         unreadable\nwhy           it is damaged\n", "warning: Provisional: another run is changing the host\n"},
		"complete": {report.Status{
			Phase: "complete", Recipe: "site", RecipeVersion: "1.0.0", InstallationID: "0123", Fingerprint: "v1:sha256:00", Prefix: "/opt/x",
			LastRun:     &report.LastRun{Command: "hostler apply", Result: "failed", Time: time.Unix(0, 0), Error: "no space"},
			Daemon:      &report.Daemon{State: "watching", Since: time.Unix(60, 0), Held: []string{"a.b"}, LastLook: &report.DaemonLook{Error: "no way"}},
			Drift:       []report.Drift{{Address: "a.b", Thing: "path:/b", Found: "absent"}},
			Pending:     []report.Pending{{Address: "m.n", Needs: "repave", Reason: "image differs"}},
			Debts:       []report.Debt{{Unit: "a.service", Cause: "a.b", Reason: "content differs"}},
			Diagnostics: []report.Diagnostic{{Severity: "warning", Summary: "Odd", Detail: "but fine"}},
		}, `phase         complete
recipe        site 1.0.0
installation  0123
fingerprint   v1:sha256:00
prefix        /opt/x
last run      hostler apply failed at 1970-01-01T00:00:00Z
              no space
daemon        watching since 1970-01-01T00:01:00Z
              no way
left          a.b: the daemon repaired it too often within an hour
drift         path:/b: absent (a.b)
pending       m.n needs rebuild, which hostler repave does: image differs
owes restart  a.service: a.b content differs
`, "warning: Odd: but fine\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, notes strings.Builder
			text := report.Text{Out: report.Pen{W: &out}, Notes: report.Pen{W: &notes}}
			text.Status(c.status)
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if notes.String() != c.notes {
				t.Errorf("notes %q, want %q", notes.String(), c.notes)
			}
		})
	}
}

func TestPreflightText(t *testing.T) {
	findings := []report.Finding{
		{Address: "r.fine", Status: "ok"}, {Address: "r.bad", Status: "error", Summary: "nft is missing", Advice: "install it"},
		{Address: "r.odd", Status: "warning", Summary: "old"}, {Address: "r.dark", Status: "unknown", Summary: "not running"},
	}
	var out strings.Builder
	text := report.Text{Out: report.Pen{W: &out}}
	text.Preflight(report.Preflight{ErrorCount: 1, WarningCount: 1, Findings: findings})
	want := `  error r.bad: nft is missing
      install it
  warning r.odd: old
  unknown r.dark: not running
The host does not meet the recipe's requirements: 1 error, 1 warning.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	text.Verbose = true
	text.Preflight(report.Preflight{Passed: true, Findings: findings[:1]})
	if want := "  ok r.fine: \nThe host meets the recipe's requirements (1 requirement, 0 warnings).\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	text.Verbose, text.Quiet = false, true
	text.Preflight(report.Preflight{Passed: true, Findings: findings[:1]})
	if out.String() != "" {
		t.Errorf("quiet, with nothing to say: %q", out.String())
	}
	text.Preflight(report.Preflight{Passed: true, WarningCount: 1, Findings: findings[2:3]})
	if !strings.Contains(out.String(), "warning r.odd: old") {
		t.Errorf("quiet, with a warning: %q", out.String())
	}
}
