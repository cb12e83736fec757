package history_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/history"
)

func TestText(t *testing.T) {
	good := *installed()
	good.Number, good.Result, good.Step, good.Reason = 8, "ok", "", ""
	died := history.Run{Number: 9, Command: "apply", Result: "died", Reason: "Died", Began: began}
	doc := history.NewDocument([]*history.Run{&died, &good, installed()}, []error{errors.New("x cannot be read")})
	if len(doc.Damaged) != 1 || doc.Runs[1].Steps != nil || doc.Runs[1].Warnings != nil || good.Steps == nil {
		t.Errorf("%+v", doc)
	}
	var out strings.Builder
	history.WriteList(&out, doc)
	const list = `  RUN  BEGAN                 COMMAND   RESULT         TOOK  DID
    9  2026-05-01T12:00:00Z  apply     died           0 µs  Died
    8  2026-05-01T12:00:00Z  ensure    ok              4 s  3 changed, 1 unchanged
    7  2026-05-01T12:00:00Z  ensure    failed          4 s  failed at command.join: JoinFailed
`
	if d := cmp.Diff(list, out.String()); d != "" {
		t.Error(d)
	}
	out.Reset()
	history.WriteList(&out, history.NewDocument(nil, nil))
	if out.String() != "No run is kept on this host.\n" {
		t.Error(out.String())
	}
}

func TestRunText(t *testing.T) {
	var out strings.Builder
	history.WriteRun(&out, installed(), false)
	for _, part := range []string{
		"Run 7: hostler ensure worker 1.2.0\n", "cause:  exit status 3\nadvice: look at it\n", "was changed behind our back: path:/etc/a.conf\n",
		"because of write_file_if_changed.conf[\"x\"]\n", "download worker:1: 1.4 s\n", "failed: exit status 3: token ***", "warning: Passing fault: password *** refused\n",
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is not in\n%s", part, out.String())
		}
	}
	if strings.Contains(out.String(), "require_capability") {
		t.Error("a step that needed nothing is shown")
	}
	out.Reset()
	history.WriteRun(&out, &history.Run{Number: 9, Command: "apply", Began: began}, false)
	if !strings.HasPrefix(out.String(), "Run 9: hostler apply\n") {
		t.Errorf("%q", out.String())
	}
	out.Reset()
	history.WriteRun(&out, installed(), true)
	if !strings.Contains(out.String(), "none     require_capability.nspawn") {
		t.Error(out.String())
	}
}
