package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/block"
	"hostler/interpreter/report"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

func TestDiffs(t *testing.T) {
	huge := bytes.Repeat([]byte("line\n"), 1<<14)
	for name, c := range map[string]struct {
		diff block.Diff
		want string
	}{
		"changed text": {block.Diff{Thing: "path:/etc/a", Old: []byte("a\nb\n"), New: []byte("a\nc\n")},
			"--- a/etc/a\n+++ b/etc/a\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		"new text": {block.Diff{Thing: "path:/etc/a", New: []byte("a\n"), NewMode: "0644", NewOwner: "0:0"},
			"--- /dev/null\n+++ b/etc/a\n@@ -0,0 +1,1 @@\n+a\n"},
		"removed text": {block.Diff{Thing: "path:/etc/a", Old: []byte("a\n")},
			"--- a/etc/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"},
		"new with mode and owner": {block.Diff{Thing: "path:/a", New: []byte("a\n"), NewMode: "0600", NewOwner: "0:4", Secret: true},
			"/a: mode 0600\n/a: owner 0:4\n/a: (absent) -> (2 bytes, not shown)\n"},
		"mode and owner only": {block.Diff{Thing: "path:/a", Old: []byte("a"), New: []byte("a"), OldMode: "0644", NewMode: "0600", OldOwner: "0:0", NewOwner: "1:1"},
			"/a: mode 0644 -> 0600\n/a: owner 0:0 -> 1:1\n"},
		"mode goes": {block.Diff{Thing: "path:/a", OldMode: "0644", OldOwner: "0:0"},
			"/a: mode 0644 -> (none)\n/a: owner 0:0 -> (none)\n"},
		"secret": {block.Diff{Thing: "path:/a", Old: []byte("canary"), New: []byte("canary2"), Secret: true},
			"/a: (6 bytes, not shown) -> (7 bytes, not shown)\n"},
		"binary": {block.Diff{Thing: "path:/a", Old: []byte("a"), New: []byte{0, 1}},
			"/a: (1 byte, sha256:ca978112ca1bbdcafac231b3) -> (2 bytes, sha256:b413f47d13ee2fe6c845b2ee)\n"},
		"not UTF-8": {block.Diff{Thing: "path:/a", New: []byte{0xff}},
			"/a: (absent) -> (1 byte, sha256:a8100ae6aa1940d0b663bb31)\n"},
		"huge": {block.Diff{Thing: "path:/a", Old: huge, New: []byte{}},
			"/a: (81920 bytes, sha256:acd4d5528a6bc5089d731372) -> (0 bytes, sha256:e3b0c44298fc1c149afbf4c8)\n"},
		"emptied": {block.Diff{Thing: "path:/a", Old: []byte("x\n"), New: []byte{}},
			"--- a/a\n+++ b/a\n@@ -1,1 +0,0 @@\n-x\n"},
		"note": {block.Diff{Thing: "unit-enabled:a.service", Note: "disabled -> enabled"},
			"unit-enabled:a.service: disabled -> enabled\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, report.Diffs([]block.Diff{c.diff})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// planned is a plan with one action of each kind.
func planned() report.Plan {
	var all []walk.Event
	for _, action := range []block.Action{
		block.ActionCreate, block.ActionUpdate, block.ActionReplace, block.ActionDelete, block.ActionRestart, block.ActionRun, block.ActionUnknown, block.ActionNone,
	} {
		all = append(all, finished("a."+string(action), "all", block.Change{Action: action, Reason: "because"}))
	}
	all[0].Change.Diffs = []block.Diff{{Thing: "path:/a", Old: []byte("x\n"), New: []byte("y\n")}}
	all[0].Sensitive = true
	all[1].Drift = []walk.Drift{{Address: "a.update", Thing: "path:/b", Found: thing.State{Kind: thing.Link, Target: "elsewhere"}, Policy: block.DriftReport}}
	all[6].Change.Deferred = []string{"at boot"}
	all[7].Change = block.Change{Pending: []block.Pending{{Machine: "m", Needs: "machine restart", Reason: "settings differ"}}}
	return report.NewPlan(append(all, warned("a.run", "Odd", "but fine"), walk.Event{Kind: walk.StageStarted}))
}

func TestPlanText(t *testing.T) {
	var out, notes strings.Builder
	text := report.Text{Out: report.Pen{W: &out}, Notes: report.Pen{W: &notes}}
	text.Plan(planned())
	want := `stage all
  + create  a.create: because
      --- a/a
      +++ b/a
      @@ -1,1 +1,1 @@
      -x
      +y
  ~ update  a.update: because
  ± replace a.replace: because
  - delete  a.delete: because
  ↻ restart a.restart: because
  ! run     a.run: because
  ? unknown a.unknown: because
beside that
  … later   a.unknown: at boot
  … pending a.none: needs machine restart: settings differ
  ≠ drift   a.update: path:/b is link to elsewhere (on_drift = "report")
Plan: 1 create, 1 update, 1 replace, 1 delete, 1 restart, 1 run, 1 unknown, 1 unchanged.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if notes.String() != "warning: a.run: Odd: but fine\n" {
		t.Errorf("notes: %q", notes.String())
	}
	out.Reset()
	text.Quiet = true
	text.Plan(planned())
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("quiet shows more than the summary: %q", out.String())
	}
}

func TestPlanColours(t *testing.T) {
	var out strings.Builder
	text := report.Text{Out: report.Pen{W: &out, Color: true}, Notes: report.Pen{W: &out}}
	text.Plan(planned())
	for _, want := range []string{"\x1b[31m-x\x1b[0m", "\x1b[32m+y\x1b[0m", "\x1b[36m@@ -1,1 +1,1 @@\x1b[0m"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in %q", want, out.String())
		}
	}
}

func TestVerification(t *testing.T) {
	same := report.NewPlan([]walk.Event{finished("a", "", block.NoChange())})
	unknown := report.NewPlan([]walk.Event{finished("a", "", block.Unknown("not running"))})
	drifted := report.NewPlan([]walk.Event{finished("a", "", block.NoChange())})
	drifted.Drift = []report.Drift{{Address: "a"}}
	for name, c := range map[string]struct {
		plan    report.Plan
		differs bool
		want    string
	}{
		"same":    {same, false, "The host is as it was applied: 1 step.\n"},
		"unknown": {unknown, false, "The host is as it was applied: 0 steps.\n"},
		"drift":   {drifted, true, "The host differs from what was applied: 1 unchanged.\n"},
		"changes": {planned(), true, "The host differs from what was applied: 1 create,"},
	} {
		var out strings.Builder
		text := report.Text{Out: report.Pen{W: &out}, Notes: report.Pen{W: &out}}
		text.Verification(c.plan)
		if c.plan.Differs() != c.differs || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: differs %v, %q", name, c.plan.Differs(), out.String())
		}
	}
}

// TestPlanDocument: lists are never null, so that programs need not ask.
func TestPlanDocument(t *testing.T) {
	data, err := json.Marshal(report.NewPlan(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"format_version":"1","phase":"","identity":null,"actions":[],"summary":{"create":0,"update":0,"replace":0,"delete":0,` +
		`"restart":0,"run":0,"unknown":0,"none":0},"pending":[],"deferred":[],"drift":[],"diagnostics":[]}`
	if string(data) != want {
		t.Errorf("%s, want %s", data, want)
	}
	p := planned()
	if !p.Summary.Changes() || (report.Summary{None: 3}).Changes() {
		t.Error("Changes counts what is none")
	}
	if p.Actions[0].Sensitive != true || p.Actions[0].Stage != "all" || p.Deferred[0].Text != "at boot" || p.Pending[0].Machine != "m" {
		t.Errorf("%+v", p)
	}
}

func TestDriftFound(t *testing.T) {
	for want, state := range map[string]thing.State{
		"file sha256:00 mode 0600": {Kind: thing.File, Digest: "sha256:00", Mode: "0600"},
		"link to x":                {Kind: thing.Link, Target: "x"},
		"active":                   {Kind: thing.Present, Value: "active"},
		"absent":                   {Kind: thing.Absent},
	} {
		if got := report.DriftOf(walk.Drift{Found: state}).Found; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
