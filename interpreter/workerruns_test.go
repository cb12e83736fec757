package interpreter_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

const (
	aclWorker    = "../recipes/azure-container-linux/3/kubernetes-worker"
	debianWorker = "../recipes/debian/12/kubernetes-worker"
	// inside is the machine's tree on the host.
	inside = "/var/lib/machines/kube1"
)

func workerRig(t *testing.T, dir string, tune ...func(*memory.Options)) *rig {
	o := workerHost(dir)(t)
	for _, f := range tune {
		f(&o)
	}
	return newRig(t, o)
}

// restarts are the units that the last run restarted, in order.
func (r *rig) restarts() (list []string) {
	for _, job := range r.jobs() {
		if unit, ok := strings.CutPrefix(job, "restart "); ok {
			list = append(list, unit)
		}
	}
	return list
}

// TestWorkerRestarts: R068, R069, R070, R072: of a running machine's services,
// those whose files changed are restarted, the runtime first, and nothing else.
func TestWorkerRestarts(t *testing.T) {
	const runtime = `containerd={ debug = { level = "debug" } }`
	r := workerRig(t, aclWorker)
	r.must(apply, worker(aclWorker))
	leader := r.unit("systemd-nspawn@kube1.service").InvocationID
	for _, c := range []struct {
		what string
		vars []string
		want []string
	}{
		{"nothing", nil, nil},
		{"a label", []string{`labels={ pool = "b" }`}, []string{"kubelet.service"}},
		{"a taint", []string{`taints=["a=b:NoSchedule"]`}, []string{"kubelet.service"}},
		{"the kubelet's configuration", []string{`kubelet={ maxPods = 50 }`}, []string{"kubelet.service"}},
		{"a new token", []string{"bootstrap_token=abcdef.aaaaaaaaaaaaaaaa"}, []string{"kubelet.service"}},
		{"the runtime's configuration", []string{runtime}, []string{"containerd.service"}},
		{"both", []string{runtime, `labels={ pool = "c" }`}, []string{"containerd.service", "kubelet.service"}},
	} {
		r.must(apply, worker(aclWorker))
		r.must(apply, worker(aclWorker, c.vars...))
		if got := r.restarts(); !slices.Equal(got, c.want) {
			t.Errorf("%s restarts %q, want %q", c.what, got, c.want)
		}
	}
	r.must(apply, worker(aclWorker))
	r.ok(host.SetAccess(r.Host().Files, inside+"/etc/containerd/config.toml", host.Access{Mode: 0o600}))
	r.must(apply, worker(aclWorker))
	if got := r.restarts(); len(got) > 0 {
		t.Errorf("a mode restarts %q", got)
	}
	if now := r.unit("systemd-nspawn@kube1.service").InvocationID; now != leader {
		t.Error("the machine was started anew")
	}
}

// TestWorkerIdentity: R019 to R027, R033: what makes a node another one, and what
// does not.
func TestWorkerIdentity(t *testing.T) {
	r := workerRig(t, aclWorker)
	r.must(apply, worker(aclWorker))
	for _, same := range []string{
		"kubernetes_version=v1.34.4", "api_server=https://api.example.com:6443/", "bootstrap_token=abcdef.bbbbbbbbbbbbbbbb", `labels={ pool = "b" }`,
		`taints=["a:NoExecute"]`, `programs={ runc = { base_url = "https://github.com/opencontainers/runc/releases/download" } }`, `machines=["kube1"]`,
	} {
		if _, err := r.run(apply, worker(aclWorker, same)); err != nil {
			t.Errorf("%s is refused: %v", same, err)
		}
		r.must(apply, worker(aclWorker))
	}
	for _, other := range []string{"kubernetes_version=1.34.5", "api_server=other.example.com:6443", "rootfs_image=/srv/other.tar", `machines=["other"]`, "node_name=other"} {
		fails[*record.RefusedError](r, apply, worker(aclWorker, other), "fingerprint")
		if list := r.Effects(); len(list) > 0 {
			t.Errorf("%s is refused, and has the effects %v", other, list)
		}
	}
}

// TestWorkerNeeds: R168: on an image-managed host a missing tool is named, with
// the image or a system extension as the way out, and nothing is installed; all
// that is missing is told at once.
func TestWorkerNeeds(t *testing.T) {
	r := workerRig(t, aclWorker, func(o *memory.Options) {
		o.Executables = []string{"tdnf", "rpm", "machinectl"}
		o.Network.Listeners = []host.ListenerState{{Address: "0.0.0.0:10250", PID: 7}}
		o.DiskBytes = 1 << 30
		delete(o.Network.HTTP, "api.example.com:6443")
	})
	e := fails[*interpreter.UnmetError](r, apply, worker(aclWorker), "nft", "system extension", "10250", "/var/lib", "https://api.example.com:6443/readyz", "nothing was changed")
	if strings.Contains(e.Error(), "tdnf") || len(r.Effects()) > 0 {
		t.Errorf("%v, effects %v", e, r.Effects())
	}
}

// TestR161WorkerByLikeness: Azure Container Linux that names no variant is known
// by what it is like, and Azure Linux itself is not.
func TestR161WorkerByLikeness(t *testing.T) {
	release := func(name string) func(*memory.Options) {
		return func(o *memory.Options) {
			text, err := os.ReadFile("../testdata/os-release/" + name + ".os-release")
			if err != nil {
				t.Fatal(err)
			}
			o.OSRelease = string(text)
		}
	}
	r := workerRig(t, aclWorker, release("acl-without-variant"))
	r.must(apply, worker(aclWorker))
	if prefix := r.record().Prefix; prefix != "/opt/hostler" {
		t.Errorf("it is installed below %q", prefix)
	}
	other := workerRig(t, aclWorker, release("azurelinux-3"))
	fails[hcl.Diagnostics](other, apply, worker(aclWorker), "Unsupported host")
}

// TestWorkerInstallsPackages: R171: on a host whose software may change, what is
// missing is installed, and only that.
func TestWorkerInstallsPackages(t *testing.T) {
	const dir = "../recipes/azure-linux/3/kubernetes-worker"
	var ran [][]string
	r := workerRig(t, dir, func(o *memory.Options) {
		o.Executables = []string{"tdnf", "rpm", "machinectl"}
		o.Programs = map[string]memory.Program{
			"rpm": func(memory.Invocation) host.CommandResult { return host.CommandResult{ExitCode: 1} },
			"tdnf": func(i memory.Invocation) host.CommandResult {
				ran = append(ran, i.Argv)
				if slices.Contains(i.Argv, "nftables") {
					if err := host.Replace(i.Host.Files, "/usr/sbin/nft", host.Content{Mode: 0o755}); err != nil {
						t.Error(err)
					}
				}
				return host.CommandResult{}
			},
		}
	})
	r.must(apply, worker(dir))
	if len(ran) != 2 || !slices.Equal(ran[1], []string{"tdnf", "install", "-y", "nftables"}) {
		t.Errorf("ran %q", ran)
	}
}

// TestWorkerOrder: host, machine, interpreter; and the way back: what could
// start us again, the machine, what it leaves in the host's network, its tree,
// its mounts and keys, the host.
func TestWorkerOrder(t *testing.T) {
	r := workerRig(t, aclWorker, func(o *memory.Options) {
		o.Files["/etc/wireguard/server.priv"] = memory.File{Content: "key"}
		o.Network.Links = []host.LinkState{{Name: "wg51820", Kind: "wireguard"}, {Name: "wg0", Kind: "wireguard"}, {Name: "cbr0", Kind: "bridge"}}
		o.Network.Tables = []host.TableState{{Table: 51850}, {Table: 12345}}
	})
	r.must(apply, worker(aclWorker))
	var stages []string
	for _, e := range r.Events {
		if e.Kind == walk.StageStarted {
			stages = append(stages, e.Stage)
		}
	}
	if want := []string{"preparing-host", "node", "node/after_stop", "node/rootfs", "programs", "system", "containerd", "kubelet", "node/boot", "node/after_boot", "node/ready", "installing-daemon"}; !slices.Equal(stages, want) {
		t.Errorf("stages %q, want %q", stages, want)
	}
	r.must(reset, nothing)
	log := r.Plan.Log()
	at := func(kind, name string) int {
		for i, e := range log {
			if strings.HasPrefix(e.Kind, kind) && strings.HasPrefix(e.Name, name) {
				return i
			}
		}
		t.Errorf("a reset does not %s %s", kind, name)
		return -1
	}
	last := -1
	for _, step := range [][2]string{
		{"unit stop", "hostler-daemon.service"}, {"queue stop", "systemd-nspawn@kube1.service"}, {"remove", "/var/lib/machines/kube1"}, {"remove", "/etc/systemd/nspawn/kube1.nspawn"}, {"delete link", "cbr0"},
		{"remove", "/etc/wireguard/server.priv"}, {"unit stop", "run-bpffs-kube1.mount"}, {"remove", "/etc/systemd/system/kubelet.service"}, {"remove", "/etc/modules-load.d/hostler-overlay.conf"},
	} {
		if now := at(step[0], step[1]); now < last {
			t.Errorf("%q comes too early", step)
		} else {
			last = now
		}
	}
	links, err := r.Host().Network.Links(context.Background())
	r.ok(err)
	tables, err := r.Host().Network.RouteTables(context.Background())
	r.ok(err)
	if len(links) != 1 || links[0].Name != "wg0" || len(tables) != 1 || tables[0].Table != 12345 {
		t.Errorf("left are %v and %v", links, tables)
	}
}

// TestWorkerCredentials: with a program for credentials there is no token and
// none is asked for.
func TestWorkerCredentials(t *testing.T) {
	r := workerRig(t, aclWorker)
	g := worker(aclWorker, `exec_credential={ command = "/usr/local/bin/login", args = ["--node"], env = { SITE = "north" } }`)
	g.vars = slices.DeleteFunc(g.vars, func(v string) bool { return strings.HasPrefix(v, "bootstrap_token=") })
	r.must(apply, g)
	r.want(inside+"/var/lib/kubelet/bootstrap-kubeconfig", "(absent)")
	r.holds(inside+"/var/lib/kubelet/kubeconfig", `"command": "/usr/local/bin/login"`, `- "--node"`, `"name": "SITE"`, `"interactiveMode": "Never"`, `"server": "https://api.example.com:6443"`)
	if flags := r.read(inside + "/etc/systemd/system/kubelet.service.d/10-kubeconfig.conf"); strings.Contains(flags, "bootstrap") {
		t.Error(flags)
	}
}

// TestWorkerToken: a complete host needs no token while the file made of it is
// intact, and it stands in nothing but that file.
func TestWorkerToken(t *testing.T) {
	r := workerRig(t, aclWorker)
	r.must(apply, worker(aclWorker))
	for name, entry := range r.Snapshot("/proc", "/sys", "/dev") {
		if entry.Kind == "file" && strings.Contains(r.read(name), "0123456789abcdef") && !strings.HasSuffix(name, "/bootstrap-kubeconfig") {
			t.Errorf("the token stands in %s", name)
		}
	}
	r.put(inside+"/etc/hostname", "edited\n")
	r.must(ensure, nothing)
	r.want(inside+"/etc/hostname", "host\n")
	r.remove(inside + "/var/lib/kubelet/bootstrap-kubeconfig")
	fails[*walk.NeedsInputError](r, ensure, nothing, "bootstrap_token")
	r.must(ensure, worker(aclWorker))
	r.holds(inside+"/var/lib/kubelet/bootstrap-kubeconfig", "0123456789abcdef")

	// A change is made as far as it goes without the token, which is asked for by
	// its name.
	g := worker(aclWorker, `labels={ pool = "b" }`)
	g.vars = slices.DeleteFunc(g.vars, func(v string) bool { return strings.HasPrefix(v, "bootstrap_token=") })
	fails[*walk.NeedsInputError](r, apply, g, "bootstrap_token")
	r.holds(inside+"/etc/systemd/system/kubelet.service.d/20-node-config.conf", "pool=b")
	r.must(apply, worker(aclWorker, `labels={ pool = "b" }`))
}

// holds wants texts in a file.
func (r *rig) holds(name string, parts ...string) {
	r.Helper()
	text := r.read(name)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			r.Errorf("%s does not hold %q:\n%s", name, part, text)
		}
	}
}

// TestWorkerSorted: labels and taints come in one order, however they are
// given.
func TestWorkerSorted(t *testing.T) {
	r := workerRig(t, aclWorker)
	r.must(apply, worker(aclWorker, `labels={ b = "2", "example.com/a" = "1", a = "" }`, `taints=["b=1:NoSchedule", "a:NoExecute"]`, "node_ip=192.0.2.7"))
	r.want(inside+"/etc/systemd/system/kubelet.service.d/20-node-config.conf",
		"[Service]\nEnvironment=\"KUBELET_NODE_CONFIG_ARGS=--hostname-override=host --node-ip=192.0.2.7 --node-labels=a=,b=2,example.com/a=1 --register-with-taints=a:NoExecute,b=1:NoSchedule\"\n")
	r.must(apply, worker(aclWorker, `labels={ a = "", "example.com/a" = "1", b = "2" }`, `taints=["a:NoExecute", "b=1:NoSchedule"]`, "node_ip=192.0.2.7"))
	if list := r.Changed(); len(list) > 0 {
		t.Errorf("another order changes %v", list)
	}
}

// TestWorkerOverlay: a site's configuration wins over the recipe's, but not over
// what ties the kubelet to this machine.
func TestWorkerOverlay(t *testing.T) {
	r := workerRig(t, aclWorker)
	r.must(apply, worker(aclWorker, "cgroup_driver=cgroupfs",
		`kubelet={ clusterDNS = ["192.0.2.1"], authentication = { anonymous = { enabled = true }, x509 = { clientCAFile = "/x" } }, tlsCipherSuites = null, failCgroupV1 = false }`))
	config := inside + "/var/lib/kubelet/config.yaml"
	r.holds(config, "\"anonymous\":\n    \"enabled\": true", `"clientCAFile": "/etc/kubernetes/pki/apiserver-client-ca.crt"`, `- "10.96.0.10"`, `"failCgroupV1": false`, `"cgroupDriver": "cgroupfs"`)
	if text := r.read(config); strings.Contains(text, "tlsCipherSuites") || strings.Contains(text, "192.0.2.1") {
		t.Error(text)
	}
	r.holds(inside+"/etc/containerd/config.toml", "SystemdCgroup = false")
}

// TestWorkerGPU: the driver's libraries and devices of the host are bound in,
// and described for the runtime before it starts.
func TestWorkerGPU(t *testing.T) {
	r := workerRig(t, aclWorker, func(o *memory.Options) { o.Files["/dev/nvidia0"] = memory.File{} })
	r.must(apply, worker(aclWorker, "nvidia=true"))
	r.holds("/etc/systemd/nspawn/kube1.nspawn", "Bind=/dev/nvidia0\n", "BindReadOnly=/usr/lib64/libcuda.so.1\n")
	r.holds(inside+"/etc/containerd/config.toml", `default_runtime_name = "nvidia"`, `BinaryName = "/usr/bin/nvidia-container-runtime"`, "enable_cdi = true")
	r.holds(inside+"/etc/systemd/system/containerd.service.d/10-nvidia.conf", "After=hostler-nvidia.service")
	if text := r.read("/etc/systemd/nspawn/kube1.nspawn"); strings.Contains(text, "libother") {
		t.Error(text)
	}
	r.must(apply, worker(aclWorker)) // and off again
	r.want(inside+"/etc/systemd/system/hostler-nvidia.service", "(absent)")
	if text := r.read(inside + "/etc/containerd/config.toml"); strings.Contains(text, "nvidia") {
		t.Error(text)
	}
}

// TestWorkerSlots: of two slots the first is built, and both are guarded.
func TestWorkerSlots(t *testing.T) {
	r := workerRig(t, aclWorker)
	r.must(apply, worker(aclWorker, `machines=["kube1", "kube2"]`))
	r.holds("/etc/systemd/nspawn/kube2.nspawn", "Bind=/run/bpffs/kube2:/sys/fs/bpf")
	r.holds("/etc/systemd/system/hostler-nft-flush.service", "RequiredBy=systemd-nspawn@kube1.service systemd-nspawn@kube2.service")
	r.want("/var/lib/machines/kube2", "(absent)")
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestWorkerMirror: programs come from a site's mirror by addresses and digests
// of its own; nothing else is asked.
func TestWorkerMirror(t *testing.T) {
	asked := map[string]bool{}
	programs := archive(map[string]string{"bin/containerd": "c", "bin/containerd-shim-runc-v2": "s", "bin/containerd-stress": "t", "bin/ctr": "r"})
	r := workerRig(t, aclWorker, func(o *memory.Options) {
		api := o.Network.HTTP["api.example.com:6443"]
		o.Network.HTTP = map[string]http.Handler{"api.example.com:6443": api, "mirror.example.com": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked[r.URL.Path] = true
			text := "program"
			if r.URL.Path == "/containerd.tar" {
				text = programs
			}
			_, _ = w.Write([]byte(text))
		})}
	})
	r.must(apply, worker(aclWorker, `programs={
		kubernetes = { url = "http://mirror.example.com/k8s/{version}/{arch}/{name}", sha256 = { kubelet = "`+digestOf("program")+`", kubectl = "`+digestOf("program")+`", "kube-proxy" = "`+digestOf("program")+`" } }
		runc       = { version = "1.6.0", url = "http://mirror.example.com/runc-{version}-{arch}", sha256 = "`+digestOf("program")+`" }
		containerd = { url = "http://mirror.example.com/containerd.tar", sha256 = "`+digestOf(programs)+`" }
		cni        = { install = false }
		crictl     = { install = false }
	}`))
	// What has a digest that is there already is not fetched again.
	for _, path := range []string{"/k8s/1.34.4/amd64/kubelet", "/runc-1.6.0-amd64", "/containerd.tar"} {
		if !asked[path] {
			t.Errorf("the mirror was not asked for %s", path)
		}
		delete(asked, path)
	}
	if len(asked) > 0 {
		t.Errorf("the mirror was asked for %v", asked)
	}
	r.want(inside+"/usr/local/bin/runc", "program")
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
