//go:build e2e

package e2e

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"hostler/testdata/lab"
)

// tablesStay: R087: the flush unit is rewritten and enabled, and not started
// while the machine is registered.
func tablesStay(t *testing.T, w *worker) {
	w.MustExec("nft", "add", "table", "inet", "kube_proxy")
	ran := w.show("", "worker-nft-flush.service")["InvocationID"]
	w.sh("rm /etc/systemd/system/worker-nft-flush.service /etc/systemd/system/systemd-nspawn@kube1.service.requires/worker-nft-flush.service")
	o := w.mustApply()
	if changed := o.changed(); !slices.Contains(changed, "nft_ruleset.flush") {
		t.Errorf("changed %q", changed)
	}
	if p := w.show("", "worker-nft-flush.service"); p["UnitFileState"] != "enabled" || p["InvocationID"] != ran && p["InvocationID"] != "" {
		t.Errorf("the unit is %s, run %s, was %s", p["UnitFileState"], p["InvocationID"], ran)
	}
	w.MustExec("nft", "list", "table", "inet", "kube_proxy")
	w.MustExec("systemctl", "start", "worker-nft-flush.service") // by hand: the guard in the unit
	w.MustExec("nft", "list", "table", "inet", "kube_proxy")
}

// inventoryFails: R088: machines that cannot be listed are an error, never
// none.
func inventoryFails(t *testing.T, w *worker) {
	const socket = "/run/dbus/system_bus_socket"
	w.MustExec("mv", socket, socket+".away")
	for _, verb := range []string{"apply", "ensure"} {
		o := w.run(verb)
		if step, why := o.failed(); o.Code != 1 || step != "nft_ruleset.flush" || !strings.Contains(why, "machines cannot be listed") {
			t.Errorf("%s: %s", verb, o)
		}
	}
	w.MustExec("mv", socket+".away", socket)
	w.MustExec("nft", "list", "table", "inet", "kube_proxy")
	w.wantChanged(w.mustApply())
}

func readyTimesOut(t *testing.T, w *worker) {
	leader := w.machineLeader(machine)
	began := time.Now()
	o := w.apply(`labels={pool="d"}`, "ready_file=/run/never", "ready_timeout=3s")
	step, why := o.failed()
	for _, want := range []string{"machine kube1", "not ready after 3s", "/run/never", "systemctl status kubelet.service", "kubelet-like", "registered as d"} {
		if !strings.Contains(why, want) {
			t.Errorf("%s fails without %q: %s", step, want, why)
		}
	}
	if o.Code != 1 || o.last().Phase != "installing" || time.Since(began) > 30*time.Second {
		t.Errorf("after %s: %s", time.Since(began), o)
	}
	w.mustApply(`labels={pool="d"}`)
	if now := w.machineLeader(machine); now != leader {
		t.Errorf("the machine's leader is %s, was %s", now, leader)
	}
}

// lockHeld: H14, H15.
func lockHeld(t *testing.T, w *worker) {
	w.sh("flock /run/hostler/lock sleep 100 >/dev/null 2>&1 </dev/null & echo $! >/root/holder; sleep 0.2")
	for _, verb := range []string{"apply", "reset"} {
		if o := w.hostler(verb); o.Code != 75 {
			t.Errorf("%s with the lock held: %s", verb, o)
		}
	}
	w.sh("pkill -P $(cat /root/holder)")
	w.sh("test -e /run/hostler/lock")
	w.wantChanged(w.must("ensure"))
}

// machinedRestarted: an update restarts machined under the machine.
func machinedRestarted(t *testing.T, w *worker) {
	w.MustExec("systemctl", "restart", "systemd-machined.service")
	time.Sleep(time.Second)
	t.Logf("after the restart of machined the machine has the leader %q and its unit is %s", w.machineLeader(machine), w.show("", "systemd-nspawn@kube1.service")["ActiveState"])
	leader := w.machineLeader(machine)
	lives := leader != "" && w.Exec("test", "-d", "/proc/"+leader).Code == 0
	w.must("ensure")
	if now := w.machineLeader(machine); now == "" || lives && now != leader {
		t.Errorf("the machine's leader is %q, was %q", now, leader)
	}
	if p := w.show(machine, "kubelet.service"); p["ActiveState"] != "active" {
		t.Errorf("kubelet is %s", p["ActiveState"])
	}
}

// machineKilled: the registration of a machine whose process is gone is
// cleared, and the machine started, once.
func machineKilled(t *testing.T, w *worker) {
	leader := w.machineLeader(machine)
	w.MustExec("mkdir", "-p", "/run/systemd/system/systemd-nspawn@kube1.service.d")
	w.Push("/run/systemd/system/systemd-nspawn@kube1.service.d/99-late.conf", []byte("[Service]\nRestart=no\n"), 0o644)
	w.MustExec("systemctl", "daemon-reload")
	w.sh("kill -9 $(systemctl show --property=MainPID --value systemd-nspawn@kube1.service) " + leader)
	t.Logf("after the kill the machine has the leader %q and its unit is %s", w.machineLeader(machine), w.show("", "systemd-nspawn@kube1.service")["ActiveState"])
	o := w.must("ensure")
	if !slices.Contains(o.changed(), "nspawn_machine.kube1") {
		t.Errorf("changed %q", o.changed())
	}
	if now := w.machineLeader(machine); now == "" || now == leader {
		t.Errorf("the machine's leader is %q, was %q", now, leader)
	}
	w.sh("rm -r /run/systemd/system/systemd-nspawn@kube1.service.d; systemctl daemon-reload")
}

// staleRegistration: another unit holds the machine's name, and the process it
// was registered for is gone.
func staleRegistration(t *testing.T, w *worker) {
	w.sh(`systemctl stop systemd-nspawn@kube1.service
systemd-run --quiet --unit=stale sh -c 'unshare --fork --pid sleep 1000 & sleep 2000'
until pgrep -x unshare >/dev/null && pgrep -P "$(pgrep -x unshare)" >/dev/null; do sleep 0.1; done
busctl call org.freedesktop.machine1 /org/freedesktop/machine1 org.freedesktop.machine1.Manager RegisterMachine sayssus kube1 0 test container "$(pgrep -P "$(pgrep -x unshare)")" /srv
pkill -KILL -P $(pgrep -x unshare)`)
	if p := w.MustExec("machinectl", "show", machine, "--property=Unit"); p != "Unit=stale.service" {
		t.Fatalf("registered is %s", p)
	}
	o := w.must("ensure")
	if !slices.Contains(o.changed(), "nspawn_machine.kube1") || w.MustExec("machinectl", "show", machine, "--property=Unit") != "Unit=systemd-nspawn@kube1.service" {
		t.Errorf("ensure: %s", o)
	}
	w.wantChanged(w.must("ensure"))
}

// workerReboots: the machine comes back by itself, after the flush, which comes
// after the host's firewall; a restart that was owed is not owed any more.
func workerReboots(t *testing.T, w *worker) {
	was := w.Pull("/etc/nftables.conf")
	w.Push("/etc/nftables.conf", []byte("flush ruleset\ntable inet filter { chain input { type filter hook input priority 0; policy drop; iif lo accept; }; }\n"), 0o755)
	w.MustExec("systemctl", "enable", "nftables.service")
	w.kill(`labels={pool="e"}`)
	w.Reboot()
	w.eventually("kubelet runs in the machine", func() bool {
		return w.Exec("systemctl", "--machine="+machine, "is-active", "kubelet.service").Code == 0
	})
	flush, spawned := w.show("", "worker-nft-flush.service"), w.show("", "systemd-nspawn@kube1.service")
	if number(t, flush["ExecMainExitTimestampMonotonic"]) == 0 || flush["Result"] != "success" ||
		number(t, flush["ExecMainExitTimestampMonotonic"]) > number(t, spawned["ExecMainStartTimestampMonotonic"]) {
		t.Errorf("the flush ended at %s (%s), the machine began at %s", flush["ExecMainExitTimestampMonotonic"], flush["Result"], spawned["ExecMainStartTimestampMonotonic"])
	}
	if p := w.show("", "nftables.service"); number(t, p["ExecMainExitTimestampMonotonic"]) == 0 || number(t, p["ExecMainExitTimestampMonotonic"]) > number(t, flush["ExecMainStartTimestampMonotonic"]) {
		t.Errorf("the firewall was up at %s, the flush began at %s", p["ExecMainExitTimestampMonotonic"], flush["ExecMainStartTimestampMonotonic"])
	}
	conn, err := lab.Dial(t, net.JoinHostPort(w.Address(), "10250"))
	if err != nil {
		t.Errorf("the machine's port cannot be reached from outside: %v\n%s", err, w.Exec("nft", "list", "ruleset"))
	} else {
		_ = conn.Close()
	}
	if status, _ := document[statusDoc](w.site, "status"); len(status.Debts) > 0 {
		t.Errorf("a reboot leaves the debts %+v", status.Debts)
	}
	containerd, kubelet := w.services()
	w.mustApply(`labels={pool="e"}`)
	if c, k := w.services(); c != containerd || k != kubelet {
		t.Error("a service was restarted although the reboot had started it anew")
	}
	w.MustExec("systemctl", "disable", "nftables.service")
	w.Push("/etc/nftables.conf", was, 0o755)
}

// workerResets: nothing is left, on the host or running.
func workerResets(t *testing.T, w *worker, before map[string]lab.Entry) {
	o := w.must("reset")
	if o.last().Phase != "absent" {
		t.Errorf("reset: %s", o)
	}
	for _, path := range []string{"/var/lib/machines/kube1", "/var/lib/hostler", "/run/bpffs", "/run/hostler/machines"} {
		if w.Exec("test", "-e", path).Code == 0 {
			t.Errorf("%s is left", path)
		}
	}
	if left := w.sh("find /run/hostler -type f -path '*/debts/*'"); left != "" {
		t.Errorf("debts are left: %s", left)
	}
	if left := w.Exec("machinectl", "list", "--no-legend").Stdout; left != "" {
		t.Errorf("machines: %s", left)
	}
	if changes := lab.Changes(before, w.config()); len(changes) > 0 {
		t.Errorf("left on the host:\n%s", strings.Join(changes, "\n"))
	}
}
