//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// againIsNothing: R067, R068, H21: the second run writes nothing, restarts
// nothing and talks to nobody.
func againIsNothing(t *testing.T, w *worker) {
	files := w.ownedFiles()
	if len(files) < 12 {
		t.Fatalf("the record claims only %q", files)
	}
	inodes, runs, leader := w.inodes(files...), w.runs(machine), w.machineLeader(machine)
	for _, verb := range []string{"apply", "ensure"} {
		args := []string{verb, w.dir, "--var", "image=" + w.image}
		sent := -1
		for range 3 { // a neighbour's address may be checked at any time
			quiet := w.quiet()
			o := w.must(args...)
			w.wantChanged(o)
			if sent = w.Packets("eth0") - quiet; sent == 0 {
				break
			}
		}
		if sent != 0 {
			t.Errorf("%s sent %d packets", verb, sent)
		}
		if now := w.inodes(files...); now != inodes {
			t.Errorf("after %s files are others:\n%s\nwere:\n%s", verb, now, inodes)
		}
		if now := w.runs(machine); now != runs {
			t.Errorf("after %s units run anew:\n%s\nwere:\n%s", verb, now, runs)
		}
		if now := w.machineLeader(machine); now != leader {
			t.Errorf("after %s the machine's leader is %s, was %s", verb, now, leader)
		}
	}
	for _, args := range [][]string{{"plan", w.dir, "--var", "image=" + w.image, "--detailed-exitcode"}, {"verify"}} {
		if res := w.Exec(append([]string{program}, args...)...); res.Code != 0 {
			t.Errorf("hostler %s: %s", args[0], res)
		}
	}
}

// quiet waits until the network has been silent for a second, and returns its
// count of packets.
func (s *site) quiet() int {
	s.t.Helper()
	last := s.Packets("eth0")
	for range 20 {
		time.Sleep(time.Second)
		now := s.Packets("eth0")
		if now == last {
			return now
		}
		last = now
	}
	s.t.Fatal("the network does not come to rest")
	return 0
}

// modeDrift: R072: a mode is put right and restarts nothing.
func modeDrift(t *testing.T, w *worker) {
	const file = "/var/lib/machines/kube1/var/lib/kubelet/config.yaml"
	containerd, kubelet := w.services()
	w.MustExec("chmod", "0640", file)
	o := w.mustApply()
	w.wantChanged(o, "nspawn_machine.kube1.write_file_if_changed.kubelet")
	if mode := w.MustExec("stat", "--format=%a", file); mode != "644" {
		t.Errorf("the mode is %s", mode)
	}
	if c, k := w.services(); c != containerd || k != kubelet {
		t.Error("services were restarted")
	}
}

// kubeletOnly: R069.
func kubeletOnly(t *testing.T, w *worker) {
	containerd, kubelet := w.services()
	leader := w.machineLeader(machine)
	o := w.mustApply(`labels={pool="b"}`)
	w.wantChanged(o, "nspawn_machine.kube1.write_file_if_changed.kubelet", `nspawn_machine.kube1.systemd_unit["kubelet.service"]`,
		`nspawn_machine.kube1.restart_on_change["kubelet.service"]`)
	c, k := w.services()
	if c != containerd || k == kubelet || w.machineLeader(machine) != leader {
		t.Errorf("containerd %s → %s, kubelet %s → %s", containerd, c, kubelet, k)
	}
	w.eventually("the new kubelet says so", func() bool {
		return strings.Contains(w.MustExec("journalctl", "--machine="+machine, "--unit=kubelet.service", "--lines=3", "--no-pager"), "registered as b")
	})
	o = w.mustApply(`labels={pool="b"}`)
	w.wantChanged(o)
}

// bothInOrder: R070.
func bothInOrder(t *testing.T, w *worker) {
	containerd, kubelet := w.services()
	o := w.mustApply(`labels={pool="c"}`, "containerd=level = \"debug\"")
	changed := o.changed()
	if i, j := slices.Index(changed, `nspawn_machine.kube1.restart_on_change["containerd.service"]`),
		slices.Index(changed, `nspawn_machine.kube1.restart_on_change["kubelet.service"]`); i < 0 || j < i {
		t.Errorf("changed %q", changed)
	}
	if c, k := w.services(); c == containerd || k == kubelet {
		t.Error("one of them was not restarted")
	}
	begun := func(unit string) string { return w.show(machine, unit)["InactiveExitTimestampMonotonic"] }
	ended := w.show(machine, "containerd.service")["ActiveEnterTimestampMonotonic"]
	if c, k := begun("containerd.service"), begun("kubelet.service"); number(t, k) < number(t, ended) || number(t, c) > number(t, ended) {
		t.Errorf("containerd began at %s and was up at %s, kubelet began at %s", c, ended, k)
	}
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	var n int64
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return n
}

// notRunning: a service that a run starts with its new files is not restarted
// for them.
func notRunning(t *testing.T, w *worker) {
	w.MustExec("systemctl", "stop", "systemd-nspawn@kube1.service")
	o := w.mustApply(`labels={pool="r071"}`, "containerd=level = \"r071\"")
	if changed := strings.Join(o.changed(), " "); strings.Contains(changed, "restart_on_change") || !strings.Contains(changed, "write_file_if_changed.kubelet") {
		t.Errorf("changed %q", changed)
	}
	if starts := w.sh("cat /proc/" + w.machineLeader(machine) + "/root/run/kubelet-starts"); starts != "x" {
		t.Errorf("kubelet was started: %q", starts)
	}
}

// kill runs apply with the pause before the restarts, and kills it there.
func (w *worker) kill(vars ...string) {
	w.t.Helper()
	line := []string{program, "apply", w.dir, "--var", "image=" + w.image, "--var", "pause=true"}
	for _, v := range vars {
		line = append(line, "--var", "'"+v+"'")
	}
	pid := w.sh(strings.Join(line, " ") + " >/root/killed 2>&1 </dev/null & echo $!")
	w.eventually("the run pauses", func() bool {
		return strings.Contains(w.MustExec("systemctl", "--machine="+machine, "list-units", "hostler-command-*", "--plain", "--no-legend"), "hostler-command-"+pid+"-")
	})
	w.MustExec("kill", "-9", pid)
}

// killedBeforeRestart: R073, H09: what is owed survives the run that owes it;
// a reboot, which starts everything anew, clears it (see workerReboots).
func killedBeforeRestart(t *testing.T, w *worker) {
	containerd, kubelet := w.services()
	w.kill(`labels={pool="d"}`)
	if c, k := w.services(); c != containerd || k != kubelet {
		t.Fatal("a service was restarted before the run was killed")
	}
	status, _ := document[statusDoc](w.site, "status")
	if len(status.Debts) != 2 || status.Debts[0].Unit != "kubelet.service" || status.Debts[0].Machine != machine || status.Phase != "installing" {
		t.Errorf("status: %+v", status)
	}
	w.MustExec("rm", "/var/lib/machines/kube1/var/lib/seeded") // so that a command runs in the machine, which sweeps
	o := w.mustApply(`labels={pool="d"}`)
	w.wantChanged(o, `nspawn_machine.kube1.restart_on_change["kubelet.service"]`, "nspawn_machine.kube1.command.seed")
	if c, k := w.services(); c != containerd || k == kubelet {
		t.Errorf("containerd %s → %s, kubelet %s → %s", containerd, c, kubelet, k)
	}
	if status, _ := document[statusDoc](w.site, "status"); len(status.Debts) > 0 || status.Phase != "complete" {
		t.Errorf("status: %+v", status)
	}
	if left := w.MustExec("systemctl", "--machine="+machine, "list-units", "hostler-command-*", "--all", "--plain", "--no-legend"); left != "" {
		t.Errorf("left in the machine: %s", left)
	}
}
