//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hostler/testdata/lab"
)

// TestRestarts is about restarts that are owed, on one host; each part begins
// and ends with nothing installed.
func TestRestarts(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{})
	for name, run := range map[string]func(*site){
		"C27 one restart for many changes": manyChanges,
		"C27 start limit hit":              limitHit,
		"C28 a later step fails":           laterStepFails,
		"C32c daemon-reexec in the wait":   reexecInTheWait,
		"C33 reload refused":               reloadRefused,
		"C34 changed credential":           changedCredential,
		"validate refuses":                 validateRefuses,
		"reload":                           reloads,
		"waits":                            waits,
		"commands":                         commands,
	} {
		t.Run(name, func(t *testing.T) {
			here := *s
			here.t = t
			here.sh("rm -f /run/starts") // of the parts before
			run(&here)
			here.must("reset")
		})
	}
}

// service is a step with the unit demo.service, which counts its starts in
// /run/starts, and its restart when what is watched changes.
func service(watch string, lines ...string) string {
	return fmt.Sprintf(`systemd_unit "demo.service" {
  content = <<-EOT
    [Unit]
    Description=Demonstration
    %s
    [Service]
    ExecStartPre=/bin/sh -c "echo x >>/run/starts"
    ExecStart=/usr/bin/sleep infinity
  EOT
  state   = "started"
}

restart_on_change "demo.service" { watch = [systemd_unit["demo.service"], %s] }
`, strings.Join(lines, "\n    "), watch)
}

// starts is how often demo.service was started since it was last asked.
func (s *site) starts() int {
	s.t.Helper()
	n := strings.Count(string(s.Pull("/run/starts")), "x")
	s.sh(": >/run/starts")
	return n
}

func manyChanges(s *site) {
	files := func(content string) string {
		return fmt.Sprintf("write_file_if_changed \"f\" {\n for_each = toset([\"a\", \"b\", \"c\", \"d\"])\n path = \"/etc/demo/${each.key}\"\n content = \"%s\\n\"\n}\n", content) +
			service("write_file_if_changed.f", "StartLimitBurst=2", "StartLimitIntervalSec=120")
	}
	s.must("apply", s.write(files("one")))
	if n := s.starts(); n != 1 {
		s.t.Errorf("at first it was started %d times", n)
	}
	for _, content := range []string{"two", "three", "four"} {
		s.must("apply", s.write(files(content)))
		if n := s.starts(); n != 1 {
			s.t.Errorf("four changes started it %d times", n)
		}
	}
}

func limitHit(s *site) {
	file := func(content string) string {
		return fmt.Sprintf("write_file_if_changed \"f\" {\n path = \"/etc/demo.conf\"\n content = \"%s\\n\"\n}\n", content) +
			service("write_file_if_changed.f", "StartLimitBurst=2", "StartLimitIntervalSec=120")
	}
	s.must("apply", s.write(file("one")))
	// Somebody else restarts it until the limit is hit.
	s.sh("for i in 1 2 3; do systemctl restart demo.service; done; true")
	if p := s.show("", "demo.service"); p["Result"] != "start-limit-hit" {
		s.t.Fatalf("its result is %s", p["Result"])
	}
	s.starts()
	o := s.must("apply", s.write(file("two")))
	if p := s.show("", "demo.service"); p["ActiveState"] != "active" || s.starts() != 1 || !strings.Contains(o.Stdout, "start-limit-hit") {
		s.t.Errorf("it is %s: %s", p["ActiveState"], o)
	}
}

// laterStepFails: what was owed when a later step failed is paid by the next
// run, in which nothing is changed any more.
func laterStepFails(s *site) {
	recipe := func(content string) string {
		return fmt.Sprintf("write_file_if_changed \"f\" {\n path = \"/etc/demo.conf\"\n content = \"%s\\n\"\n}\n", content) +
			"systemd_unit \"demo.service\" {\n content = \"[Service]\\nExecStartPre=/bin/sh -c \\\"echo x >>/run/starts\\\"\\nExecStart=/usr/bin/sleep infinity\\n\"\n state = \"started\"\n}\n" +
			"command \"fails\" { argv = [\"test\", \"-e\", \"/run/cause\"] }\n" +
			"restart_on_change \"demo.service\" { watch = [write_file_if_changed.f, systemd_unit[\"demo.service\"]] }\n"
	}
	s.sh("touch /run/cause")
	s.must("apply", s.write(recipe("one")))
	s.sh("rm /run/cause")
	s.starts()
	o := s.hostler("apply", s.write(recipe("two")))
	if step, _ := o.failed(); o.Code != 1 || step != "command.fails" || s.starts() != 0 {
		s.t.Fatalf("the first run: %s", o)
	}
	s.sh("touch /run/cause")
	o = s.must("apply", "/root/trial.hcl")
	s.wantChanged(o, "command.fails", `restart_on_change["demo.service"]`)
	if n := s.starts(); n != 1 {
		s.t.Errorf("it was started %d times", n)
	}
	o = s.must("apply", "/root/trial.hcl")
	s.wantChanged(o, "command.fails")
}

// reexecInTheWait: the manager drops its connections while we wait for a job.
func reexecInTheWait(s *site) {
	slow := func(content string) string {
		return fmt.Sprintf("write_file_if_changed \"f\" {\n path = \"/etc/demo.conf\"\n content = \"%s\\n\"\n}\n", content) +
			"systemd_unit \"demo.service\" {\n content = \"[Service]\\nType=notify\\nNotifyAccess=all\\nExecStart=/bin/sh -c \\\"sleep 2; systemd-notify --ready; exec sleep infinity\\\"\\n\"\n state = \"started\"\n}\n" +
			"restart_on_change \"demo.service\" { watch = [write_file_if_changed.f, systemd_unit[\"demo.service\"]] }\n"
	}
	s.must("apply", s.write(slow("one")))
	s.MustExec("systemd-run", "sh", "-c", "until systemctl show demo.service | grep -q SubState=start$; do sleep 0.1; done; systemctl daemon-reexec")
	began := time.Now()
	o := s.must("apply", s.write(slow("two")))
	s.wantChanged(o, "write_file_if_changed.f", `restart_on_change["demo.service"]`)
	if p := s.show("", "demo.service"); p["ActiveState"] != "active" || time.Since(began) > time.Minute {
		s.t.Errorf("after %s it is %s", time.Since(began), p["ActiveState"])
	}
}

// reloadRefused: the manager wants 16 MiB free in /run for itself. Nothing is
// started by an old definition, and the next run makes up for it.
func reloadRefused(s *site) {
	s.must("apply", s.write(service("systemd_unit[\"demo.service\"]", "# one")))
	first := s.invocation("", "demo.service")
	s.sh("fallocate -l $(( $(df --output=avail -k /run | tail -1) - 8192 ))K /run/filler")
	changed := s.write(service("systemd_unit[\"demo.service\"]", "# two"))
	o := s.hostler("apply", changed)
	_, why := o.failed()
	if o.Code != 1 || !strings.Contains(why, "daemon-reload") || !strings.Contains(why, "/run") {
		s.t.Errorf("apply with a full /run: %s", o)
	}
	status, _ := document[statusDoc](s, "status")
	if s.invocation("", "demo.service") != first || status.Phase != "installing" || len(status.Debts) == 0 {
		s.t.Errorf("after it the status is %+v", status)
	}
	s.MustExec("rm", "/run/filler")
	o = s.must("apply", changed)
	s.wantChanged(o, `restart_on_change["demo.service"]`)
	if p := s.show("", "demo.service"); p["InvocationID"] == first || p["NeedDaemonReload"] != "no" || p["ActiveState"] != "active" {
		s.t.Errorf("it is %s, reload needed: %s", p["ActiveState"], p["NeedDaemonReload"])
	}
}

func changedCredential(s *site) {
	secret := func(token string) string {
		return fmt.Sprintf("write_file_if_changed \"token\" {\n path = \"/etc/demo/token\"\n mode = \"0600\"\n content = \"%s\\n\"\n}\n", token) +
			"systemd_unit \"demo.service\" {\n content = \"[Service]\\nLoadCredential=token:/etc/demo/token\\nExecStart=/bin/sh -c \\\"cat $CREDENTIALS_DIRECTORY/token >/run/token; exec sleep infinity\\\"\\n\"\n state = \"started\"\n}\n" +
			"restart_on_change \"demo.service\" { watch = [write_file_if_changed.token, systemd_unit[\"demo.service\"]] }\n"
	}
	for _, token := range []string{"one", "two"} {
		s.must("apply", s.write(secret(token)))
		s.eventually("the service has the token "+token, func() bool { return s.Exec("cat", "/run/token").Stdout == token+"\n" })
	}
}

// validateRefuses: a configuration that does not pass leaves the unit as it is,
// and the restart owed.
func validateRefuses(s *site) {
	recipe := func(content string) string {
		return fmt.Sprintf("write_file_if_changed \"f\" {\n path = \"/etc/demo.conf\"\n content = \"%s\\n\"\n}\n", content) +
			"systemd_unit \"demo.service\" {\n content = \"[Service]\\nExecStartPre=/bin/sh -c \\\"echo x >>/run/starts\\\"\\nExecStart=/usr/bin/sleep infinity\\n\"\n state = \"started\"\n}\n" +
			"restart_on_change \"demo.service\" {\n watch = [write_file_if_changed.f, systemd_unit[\"demo.service\"]]\n validate = [\"grep\", \"-q\", \"good\", \"/etc/demo.conf\"]\n}\n"
	}
	s.must("apply", s.write(recipe("good")))
	s.starts()
	o := s.hostler("apply", s.write(recipe("bad")))
	if step, why := o.failed(); o.Code != 1 || step != `restart_on_change["demo.service"]` || !strings.Contains(why, "validation failed") || s.starts() != 0 {
		s.t.Errorf("apply of what does not pass: %s", o)
	}
	s.must("apply", s.write(recipe("good again")))
	if n := s.starts(); n != 1 {
		s.t.Errorf("it was started %d times", n)
	}
}

// reloads: action = "reload" leaves the process running.
func reloads(s *site) {
	recipe := func(content string) string {
		return fmt.Sprintf("write_file_if_changed \"f\" {\n path = \"/etc/demo.conf\"\n content = \"%s\\n\"\n}\n", content) +
			"systemd_unit \"demo.service\" {\n content = \"[Service]\\nExecStart=/usr/bin/sleep infinity\\nExecReload=/bin/sh -c \\\"echo r >>/run/reloads\\\"\\n\"\n state = \"started\"\n restart = \"never\"\n}\n" +
			"restart_on_change \"demo.service\" {\n watch = [write_file_if_changed.f]\n action = \"reload\"\n}\n"
	}
	s.must("apply", s.write(recipe("one")))
	pid := s.show("", "demo.service")["MainPID"]
	s.must("apply", s.write(recipe("two")))
	if now := s.show("", "demo.service")["MainPID"]; now != pid || s.sh("cat /run/reloads") != "r" {
		s.t.Errorf("its process is %s, was %s; reloads: %q", now, pid, s.sh("cat /run/reloads"))
	}
}
