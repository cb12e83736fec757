//go:build e2e

package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	"hostler/testdata/lab"
)

// TestC30BootTimeRun: hostler runs in a unit at boot, before multi-user.target,
// while the system is starting (C31). What is ordered after that is queued and
// not waited for; boot reaches its target, and the units come up.
func TestC30BootTimeRun(t *testing.T) {
	t.Parallel()
	const unit = `[Unit]
Before=multi-user.target

[Service]
Type=oneshot
TimeoutStartSec=60
ExecStartPre=/bin/sh -c "systemctl is-system-running >/root/state; true"
ExecStart=` + program + ` apply /root/trial.hcl --output json
StandardOutput=truncate:/root/events

[Install]
WantedBy=multi-user.target
`
	s := settle(t, lab.Options{Files: map[string]string{
		"/etc/systemd/system/boot-run.service":   unit,
		"/etc/systemd/system/slow.service":       "[Service]\nType=oneshot\nExecStart=/usr/bin/sleep 4\n[Install]\nWantedBy=multi-user.target\n",
		"/etc/systemd/system/broken.service":     "[Service]\nType=oneshot\nExecStart=/usr/bin/false\n[Install]\nWantedBy=multi-user.target\n",
		"/etc/systemd/system/other-late.service": "[Unit]\nAfter=multi-user.target\n[Service]\nExecStart=/usr/bin/sleep infinity\n",
	}})
	s.write(`variable "mode" {
  type    = string
  default = "one"
}
write_file_if_changed "f" {
  path    = "/etc/demo.conf"
  content = "${var.mode}\n"
}
systemd_unit "other-late.service" { state = "started" }
systemd_unit "follower.service" {
  content = "[Unit]\nAfter=boot-run.service\n[Service]\nExecStart=/usr/bin/sleep infinity\n"
  state   = "started"
}
restart_on_change "follower.service" { watch = [write_file_if_changed.f, systemd_unit["follower.service"]] }
`)
	s.must("apply", "/root/trial.hcl")
	s.MustExec("systemctl", "enable", "boot-run.service", "slow.service", "broken.service")
	began := time.Now()
	s.Reboot()
	if took := time.Since(began); took > 50*time.Second {
		t.Errorf("the boot took %s", took)
	}
	if state := s.sh("cat /root/state"); state != "starting" {
		t.Errorf("the run was in a system that was %q", state)
	}
	if p := s.show("", "boot-run.service"); p["Result"] != "success" || p["ExecMainStatus"] != "0" {
		t.Errorf("the run ended with %s %s\n%s", p["Result"], p["ExecMainStatus"], s.sh("cat /root/events; journalctl -u boot-run -o cat --no-pager"))
	}
	o := eventsOf(t, lab.Result{Stdout: s.sh("cat /root/events")})
	for _, queued := range []string{"The start of other-late.service is queued", "The start of follower.service is queued"} {
		if !strings.Contains(o.warnings(), queued) {
			t.Errorf("no warning %q in %s", queued, o.warnings())
		}
	}
	for _, name := range []string{"other-late.service", "follower.service", "multi-user.target"} {
		s.eventually(name+" is active", func() bool { return s.Exec("systemctl", "is-active", name).Code == 0 })
	}
	s.wantChanged(s.must("ensure"))

	// By hand, on a degraded system: a unit that runs and is ordered after ours
	// is restarted when ours is done.
	if state := s.Exec("systemctl", "is-system-running").Stdout; state != "degraded\n" {
		t.Errorf("the system is %q", state)
	}
	follower, late := s.invocation("", "follower.service"), s.invocation("", "other-late.service")
	s.Push("/etc/systemd/system/boot-run.service.d/mode.conf", []byte("[Service]\nEnvironment=HOSTLER_VAR_mode=two\n"), os.FileMode(0o644))
	s.sh("systemctl daemon-reload; timeout 50 systemctl start boot-run.service")
	o = eventsOf(t, lab.Result{Stdout: s.sh("cat /root/events")})
	if !strings.Contains(o.warnings(), "The restart of follower.service is queued") {
		t.Errorf("warnings: %s", o.warnings())
	}
	s.eventually("follower.service was restarted", func() bool {
		now := s.show("", "follower.service")
		return now["ActiveState"] == "active" && now["InvocationID"] != follower
	})
	if now := s.invocation("", "other-late.service"); now != late {
		t.Error("other-late.service was restarted")
	}
}
