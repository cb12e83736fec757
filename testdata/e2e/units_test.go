//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hostler/testdata/lab"
)

// unitCase is a recipe of units on a host with units of others.
type unitCase struct {
	name  string
	setup string // a script that is run in the host before
	steps string
	// failed says why the run fails, in parts of the text; none: it succeeds,
	// and a second run changes nothing.
	failed []string
	// unchanged says that even the first run changes nothing.
	unchanged bool
	// then is a script that must succeed after it.
	then string
	// after is a script that must succeed after the reset.
	after string
}

// simple is the text of a unit file that runs until it is stopped.
const simple = "[Service]\\nExecStart=/usr/bin/sleep infinity\\n"

// foreign is a script that writes unit files of others: name and lines in
// turn.
func foreign(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "printf '%s' >/etc/systemd/system/%s\n", pairs[i+1], pairs[i])
	}
	return b.String() + "systemctl daemon-reload\n"
}

// unitCases are the states that units of others can be in.
func unitCases() []unitCase {
	return []unitCase{
		{
			name: "masked", setup: foreign("x.service", simple) + "mv /etc/systemd/system/x.service /usr/lib/systemd/system/; systemctl mask x.service",
			steps:  `systemd_unit "x.service" { state = "started" }`,
			failed: []string{"x.service", "masked", "mask = false"}, after: "test -L /etc/systemd/system/x.service",
		},
		{
			name: "unmasked", steps: "systemd_unit \"x.service\" {\n mask = false\n state = \"started\"\n}",
			then: "systemctl is-active x.service", after: "test $(systemctl is-enabled x.service) = masked; ! systemctl is-active x.service",
		},
		{
			name: "alias", setup: "systemctl unmask x.service; " + foreign("real.service", simple+`[Install]\nWantedBy=multi-user.target\nAlias=other.service\n`) + "systemctl enable real.service",
			steps: "systemd_unit \"other.service\" {\n enable = true\n state = \"started\"\n}",
			then:  "systemctl is-active real.service; test $(systemctl is-enabled real.service) = enabled", after: "test $(systemctl is-enabled real.service) = enabled; ! systemctl is-active real.service",
		},
		{
			name: "C23 static", setup: foreign("static.service", simple),
			steps:  `systemd_unit "static.service" { enable = true }`,
			failed: []string{"static.service", "[Install]"}, after: "test $(systemctl is-enabled static.service) = static",
		},
		{name: "static started", steps: `systemd_unit "static.service" { state = "started" }`, then: "systemctl is-active static.service", after: "! systemctl is-active static.service"},
		{
			name: "C23 enabled by alias only", setup: foreign("b.service", simple+`[Install]\nAlias=b-other.service\n`),
			steps: `systemd_unit "b.service" { enable = true }`,
			then:  "test $(systemctl is-enabled b.service) = enabled", after: "test $(systemctl is-enabled b.service) = disabled",
		},
		{
			name: "C25 generated", setup: "mkdir -p /mnt/gen; echo 'tmpfs /mnt/gen tmpfs noauto 0 0' >>/etc/fstab; systemctl daemon-reload",
			steps:  `systemd_unit "mnt-gen.mount" { enable = true }`,
			failed: []string{"mnt-gen.mount", "generated"},
		},
		{name: "C25 generated started", steps: `systemd_unit "mnt-gen.mount" { state = "started" }`, then: "mountpoint /mnt/gen", after: "! mountpoint /mnt/gen"},
		{
			name: "C25 template", setup: foreign("t@.service", simple+`[Install]\nWantedBy=multi-user.target\n`),
			steps:  `systemd_unit "t@.service" { enable = true }`,
			failed: []string{"t@.service", "instance"},
		},
		{
			name: "C25 instance", steps: "systemd_unit \"t@b.service\" {\n enable = true\n state = \"started\"\n}",
			then: "systemctl is-active t@b.service; test $(systemctl is-enabled t@b.service) = enabled", after: "! systemctl is-active t@b.service; test $(systemctl is-enabled t@b.service) = disabled",
		},
		{
			name: "transient", setup: "systemd-run --unit=transient sleep infinity",
			steps: `systemd_unit "transient.service" { enable = true }`, failed: []string{"transient.service", "transient"},
		},
		{name: "transient started", steps: `systemd_unit "transient.service" { state = "started" }`, unchanged: true},
		{name: "transient stopped", steps: `systemd_unit "transient.service" { state = "stopped" }`, then: "! systemctl is-active transient.service"},
		{name: "not found", steps: `systemd_unit "none.service" { state = "started" }`, failed: []string{"none.service", "no such unit"}},
		{name: "not found stopped", steps: `systemd_unit "none.service" { state = "stopped" }`, unchanged: true},
		{
			name: "starting", setup: foreign("slow.service", `[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/usr/bin/sleep 2\n`) + "systemctl start --no-block slow.service",
			steps: "systemd_unit \"slow.service\" { state = \"started\" }\nwait_for \"slow\" { unit = \"slow.service\" }", then: "systemctl is-active slow.service", after: "true",
		},
		{
			name: "stopping", setup: foreign("slow.service", `[Service]\nType=notify\nNotifyAccess=all\nExecStart=/bin/sh -c "systemd-notify --ready; exec sleep infinity"\nExecStop=/usr/bin/sleep 2\n`) + "systemctl restart slow.service; systemctl stop --no-block slow.service; while systemctl is-active --quiet slow.service; do sleep 0.1; done",
			steps: `systemd_unit "slow.service" { state = "started" }`, then: "systemctl is-active slow.service", after: "! systemctl is-active slow.service",
		},
		{
			name: "H18 start limit", setup: foreign("limited.service", `[Unit]\nStartLimitBurst=2\nStartLimitIntervalSec=300\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/usr/bin/test -e /run/cause\n`) +
				"for i in 1 2; do systemctl start limited.service; done; touch /run/cause; ! systemctl start limited.service",
			steps: `systemd_unit "limited.service" { state = "started" }`, then: "systemctl is-active limited.service",
		},
		{
			name: "H18 start limit hit", setup: foreign("hit.service", `[Unit]\nStartLimitBurst=2\nStartLimitIntervalSec=300\n[Service]\nType=oneshot\nExecStart=/bin/sh -c "echo ran >>/run/hit"\n[Install]\nWantedBy=multi-user.target\n`) +
				"systemctl enable hit.service; for i in 1 2; do systemctl start hit.service; done; ! systemctl start hit.service; test $(systemctl show --property=Result --value hit.service) = start-limit-hit",
			steps: `systemd_unit "hit.service" { state = "started" }`, then: "test $(wc -l </run/hit) = 3",
		},
		{
			name: "failed", setup: foreign("bad.service", `[Service]\nType=oneshot\nExecStart=/bin/sh -c "echo because; exit 3"\n`) + "systemctl start bad.service || true",
			steps: `systemd_unit "bad.service" { state = "started" }`, failed: []string{"bad.service", "exit status 3", "because"},
		},
		{
			name: "missing program", setup: foreign("bad.service", `[Service]\nExecStart=/usr/bin/nothing-there\n`),
			steps: `systemd_unit "bad.service" { state = "started" }`, failed: []string{"bad.service", "203"},
		},
		{
			name: "crash loop", setup: foreign("bad.service", `[Unit]\nStartLimitIntervalSec=0\n[Service]\nExecStart=/bin/sh -c "sleep 0.2; exit 4"\nRestart=always\nRestartSec=50ms\n`),
			steps: `systemd_unit "bad.service" { state = "started" }`, failed: []string{"bad.service", "started over"}, after: "! systemctl is-active bad.service",
		},
		{
			name: "false condition", setup: foreign("bad.service", `[Unit]\nConditionPathExists=/run/never\n[Service]\nExecStart=/usr/bin/sleep infinity\n`),
			steps: `systemd_unit "bad.service" { state = "started" }`, failed: []string{"bad.service", "condition"},
		},
		{
			name: "C32a failed dependency", setup: foreign("bad.service", `[Service]\nType=oneshot\nExecStart=/bin/sh -c "exit 7"\n`, "needs.service", `[Unit]\nRequires=bad.service\nAfter=bad.service\n`+simple),
			steps: `systemd_unit "needs.service" { state = "started" }`, failed: []string{"needs.service", "bad.service failed", "exit status 7"},
		},
		{
			name: "C32b stopped meanwhile", setup: foreign("slow.service", `[Service]\nType=oneshot\nExecStart=/usr/bin/sleep 30\n`) + "systemctl stop slow.service; systemd-run sh -c 'until systemctl show slow.service | grep -q SubState=start$; do sleep 0.1; done; systemctl stop slow.service'",
			steps: `systemd_unit "slow.service" { state = "started" }`, failed: []string{"slow.service", "cancel"},
		},
		{
			name: "timeout", setup: foreign("slow.service", `[Service]\nType=oneshot\nExecStart=/usr/bin/sleep 60\n`),
			steps: "systemd_unit \"slow.service\" {\n state = \"started\"\n timeout = \"2s\"\n}", failed: []string{"slow.service", "timeout of 2s"}, after: "! systemctl is-active slow.service",
		},
		{
			name: "oneshots run once", setup: foreign("once.service", `[Service]\nType=oneshot\nExecStart=/bin/sh -c "echo ran >>/run/once"\n`, "kept.service", `[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh -c "echo ran >>/run/kept"\n`),
			steps: "systemd_unit \"once.service\" { state = \"started\" }\nsystemd_unit \"kept.service\" { state = \"started\" }",
			then:  "test $(wc -l </run/once) = 1; test $(wc -l </run/kept) = 1",
		},
		{
			name: "a drop-in of a unit that runs", setup: foreign("dropped.service", `[Service]\nExecStart=/bin/sh -c "echo $$MODE >/run/mode; exec sleep infinity"\n`) + "systemctl start dropped.service",
			steps: "systemd_unit \"dropped.service\" {\n drop_in \"10-x.conf\" { content = \"[Service]\\nEnvironment=MODE=ours\\n\" }\n state = \"started\"\n}\nrestart_on_change \"dropped.service\" { watch = [systemd_unit[\"dropped.service\"]] }",
			then:  "test $(cat /run/mode) = ours", after: "systemctl is-active dropped.service; sleep 0.3; test -z \"$(cat /run/mode)\"",
		},
		{
			name: "H46 link at the destination", setup: "echo secret >/etc/target; ln -s /etc/target /etc/ours.conf",
			steps: "write_file_if_changed \"f\" {\n path = \"/etc/ours.conf\"\n content = \"ours\\n\"\n replaces_foreign = true\n}",
			then:  "test $(cat /etc/target) = secret; test ! -L /etc/ours.conf; test $(cat /etc/ours.conf) = ours", after: "test -L /etc/ours.conf; test $(cat /etc/target) = secret",
		},
	}
}

// TestUnits drives units of others through all states they can be in.
func TestUnits(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{})
	for _, c := range unitCases() {
		t.Run(c.name, func(t *testing.T) {
			here := *s
			here.t = t
			here.unitCase(c)
		})
	}
}

func (s *site) unitCase(c unitCase) {
	s.t.Helper()
	s.sh(c.setup)
	before := s.unitFiles()
	recipe := s.write(c.steps)
	o := s.hostler("apply", recipe)
	_, why := o.failed()
	switch {
	case (o.Code == 0) != (len(c.failed) == 0):
		s.t.Errorf("apply: %s", o)
	case o.Code == 0:
		if (len(o.changed()) == 0) != c.unchanged {
			s.t.Errorf("changed %q", o.changed())
		}
		s.wantChanged(s.must("apply", recipe))
		s.wantChanged(s.must("ensure"))
	}
	for _, want := range c.failed {
		if !strings.Contains(why, want) {
			s.t.Errorf("it fails without %q: %s", want, why)
		}
	}
	s.script("after the run", c.then)
	if o := s.hostler("reset"); o.Code != 0 {
		s.t.Errorf("reset: %s", o)
		s.MustExec("rm", "-r", "/var/lib/hostler") // so that the next one has a chance
	}
	s.script("after the reset", c.after)
	if now := s.unitFiles(); now != before {
		s.t.Errorf("unit files are\n%s\nwere\n%s", now, before)
	}
}

// script is a list of commands that must all succeed.
func (s *site) script(when, script string) {
	s.t.Helper()
	for command := range strings.SplitSeq(script, "; ") {
		if res := s.Exec("sh", "-c", command); command != "" && res.Code != 0 {
			s.t.Errorf("%s: %s: %s", when, command, res)
		}
	}
}

func (s *site) unitFiles() string {
	s.t.Helper()
	return s.sh("find /etc/systemd /var/lib/hostler -printf '%p %y %l\\n' 2>/dev/null | sort")
}

// TestChangedInstall: the links of a unit follow its [Install], on a running
// host.
func TestChangedInstall(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{})
	text := func(target, program string) string {
		return fmt.Sprintf("systemd_unit \"ours.service\" {\n content = \"[Service]\\nExecStart=%s\\n[Install]\\nWantedBy=%s\\n\"\n enable = true\n state = \"started\"\n}\n", program, target) +
			"restart_on_change \"ours.service\" { watch = [systemd_unit[\"ours.service\"]] }\n"
	}
	s.must("apply", s.write(text("multi-user.target", "/usr/bin/sleep 1000")))
	first := s.invocation("", "ours.service")
	o := s.must("apply", s.write(text("timers.target", "/usr/bin/sleep 2000")))
	if !slices.Contains(o.changed(), `restart_on_change["ours.service"]`) || s.invocation("", "ours.service") == first {
		t.Errorf("it was not restarted: %q", o.changed())
	}
	s.script("changed", "grep -q 2000 /proc/$(systemctl show --property=MainPID --value ours.service)/cmdline; test ! -e /etc/systemd/system/multi-user.target.wants/ours.service; test -L /etc/systemd/system/timers.target.wants/ours.service; systemctl list-dependencies timers.target | grep -q ours.service; systemctl is-active ours.service")
	s.wantChanged(s.must("apply", "/root/trial.hcl"))
	s.must("reset")
	s.script("reset", "! test -e /etc/systemd/system/timers.target.wants/ours.service; ! pgrep -x sleep; test $(systemctl show --property=LoadState --value ours.service) = not-found")
}
