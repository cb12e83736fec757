//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"hostler/testdata/lab"
)

// machine is the machine of the worker recipe.
const machine = "kube1"

// workerImage pushes an image of the guest with services like containerd and
// kubelet, and returns its name.
func workerImage(t *testing.T, r *lab.Images, above ...v1.Layer) string {
	t.Helper()
	programs := lab.Layer(t, map[string]string{
		"usr/local/bin/containerd": "#!/bin/sh\nset -e\ntest -s /etc/containerd/config.toml\nmkdir -p /run/containerd\n: >/run/containerd/containerd.sock\nsystemd-notify --ready\nexec sleep infinity\n",
		"usr/local/bin/kubelet":    "#!/bin/sh\nset -e\ntest -s /var/lib/kubelet/config.yaml\necho x >>/run/kubelet-starts\nsleep 0.5\n: >/var/lib/kubelet/kubeconfig\necho registered as $NODE_POOL\nexec sleep infinity\n",
		"usr/local/bin/seed":       "#!/bin/sh\necho seeded >\"$1\"\n",
	})
	units := lab.Layer(t, map[string]string{
		"etc/systemd/system/containerd.service":             "[Unit]\nDescription=containerd-like\n[Service]\nType=notify\nNotifyAccess=all\nExecStart=/usr/local/bin/containerd\nRestart=always\nRestartSec=1\nKillMode=process\n[Install]\nWantedBy=multi-user.target\n",
		"etc/systemd/system/kubelet.service":                "[Unit]\nDescription=kubelet-like\nWants=containerd.service\nAfter=containerd.service\n[Service]\nExecStart=/usr/local/bin/kubelet\nRestart=always\nRestartSec=1\n[Install]\nWantedBy=multi-user.target\n",
		"usr/lib/systemd/system/port.socket":                "[Socket]\nListenStream=10250\nAccept=yes\n",
		"usr/lib/systemd/system/port@.service":              "[Service]\nExecStart=-/bin/echo served\nStandardOutput=socket\n",
		"usr/lib/systemd/system/sockets.target.d/port.conf": "[Unit]\nWants=port.socket\n",
	})
	return r.Push("worker:1", append([]v1.Layer{lab.GuestLayer(t), programs, units}, above...)...)
}

// worker is a host with the worker recipe.
type worker struct {
	*site
	dir, image string
}

// apply applies the recipe with further variables.
func (w *worker) apply(vars ...string) outcome { return w.run("apply", vars...) }

func (w *worker) run(verb string, vars ...string) outcome {
	w.t.Helper()
	args := []string{verb, w.dir, "--var", "image=" + w.image}
	for _, v := range vars {
		args = append(args, "--var", v)
	}
	return w.hostler(args...)
}

func (w *worker) mustApply(vars ...string) outcome {
	w.t.Helper()
	o := w.apply(vars...)
	if o.Code != 0 {
		w.t.Fatalf("apply: %s", o)
	}
	return o
}

// inside are which runs of the two services in the machine these are.
func (w *worker) services() (containerd, kubelet string) {
	w.t.Helper()
	return w.invocation(machine, "containerd.service"), w.invocation(machine, "kubelet.service")
}

// TestWorker is the life of a worker on one host, each part on what the one
// before it left.
func TestWorker(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{})
	w := &worker{site: s, image: workerImage(t, lab.Registry(t))}
	before := w.config()
	w.dir = s.recipe("recipes/worker")
	for _, part := range []struct {
		name string
		run  func(*testing.T, *worker)
	}{
		{"plan on a fresh host", planFresh},
		{"H05 late failure", lateFailure},
		{"H01 all is there", allIsThere},
		{"H02 again is nothing", againIsNothing},
		{"H10 mode-only drift restarts nothing", modeDrift},
		{"H09 a changed kubelet file restarts kubelet only", kubeletOnly},
		{"H09 containerd before kubelet", bothInOrder},
		{"R071 a machine that did not run", notRunning},
		{"H07 tables of a registered machine stay", tablesStay},
		{"H08 inventory fails", inventoryFails},
		{"C28 killed between write and restart", killedBeforeRestart},
		{"ready times out", readyTimesOut},
		{"H14 lock held", lockHeld},
		{"C35 machined restarted", machinedRestarted},
		{"C35 machine killed", machineKilled},
		{"C35 stale registration", staleRegistration},
		{"R089 reboot", workerReboots},
		{"reset", func(t *testing.T, w *worker) { workerResets(t, w, before) }},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			here := *w.site
			here.t = t
			part.run(t, &worker{site: &here, dir: w.dir, image: w.image})
		}) {
			return // the next part stands on this one
		}
	}
}

// config is what of the host a reset has to leave as it was.
func (s *site) config() map[string]lab.Entry {
	s.t.Helper()
	all := map[string]lab.Entry{}
	for _, part := range []string{"etc", "usr/local", "opt", "var/lib/machines", "var/lib/systemd"} {
		for name, e := range lab.Snapshot(s.t, s.Root()+"/"+part) {
			all[part+"/"+name] = e
		}
	}
	return all
}

// planFresh: a plan for a host on which nothing is there yet foresees all that
// can be, fails on nothing, and changes nothing.
func planFresh(t *testing.T, w *worker) {
	before := w.config()
	res := w.Exec(program, "plan", w.dir, "--var", "image="+w.image, "--detailed-exitcode")
	if res.Code != 2 || !strings.Contains(res.Stdout, "create  nspawn_machine.kube1") {
		t.Errorf("plan: %s", res)
	}
	if changes := lab.Changes(before, w.config()); len(changes) > 0 {
		t.Errorf("a plan changed\n%s", strings.Join(changes, "\n"))
	}
}

// lateFailure: a directory appears in the place of the last unit file while the
// machine comes up. What was built stays, and the next run goes on from it.
func lateFailure(t *testing.T, w *worker) {
	const late = "/etc/systemd/system/worker-daemon.service"
	w.MustExec("systemd-run", "--unit=saboteur", "sh", "-c", "until machinectl show "+machine+"; do sleep 0.05; done; mkdir "+late)
	o := w.apply()
	step, why := o.failed()
	if o.Code != 1 || step != `systemd_unit["worker-daemon.service"]` || !strings.Contains(why, late) {
		t.Fatalf("with a directory in the way of a unit file: %s", o)
	}
	type record struct {
		Phase, ID string
		Machines  json.RawMessage
	}
	status, _ := document[statusDoc](w.site, "status")
	if status.Phase != "installing" || status.LastRun.Step != step {
		t.Errorf("status: %+v", status)
	}
	leader, flushed := w.machineLeader(machine), w.show("", "worker-nft-flush.service")["ExecMainExitTimestampMonotonic"]
	built := w.built()
	containerd, kubelet := w.services()
	if leader == "" || built == "" {
		t.Fatalf("the machine has leader %q and was built from %q", leader, built)
	}
	w.MustExec("rmdir", late)
	o = w.mustApply()
	w.wantChanged(o, step)
	if now := w.machineLeader(machine); now != leader {
		t.Errorf("the machine's leader was %s, is %s", leader, now)
	}
	if now := w.built(); now != built {
		t.Errorf("what the machine was built from: %s, now %s", built, now)
	}
	if c, k := w.services(); c != containerd || k != kubelet {
		t.Error("services in the machine were restarted")
	}
	if o.last().Identity.InstallationID != status.InstallationID || o.last().Phase != "complete" {
		t.Errorf("it ended with %+v, was %s", o.last(), status.InstallationID)
	}
	if now := w.show("", "worker-nft-flush.service")["ExecMainExitTimestampMonotonic"]; now != flushed {
		t.Error("the flush ran again while the machine was registered")
	}
}

// statusDoc is what the tests read of hostler status.
type statusDoc struct {
	Phase          string
	InstallationID string `json:"installation_id"`
	Debts          []struct{ Unit, Machine, Cause string }
	Pending        []struct{ Needs string }
	Drift          []struct{ Address string }
	LastRun        struct{ Result, Stage, Step, Error string } `json:"last_run"`
}

// built is what the record says the machine was built from.
func (s *site) built() string {
	s.t.Helper()
	var record struct{ Machines json.RawMessage }
	if err := json.Unmarshal(s.Pull("/var/lib/hostler/record.json"), &record); err != nil {
		s.t.Fatal(err)
	}
	return string(record.Machines)
}

// ownedFiles are all files and links that the record claims, as paths on the
// host, and the record.
func (s *site) ownedFiles() []string {
	s.t.Helper()
	var record struct{ Claims []struct{ Thing string } }
	if err := json.Unmarshal(s.Pull("/var/lib/hostler/record.json"), &record); err != nil {
		s.t.Fatal(err)
	}
	files := []string{"/var/lib/hostler/record.json"}
	for _, c := range record.Claims {
		name, root := c.Thing, ""
		if inner, ok := strings.CutPrefix(name, "machine:"); ok {
			if name, inner, ok = strings.Cut(inner, "/"); ok {
				name, root = inner, "/var/lib/machines/"+name
			}
		}
		if file, ok := strings.CutPrefix(name, "path:"); ok {
			files = append(files, root+file)
		}
	}
	return files
}

// runs are which run of every service this is, on the host and in the machine.
func (s *site) runs(machines ...string) string {
	s.t.Helper()
	all := s.MustExec("systemctl", "show", "--property=Id,InvocationID,ActiveState", "*.service", "*.socket")
	for _, m := range machines {
		all += "\n" + s.MustExec("systemctl", "--machine="+m, "show", "--property=Id,InvocationID,ActiveState", "*.service", "*.socket")
	}
	return all
}

func allIsThere(t *testing.T, w *worker) {
	for file, want := range map[string]string{
		"/etc/sysctl.d/99-worker.conf":                                                     "644 root",
		"/etc/hostler/nftables-flush.nft":                                                  "600 root",
		"/etc/systemd/system/worker-nft-flush.service":                                     "644 root",
		"/etc/systemd/system/systemd-journald.service.d/10-worker.conf":                    "644 root",
		"/etc/systemd/nspawn/kube1.nspawn":                                                 "644 root",
		"/etc/systemd/system/systemd-nspawn@kube1.service.d/10-hostler.conf":               "644 root",
		"/var/lib/machines/kube1/var/lib/kubelet/config.yaml":                              "644 root",
		"/var/lib/machines/kube1/etc/systemd/system/kubelet.service.d/20-node-config.conf": "644 root",
		"/var/lib/hostler/record.json":                                                     "600 root",
	} {
		if got := w.MustExec("stat", "--format=%a %U", file); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	for unit, want := range map[string]string{"worker-nft-flush.service": "enabled inactive success", "worker-daemon.service": "enabled active success", "systemd-nspawn@kube1.service": "enabled active success"} {
		p := w.show("", unit)
		if got := p["UnitFileState"] + " " + p["ActiveState"] + " " + p["Result"]; got != want {
			t.Errorf("%s is %q, want %q", unit, got, want)
		}
	}
	for _, unit := range []string{"containerd.service", "kubelet.service"} {
		if p := w.show(machine, unit); p["UnitFileState"] != "enabled" || p["ActiveState"] != "active" {
			t.Errorf("in the machine %s is %s and %s", unit, p["UnitFileState"], p["ActiveState"])
		}
	}
	if state := w.show(machine, "systemd-resolved.service")["LoadState"]; state != "masked" {
		t.Errorf("in the machine systemd-resolved is %s", state)
	}
	if text := w.sh("cat /var/lib/machines/kube1/var/lib/seeded"); text != "seeded" {
		t.Errorf("the command made %q", text)
	}
	w.sh("test -e /proc/" + w.machineLeader(machine) + "/root/etc/hostler/nftables-flush.nft") // BindReadOnly= of settings
	if status, _ := document[statusDoc](w.site, "status"); status.Phase != "complete" || len(status.Debts)+len(status.Pending)+len(status.Drift) > 0 {
		t.Errorf("status: %+v", status)
	}
}

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
			t.Errorf("%s sent or received %d packets", verb, sent)
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
