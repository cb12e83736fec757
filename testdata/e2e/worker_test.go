//go:build e2e

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

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

// services are which runs of the two services in the machine these are.
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
		{"why answers for all of it", whyAnswers},
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

// config is what of the host a reset has to leave as it was: all but the insides
// of machines, which may run.
func (s *site) config() map[string]lab.Entry {
	s.t.Helper()
	all := map[string]lab.Entry{}
	for _, part := range []string{"etc", "usr/local", "opt", "var/lib"} {
		for name, e := range lab.Snapshot(s.t, s.Root()+"/"+part, "machines") {
			all[part+"/"+name] = e
		}
	}
	for name := range strings.FieldsSeq(s.sh("ls -A /var/lib/machines")) {
		all["var/lib/machines/"+name] = lab.Entry{}
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
