//go:build e2e

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"hostler/testdata/lab"
)

// TestJournal runs hostler as a service of systemd: its unit is started when the
// run has ended well, says what it is at, is watched, and what was done can be
// found in the journal by fields.
func TestJournal(t *testing.T) {
	t.Parallel()
	const recipe = `stage "host" {
  write_file_if_changed "f" {
    path    = "/etc/demo.conf"
    content = "one\n"
  }
  command "slow" {
    argv    = ["sh", "-c", "sleep 3; touch /run/slow"]
    creates = "/run/slow"
  }
}
stage "bad" {
  command "bad" {
    argv   = ["test", "-e", "/run/good"]
    unless = ["test", "-e", "/run/good"]
  }
}
`
	s := settle(t, lab.Options{Files: map[string]string{
		"/etc/systemd/system/demo.service": "[Service]\nType=notify\nWatchdogSec=1\nRemainAfterExit=yes\nExecStart=" + program + " apply /root/trial.hcl\n",
	}})
	s.write(recipe)

	// A run that fails: the unit never counts as started.
	s.MustExec("systemctl", "start", "--no-block", "demo.service")
	s.eventually("the unit says what it is at", func() bool {
		return strings.Contains(s.show("", "demo.service")["StatusText"], "command.slow: run")
	})
	s.eventually("the run ends", func() bool { return s.show("", "demo.service")["ActiveState"] == "failed" })
	if p := s.show("", "demo.service"); p["Result"] != "exit-code" || p["ExecMainStatus"] != "1" || !strings.HasPrefix(p["StatusText"], "Failed after") {
		t.Errorf("it ended with %s %s, status %q", p["Result"], p["ExecMainStatus"], p["StatusText"])
	}
	found := s.journal("HOSTLER_RECIPE=trial", "HOSTLER_RESULT=failed")
	if len(found) != 2 || found[0]["HOSTLER_STEP"] != "command.bad" || found[0]["HOSTLER_STAGE"] != "bad" || found[0]["PRIORITY"] != "3" ||
		found[1]["HOSTLER_PHASE"] != "installing" || found[1]["HOSTLER_STEP"] != nil {
		t.Errorf("entries of failures: %v", found)
	}

	// A run that ends well.
	s.sh("touch /run/good; systemctl reset-failed demo.service; systemctl start demo.service")
	if p := s.show("", "demo.service"); p["ActiveState"] != "active" || !strings.HasPrefix(p["StatusText"], "Nothing to do") {
		t.Errorf("it is %s, status %q", p["ActiveState"], p["StatusText"])
	}
	found = s.journal("--unit=demo.service", "HOSTLER_STEP=write_file_if_changed.f")
	if len(found) != 1 || found[0]["HOSTLER_RESULT"] != "changed" || found[0]["HOSTLER_ACTION"] != "create" || found[0]["HOSTLER_STAGE"] != "host" ||
		number(t, found[0]["HOSTLER_DURATION_USEC"].(string)) <= 0 || found[0]["HOSTLER_COMMAND"] != "apply" {
		t.Errorf("entries of the file: %v", found)
	}
	found = s.journal("--unit=demo.service", "HOSTLER_PHASE=complete")
	if len(found) != 1 || found[0]["HOSTLER_RESULT"] != "ok" || !strings.HasPrefix(found[0]["MESSAGE"].(string), "Nothing to do") {
		t.Errorf("entries of the end: %v", found)
	}
	if text := s.MustExec("journalctl", "--unit=demo.service", "--output=cat", "--no-pager"); strings.Count(text, "create write_file_if_changed.f") != 1 || strings.Contains(text, "  + create") {
		t.Errorf("the journal holds it more than once:\n%s", text)
	}
	s.must("reset")
}

// journal reads entries.
func (s *site) journal(match ...string) (all []map[string]any) {
	s.t.Helper()
	s.MustExec("journalctl", "--sync")
	for line := range strings.Lines(s.MustExec(append([]string{"journalctl", "--output=json", "--no-pager"}, match...)...)) {
		entry := map[string]any{}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			s.t.Fatalf("%q: %v", line, err)
		}
		all = append(all, entry)
	}
	return all
}
