//go:build e2e

package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/delivery"
	"hostler/testdata/lab"
)

// prefix is where the host has its programs, and program hostler.
const (
	prefix  = "/opt/hostler"
	program = prefix + "/bin/hostler"
)

func TestMain(m *testing.M) { os.Exit(lab.Main(m)) }

// node is the host under test, its cluster, and who provides for it.
type node struct {
	*lab.Host
	t *testing.T
	c *cluster
	p *provider
	// images are the machine's image in two releases, speak what pods run.
	images [2]string
	speak  string
	bare   map[string]bool
}

// TestNode sets up a host with Ignition and nothing else: a Kubernetes worker
// that joins a real control plane, is changed, moved to its other slot, taken
// away without a trace, and set up again.
func TestNode(t *testing.T) {
	acl, err := os.ReadFile("../os-release/acl.os-release")
	if err != nil {
		t.Fatal(err)
	}
	p := provide(t)
	n := &node{t: t, p: p, c: startCluster(t, p.programs()), speak: p.speaking()}
	n.images = [2]string{p.machine("1", "first"), p.machine("2", "second")}
	n.Host = lab.New(t, lab.Options{
		FirstBoot: true, Name: "worker", DiskMiB: 6144,
		Variants: []lab.Variant{lab.ReadOnlyUsr, lab.NoexecTmp, lab.NoPackageManager, lab.OSRelease(string(acl))},
	})
	n.bare = n.paths()
	if log, err := n.Ignite(p.render(p.inputs(n))); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	var done []result
	for _, part := range []struct {
		name, what string
		run        func(*node)
	}{
		{"joins", "the first boot, to a node that is Ready and whose condition says so", joins},
		{"runs a pod", "a pod runs, its log is read through the kubelet's port", runsPod},
		{"H05 another label", "a changed label restarts the kubelet alone", anotherLabel},
		{"H40 firewall", "a firewall enabled on the host, and a reboot", firewall},
		{"repave", "another image, in the other slot", repaved},
		{"reset", "a reset and a reboot: no trace", leaves},
		{"joins again", "set up again on the same disk", joinsAgain},
	} {
		began := time.Now()
		if !t.Run(part.name, func(t *testing.T) {
			here := *n
			here.t = t
			part.run(&here)
		}) {
			n.explain()
			return // the next part stands on this one
		}
		done = append(done, result{part.what, time.Since(began)})
	}
	if *write {
		publish(t, done)
	}
}

// explain logs what a node that failed has to say.
func (n *node) explain() {
	for _, argv := range [][]string{
		{"journalctl", "--no-pager", "--unit=" + delivery.BootUnit, "--lines=40", "--output=cat"},
		{"systemctl", "--machine=kube1", "--no-pager", "--failed"},
		{"journalctl", "--no-pager", "--machine=kube1", "--unit=containerd.service", "--lines=10", "--output=cat"},
		{"journalctl", "--no-pager", "--machine=kube1", "--unit=kubelet.service", "--lines=30", "--output=cat"},
	} {
		n.t.Logf("%q: %s", argv, n.Exec(argv...))
	}
	var pods string
	n.t.Logf("pods: %v %s", n.c.ask(http.MethodGet, podPath, nil, &pods), pods)
}

func (n *node) sh(script string) string { n.t.Helper(); return n.MustExec("sh", "-c", script) }

// joins: the first boot does all of it; the node is Ready with its labels, and
// tells the cluster how the boot went.
func joins(n *node) {
	n.Start()
	n.booted()
	n.ready(time.Minute)
	var got struct {
		Metadata struct{ Labels map[string]string }
	}
	n.c.must(http.MethodGet, "/api/v1/nodes/"+nodeName, nil, &got)
	if got.Metadata.Labels["pool"] != "a" {
		n.t.Errorf("labels %v", got.Metadata.Labels)
	}
	if phase := n.status().Phase; phase != "complete" {
		n.t.Errorf("phase %s", phase)
	}
	n.tells("HostReady True Succeeded")
}

// tells holds the node to its condition, as the API server has it.
func (n *node) tells(want string) {
	n.t.Helper()
	var got struct {
		Status struct {
			Conditions []struct{ Type, Status, Reason string }
		}
	}
	n.c.must(http.MethodGet, "/api/v1/nodes/"+nodeName, nil, &got)
	for _, c := range got.Status.Conditions {
		if c.Type+" "+c.Status+" "+c.Reason == want {
			return
		}
	}
	n.t.Errorf("the node's conditions are %v, want %s", got.Status.Conditions, want)
}

// booted waits for the boot unit to have done its work.
func (n *node) booted() {
	n.t.Helper()
	state := ""
	eventually(n.t, "the boot unit ends", 5*time.Minute, func() bool {
		state = n.Exec("systemctl", "show", "--property=ActiveState,NRestarts", delivery.BootUnit).Stdout
		return strings.Contains(state, "=active") || strings.Contains(state, "=failed") || strings.Contains(state, "NRestarts=4")
	})
	if !strings.Contains(state, "=active") {
		n.t.Fatalf("the boot unit: %s", state)
	}
}

// status is what hostler says of the host.
func (n *node) status() (doc struct {
	Phase   string
	Pending []struct{ Needs string }
	Drift   []any
}) {
	n.t.Helper()
	res := n.Exec(program, "status", "--output", "json")
	if err := json.Unmarshal([]byte(res.Stdout), &doc); err != nil {
		n.t.Fatalf("%v: %s", err, res)
	}
	return doc
}

// ready waits until the node reports itself Ready after now.
func (n *node) ready(limit time.Duration) {
	n.t.Helper()
	since := time.Now().Add(-time.Second)
	eventually(n.t, "the node is Ready", limit, func() bool {
		var got struct {
			Status struct {
				Conditions []struct {
					Type, Status      string
					LastHeartbeatTime time.Time
				}
			}
		}
		if err := n.c.ask(http.MethodGet, "/api/v1/nodes/"+nodeName, nil, &got); err != nil {
			return false
		}
		return slices.ContainsFunc(got.Status.Conditions, func(c struct {
			Type, Status      string
			LastHeartbeatTime time.Time
		}) bool {
			return c.Type == "Ready" && c.Status == "True" && !c.LastHeartbeatTime.Before(since)
		})
	})
}

const podPath = "/api/v1/namespaces/default/pods"

// runsPod: a pod runs, and its log is read through the kubelet's port (R092).
func runsPod(n *node) {
	n.pod("hello")
	n.hears("hello")
}

func (n *node) pod(name string) {
	n.t.Helper()
	n.c.must(http.MethodPost, podPath, object{
		"metadata": object{"name": name},
		"spec": object{
			"nodeName": nodeName, "automountServiceAccountToken": false, "enableServiceLinks": false,
			"tolerations": []object{{"operator": "Exists"}}, "terminationGracePeriodSeconds": 1,
			"containers": []object{{"name": "c", "image": n.speak, "command": []string{"/speak", "said", "by", name}}},
		},
	}, nil)
}

// hears waits for what a pod says.
func (n *node) hears(name string) {
	n.t.Helper()
	heard := ""
	defer func() { n.t.Logf("heard: %s", heard) }()
	eventually(n.t, "the pod "+name+" is heard", time.Minute, func() bool {
		var log string
		err := n.c.ask(http.MethodGet, podPath+"/"+name+"/log", nil, &log)
		heard = fmt.Sprint(log, err)
		return err == nil && strings.Contains(log, "said by "+name)
	})
}

// marks are what a change must leave alone or not, by what it is.
func (n *node) marks() map[string]string {
	n.t.Helper()
	return map[string]string{
		"leader":     n.MustExec("machinectl", "show", "kube1", "--property=Leader", "--value"),
		"kubelet":    n.MustExec("systemctl", "--machine=kube1", "show", "kubelet.service", "--property=InvocationID", "--value"),
		"containerd": n.MustExec("systemctl", "--machine=kube1", "show", "containerd.service", "--property=InvocationID", "--value"),
		"built from": n.builtFrom(),
	}
}

// builtFrom is what the record says of the machines.
func (n *node) builtFrom() string {
	n.t.Helper()
	var record struct{ Machines json.RawMessage }
	if err := json.Unmarshal(n.Pull("/var/lib/hostler/record.json"), &record); err != nil || len(record.Machines) == 0 {
		n.t.Fatalf("the record names no machines: %v", err)
	}
	return string(record.Machines)
}

// apply updates the node with other inputs.
func (n *node) inputsFile(edit func(string) string) {
	n.t.Helper()
	n.Push(delivery.InputsHCL, []byte(edit(string(n.Pull(delivery.InputsHCL)))), 0o600)
}

const recipe = "recipe:azure-container-linux/3/kubernetes-worker"

func (n *node) must(argv ...string) {
	n.t.Helper()
	if res := n.Exec(append([]string{program}, argv...)...); res.Code != 0 {
		n.t.Fatalf("hostler %q: %s", argv, res)
	}
}

// anotherLabel: a changed label restarts the kubelet, and nothing else (H05,
// R069, R079).
func anotherLabel(n *node) {
	before := n.marks()
	n.inputsFile(func(s string) string { return strings.Replace(s, `pool = "a"`, `pool = "b"`, 1) })
	n.must("apply", recipe, "--inputs", delivery.InputsHCL)
	after := n.marks()
	for what := range before {
		if same := before[what] == after[what]; same == (what == "kubelet") {
			n.t.Errorf("%s: was %s, is %s", what, before[what], after[what])
		}
	}
	n.ready(time.Minute)
}

// firewall: the host's own firewall, enabled later, drops what comes in. After
// a boot the node's port is reached all the same (H40).
func firewall(n *node) {
	n.Push("/etc/nftables.conf", []byte("flush ruleset\ntable inet filter { chain input { type filter hook input priority 0; policy drop; ct state established,related accept; iif lo accept; }; }\n"), 0o755)
	n.MustExec("systemctl", "enable", "nftables.service")
	n.Reboot()
	n.booted()
	n.ready(2 * time.Minute)
	n.hears("hello")
}

// repaved: another image of the machine's root is brought in by the other slot.
func repaved(n *node) {
	n.inputsFile(func(s string) string { return strings.Replace(s, n.images[0], n.images[1], 1) })
	n.must("repave", recipe, "--inputs", delivery.InputsHCL)
	n.ready(2 * time.Minute)
	if got := n.MustExec("machinectl", "list", "--no-legend"); !strings.Contains(got, "kube2") || strings.Contains(got, "kube1") {
		n.t.Errorf("machines: %s", got)
	}
	if got := strings.TrimSpace(n.MustExec("cat", "/var/lib/machines/kube2/etc/node-release")); got != "second" {
		n.t.Errorf("the machine is the %s release", got)
	}
	n.pod("moved")
	n.hears("moved")
}

// leaves: a reset leaves no trace.
func leaves(n *node) {
	n.must("reset")
	n.wantBare()
	n.Reboot()
	n.wantBare()
}

func (n *node) wantBare() {
	n.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(n.paths())) {
		if !n.bare[name] && (strings.Contains(name, "hostler") || strings.Contains(name, "kube")) {
			n.t.Errorf("%s is left", name)
		}
	}
	if out := n.sh("machinectl list --no-legend; ip -o link show type bridge; nft list tables"); strings.Contains(out, "kube") || strings.Contains(out, "cbr0") {
		n.t.Errorf("left: %s", out)
	}
}

// paths are all paths below the directories that an installation writes to.
func (n *node) paths() map[string]bool {
	n.t.Helper()
	all := map[string]bool{}
	for _, dir := range []string{"/etc", "/opt", "/usr/local", "/var/lib/machines", "/var/lib/hostler"} {
		if _, err := os.Stat(n.Root() + dir); err != nil {
			continue
		}
		all[dir] = true
		for name := range lab.Snapshot(n.t, n.Root()+dir) {
			all[dir+"/"+name] = true
		}
	}
	return all
}

// joinsAgain: the same host is set up again.
func joinsAgain(n *node) {
	n.c.must(http.MethodDelete, "/api/v1/nodes/"+nodeName, nil, nil)
	n.Poweroff()
	n.Forget()
	if log, err := n.Ignite(n.p.render(n.p.inputs(n))); err != nil {
		n.t.Fatalf("%v\n%s", err, log)
	}
	n.Start()
	n.booted()
	n.ready(time.Minute)
}
