//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hostler/testdata/lab"
)

// machineStep is a machine with its network shared, and more in it.
func machineStep(name, image, more string) string {
	return fmt.Sprintf(`nspawn_machine "m" {
  %s
  rootfs { image = %q }
  settings {
    exec    = { PrivateUsers = "no" }
    network = { VirtualEthernet = "no" }
  }
%s}
`, name, image, more)
}

// TestMachines are odd machines, one after the other on one host.
func TestMachines(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{})
	r := lab.Registry(t)
	guest := lab.GuestLayer(t)
	good := r.PushImage("m:good", imageOf(t, guest, layerOf(t, entry{name: "etc/os-release", symbolic: "/usr/lib/os-release"})))
	none := r.PushImage("m:none", imageOf(t, guest, layerOf(t, entry{name: "usr/lib/.wh.os-release"})))
	deaf := r.PushImage("m:deaf", imageOf(t, guest, layerOf(t, entry{name: "usr/lib/systemd/systemd", content: "#!/bin/sh\nwhile :; do sleep 1; done\n", mode: 0o755})))
	for _, part := range []struct {
		name  string
		image string
		run   func(*site, string)
	}{
		{"C44 no os-release", none, noOSRelease},
		{"C38 init that ignores signals", deaf, deafInit},
		{"failing start", good, failingStart},
		{"steps inside", good, stepsInside},
		{"pending", good, pendingChanges},
		{"C41 shifted tree", good, shiftedTree},
		{"C43 slots", good, twoSlots},
	} {
		t.Run(part.name, func(t *testing.T) {
			here := *s
			here.t = t
			part.run(&here, part.image)
			here.must("reset")
			here.script("after the reset", "! test -e /var/lib/machines/m1; ! test -e /var/lib/machines/m2; ! test -e /etc/systemd/nspawn; ! test -e /var/lib/hostler; test -z \"$(machinectl list --no-legend)\"")
		})
	}
}

// noOSRelease: an image that nspawn would refuse is refused when it is unpacked,
// before anything of the machine stands in the host's configuration.
func noOSRelease(s *site, image string) {
	o := s.hostler("apply", s.write(machineStep(`name = "m1"`, image, "")))
	if _, why := o.failed(); o.Code != 1 || !strings.Contains(why, "machine m1: image "+image) || !strings.Contains(why, "/var/lib/machines/m1/usr/lib/os-release") {
		s.t.Errorf("an image without os-release: %s", o)
	}
	s.script("after it", "! test -e /etc/systemd/nspawn/m1.nspawn; ! test -e /etc/systemd/system/systemd-nspawn@m1.service.d/10-hostler.conf")
}

// deafInit: its first process listens to nothing. The start says that it does
// not answer, and the reset gets rid of it in bounded time.
func deafInit(s *site, image string) {
	o := s.hostler("apply", s.write(machineStep(`name = "m1"`, image, "  responsive_timeout = \"3s\"\n")))
	if _, why := o.failed(); o.Code != 1 || !strings.Contains(why, "machine m1: it runs, but its own service manager does not answer within 3s") {
		s.t.Errorf("a machine that does not answer: %s", o)
	}
	leader := s.machineLeader("m1")
	began := time.Now()
	o = s.hostler("reset")
	if took := time.Since(began); o.Code != 0 || took > 75*time.Second {
		s.t.Errorf("after %s: %s", took, o)
	}
	if s.Exec("test", "-d", "/proc/"+leader).Code == 0 || leader == "" {
		s.t.Errorf("its process %s is left", leader)
	}
}

// failingStart: the error has what the unit logged; put right, it starts.
func failingStart(s *site, image string) {
	failing := "  service {\n    service = { ExecStartPre = \"/bin/sh -c 'echo no such bridge; sleep 0.3; exit 3'\" }\n  }\n"
	o := s.hostler("apply", s.write(machineStep(`name = "m1"`, image, failing)))
	if _, why := o.failed(); o.Code != 1 || !strings.Contains(why, "machine m1: ") || !strings.Contains(why, "no such bridge") {
		s.t.Errorf("a start that fails: %s", o)
	}
	s.must("apply", s.write(machineStep(`name = "m1"`, image, "")))
	if s.machineLeader("m1") == "" {
		s.t.Error("it does not run")
	}
}

// stepsInside: commands, waits and units in the running machine.
func stepsInside(s *site, image string) {
	inside := `
  after_boot {
    systemd_unit "counter.service" {
      content = "[Service]\nType=oneshot\nExecStart=/bin/sh -c \"echo ran >>/run/counted\"\n"
      state   = "started"
      restart = "never"
    }
    systemd_unit "ours.service" {
      content = "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
      enable  = true
      state   = "started"
      restart = "never"
    }
    wait_for "unit"    { unit = "ours.service" }
    wait_for "command" { command = ["test", "-e", "/run/counted"] }
    wait_for "address" { address = "127.0.0.1:7777" }
    command "guarded" {
      argv   = ["sh", "-c", "echo x >>/run/guarded"]
      unless = ["test", "-e", "/run/guarded"]
    }
    command "creates" {
      argv    = ["sh", "-c", "pwd >/run/created; hostname >>/run/created"]
      creates = "/run/created"
    }
  }
`
	s.MustExec("systemd-run", "--quiet", "--unit=listener", "systemd-socket-activate", "--listen=127.0.0.1:7777", "cat") // the network is shared
	recipe := s.write(machineStep(`name = "m1"`, image, inside))
	s.must("apply", recipe)
	s.wantChanged(s.must("apply", recipe))
	root := "/proc/" + s.machineLeader("m1") + "/root"
	s.script("inside", "test $(wc -l <"+root+"/run/counted) = 1; test $(wc -l <"+root+"/run/guarded) = 1; test $(wc -l <"+root+"/run/created) = 2; systemctl --machine=m1 is-active ours.service; systemctl stop listener.service")

	failing := strings.Replace(inside, `argv   = ["sh", "-c", "echo x >>/run/guarded"]`, `argv   = ["sh", "-c", "echo because of that >&2; exit 5"]`, 1)
	failing = strings.Replace(failing, `unless = ["test", "-e", "/run/guarded"]`, "", 1)
	failing = strings.Replace(failing, `wait_for "address" { address = "127.0.0.1:7777" }`, "", 1)
	o := s.hostler("apply", s.write(machineStep(`name = "m1"`, image, failing)))
	if step, why := o.failed(); step != "nspawn_machine.m.command.guarded" || !strings.Contains(why, "exit status 5") || !strings.Contains(why, "because of that") {
		s.t.Errorf("a command that fails inside: %s", o)
	}
}

// pendingChanges: what a running machine would need a restart or a repave for is
// written or waits, and status says so; the machine runs on.
func pendingChanges(s *site, image string) {
	s.must("apply", s.write(machineStep(`name = "m1"`, image, "")))
	leader := s.machineLeader("m1")
	needs := func() string {
		var all []string
		status, _ := document[statusDoc](s, "status")
		for _, p := range status.Pending {
			all = append(all, p.Needs)
		}
		return strings.Join(all, ", ")
	}
	changed := machineStep(`name = "m1"`, image, "  service {\n    service = { RestartSec = \"7s\" }\n  }\n")
	s.must("apply", s.write(changed))
	if got := needs(); got != "machine restart" || s.machineLeader("m1") != leader {
		s.t.Errorf("pending: %q, leader %s, was %s", got, s.machineLeader("m1"), leader)
	}
	s.wantChanged(s.must("apply", "/root/trial.hcl"))
	s.MustExec("systemctl", "restart", "systemd-nspawn@m1.service")
	if got := needs(); got != "" {
		s.t.Errorf("after a restart is pending: %q", got)
	}
	leader = s.machineLeader("m1")
	other := strings.Replace(changed, image, strings.Replace(image, "m:good", "m:deaf", 1)[:strings.Index(image, "@")], 1)
	s.must("apply", s.write(other))
	if got := needs(); got != "repave" || s.machineLeader("m1") != leader {
		s.t.Errorf("another image: pending %q, leader %s, was %s", got, s.machineLeader("m1"), leader)
	}
}

// shiftedTree: a tree that was given to other users, as a start with user
// namespaces does.
func shiftedTree(s *site, image string) {
	recipe := s.write(machineStep(`name = "m1"`, image, ""))
	s.must("apply", recipe)
	s.sh("systemctl stop systemd-nspawn@m1.service; chown 500000:500000 /var/lib/machines/m1")
	o := s.hostler("ensure")
	if _, why := o.failed(); o.Code != 1 || !strings.Contains(why, "belongs to 500000:500000") {
		s.t.Errorf("a shifted tree: %s", o)
	}
	if s.machineLeader("m1") != "" {
		s.t.Error("it was started")
	}
}

// twoSlots: the record says m1, whatever is found running.
func twoSlots(s *site, image string) {
	s.must("apply", s.write(machineStep(`slots = ["m1", "m2"]`, image, "")))
	s.Machine("m2")
	s.Push("/etc/systemd/nspawn/m2.nspawn", s.Pull("/etc/systemd/nspawn/m1.nspawn"), 0o644)
	const up = "until systemctl --machine=m2 is-active multi-user.target; do sleep 0.2; done" // before that an init may not hear a stop
	for name, found := range map[string]string{
		"both":  "systemctl start systemd-nspawn@m2.service; " + up,
		"other": "systemctl stop systemd-nspawn@m1.service; systemctl start systemd-nspawn@m2.service; " + up,
		"none":  "systemctl stop systemd-nspawn@m1.service",
	} {
		s.sh(found)
		s.must("ensure")
		if got := s.sh("machinectl list --no-legend | cut -d' ' -f1"); got != "m1" {
			s.t.Errorf("%s running: in the end there is %q", name, got)
		}
	}
	s.script("enabled", "test $(systemctl is-enabled systemd-nspawn@m1.service) = enabled; ! systemctl is-enabled systemd-nspawn@m2.service")
}
