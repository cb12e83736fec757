//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	"hostler/testdata/lab"
)

const keptMachine = `nspawn_machine "box" {
  rootfs { image = "oci-layout:` + imageDir + `" }
  settings {
    exec    = { PrivateUsers = "no" }
    network = { VirtualEthernet = "no" }
  }
  after_boot {
    write_file_if_changed "inner" {
      path    = "/etc/inner.conf"
      content = "one\n"
    }
    systemd_unit "kept.service" {
      content = "[Service]\nExecStart=/usr/bin/dbus-daemon --session --nofork --nopidfile --address=unix:path=/run/kept\n[Install]\nWantedBy=multi-user.target\n"
      enable  = true
      state   = "started"
      restart = "never"
    }
  }
}
interpreter_install "hostler" {
  first_boot_unit = false
}
`

// TestDaemonKeepsMachines: what is inside of a machine is watched as what is on
// the host, also after the machine was started anew.
func TestDaemonKeepsMachines(t *testing.T) {
	const patience = 90 * time.Second // a look that found nothing to do puts the next one off
	t.Parallel()
	s := settle(t, lab.Options{Store: lab.DiskXFS})
	s.PushTree(imageDir, smallMachine(t))
	s.must("apply", s.write(keptMachine), "--prefix", "/opt")
	s.daemonRuns("apply")
	kept := func() bool {
		return s.Exec("nsenter", "--target", s.machineLeader("box"), "--all", "systemctl", "is-active", "kept.service").Code == 0
	}
	watches := func() bool { return strings.Contains(s.show("", daemonUnit)["StatusText"], "watching") }
	for _, when := range []string{"the first time", "after the machine was started anew"} {
		s.within(patience, when+": it watches", watches)
		time.Sleep(time.Second)
		s.sh("echo edited >/var/lib/machines/box/etc/inner.conf")
		s.within(patience, when+": the file is put right", func() bool { return s.sh("cat /var/lib/machines/box/etc/inner.conf") == "one" })
		s.within(patience, when+": it watches again", watches)
		time.Sleep(time.Second)
		s.MustExec("nsenter", "--target", s.machineLeader("box"), "--all", "systemctl", "stop", "kept.service")
		s.within(patience, when+": the unit is started again", kept)
		for _, want := range []string{"machine box: /etc/inner.conf changed", "machine box: unit kept.service changed"} {
			s.within(patience, when+": the journal says "+want, func() bool { return strings.Contains(s.log(daemonUnit), want) })
		}
		if when != "the first time" {
			break
		}
		before := s.machineLeader("box")
		s.sh("systemctl restart systemd-nspawn@box.service")
		s.within(patience, "another machine runs", func() bool {
			now := s.machineLeader("box")
			return now != "" && now != before && kept()
		})
		s.within(patience, "that is looked at", func() bool {
			return strings.Contains(s.sh("cat /run/hostler/daemon.json"), "unit systemd-nspawn@box.service changed")
		})
		s.sh("journalctl --rotate; journalctl --vacuum-time=1s")
	}
}
