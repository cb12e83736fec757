package interpreter_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/host/memory"
	"hostler/recipes"
)

// workerDirs are the recipes of a Kubernetes worker, a directory per image.
func workerDirs(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob("../recipes/*/*/kubernetes-worker")
	if err != nil || len(dirs) != 6 {
		t.Fatal(dirs, err)
	}
	return dirs
}

// workerCA is the certificate of a CA that signs nothing.
const workerCA = `-----BEGIN CERTIFICATE-----
MIIBfDCCASGgAwIBAgIUPAgL8ohtM/54PiK2cW33Llmg228wCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHZXhhbXBsZTAgFw0yNjExMjkxOTQ1MjRaGA8yMTI2MTEwNTE5
NDUyNFowEjEQMA4GA1UEAwwHZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABPTSU8adXoWSZdpVsYyOPwZFTF0OmyUxPZwJGgDISVSXPUumE3CV3Prt7sf/
i6AS0w6ZxpQVl7YrokJJjEy5ipSjUzBRMB0GA1UdDgQWBBRsaRJ4V2iW5thp5bf4
dwDjWPA/HTAfBgNVHSMEGDAWgBRsaRJ4V2iW5thp5bf4dwDjWPA/HTAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQD+JwRXXX6YKNsJu0d8E44vJ/gK
mR16FCMWjoZ18Lz8pwIhALU1JuzAh5D/R1CVI6U/kiKBcoci9JMWYQUg4HLMgEDF
-----END CERTIFICATE-----
`

// workerVars are the least that a worker is given.
var workerVars = []string{
	"kubernetes_version=1.34.4", "api_server=api.example.com:6443", "ca_certificate=" + workerCA,
	"cluster_dns=10.96.0.10", "bootstrap_token=abcdef.0123456789abcdef", "rootfs_image=/srv/node.tar",
}

// worker is a recipe of a worker with values over the least ones.
func worker(dir string, vars ...string) given {
	return given{vars: append(workerVars[:len(workerVars):len(workerVars)], vars...), open: func(r *rig) interpreter.Request {
		if req, ok := parsed.Load(dir); ok {
			return req.(interpreter.Request)
		}
		src, err := eval.Open(dir)
		r.ok(err)
		req := r.load(src, eval.StandardLoader{Shipped: recipes.Open})
		parsed.Store(dir, req)
		return req
	}}
}

// workerHost is a host of the image that the recipe is for, before its first
// run. The image of the machine holds what a kubelet makes when it has
// registered.
func workerHost(dir string) func(testing.TB) memory.Options {
	return func(t testing.TB) memory.Options {
		t.Helper()
		osRelease, err := os.ReadFile(filepath.Join(dir, "tests/fixtures/os-release"))
		if err != nil {
			t.Fatal(err)
		}
		o := memory.Options{
			OSRelease:   string(osRelease),
			Executables: []string{"/usr/sbin/nft", "machinectl", "nvidia-smi"},
			Files: map[string]memory.File{
				"/srv/node.tar":            {Content: image(t, map[string]string{"var/lib/kubelet/kubeconfig": "kind: Config\n", "etc/resolv.conf": "", "etc/hostname": "image\n"})},
				"/etc/fstab":               {Content: "/dev/sda1 / ext4 defaults 0 1\n/dev/sdb1 none swap sw 0 0\n"},
				"/etc/docker/daemon.json":  {Content: "{\n    \"log-driver\": \"journald\"\n}\n"},
				"/lib/modules/6.1.0/x":     {},
				"/etc/sysctl.d/10-a.conf":  {Content: "vm.swappiness = 10\n"},
				"/dev/kvm":                 {},
				"/usr/lib64/libcuda.so.1":  {},
				"/usr/lib64/libother.so.1": {},
			},
			Units: []memory.Unit{
				{Name: "docker.service", Running: true, Enabled: true},
				{Name: "docker.socket", Content: "[Socket]\nListenStream=/run/docker.sock\n[Install]\nWantedBy=sockets.target\n", Enabled: true},
				{Name: "nftables.service"},
			},
			Kernel:  memory.Kernel{Sysctl: workerKernel(), Modules: map[string]bool{"overlay": false, "br_netfilter": false}, Swaps: []string{"/dev/sdb1"}},
			Network: memory.Network{HTTP: workerNetwork(t)},
		}
		switch id := string(osRelease); {
		case strings.Contains(id, "ID=ubuntu") || strings.Contains(id, "ID=debian"):
			o.Executables = append(o.Executables, "apt-get")
		case strings.Contains(id, "ID=azurelinux") && !strings.Contains(id, "VARIANT_ID="):
			o.Executables = append(o.Executables, "tdnf", "rpm")
		case strings.Contains(id, "ID=fedora"):
			o.ReadOnly = []string{"/usr"}
			o.Files["/usr/local"], o.Files["/var/usrlocal/bin"] = memory.File{Link: "../var/usrlocal"}, memory.File{Dir: true}
		default:
			o.ReadOnly = []string{"/usr"}
		}
		return o
	}
}

func workerKernel() map[string]string {
	all := map[string]string{"vm.max_map_count": "65530"}
	for _, key := range strings.Fields(`kernel.keys.root_maxbytes kernel.keys.root_maxkeys kernel.panic kernel.panic_on_oops
		net.bridge.bridge-nf-call-ip6tables net.bridge.bridge-nf-call-iptables net.ipv4.conf.all.rp_filter net.ipv4.conf.all.src_valid_mark
		net.ipv4.conf.default.rp_filter net.ipv4.conf.default.src_valid_mark net.ipv4.ip_forward vm.overcommit_memory vm.panic_on_oom`) {
		all[key] = "7"
	}
	return all
}

// workerPrograms are what the publishers serve, by host and path.
var workerPrograms = sync.OnceValue(func() map[string]string {
	const github = "github.com/"
	cni := map[string]string{}
	for _, name := range strings.Fields("bandwidth bridge dhcp dummy firewall host-device host-local ipvlan loopback macvlan portmap ptp sbr static tap tuning vlan vrf") {
		cni["./"+name] = name
	}
	all := map[string]string{
		github + "containerd/containerd/releases/download/v2.1.8/containerd-2.1.8-linux-amd64.tar.gz": archive(map[string]string{
			"bin/containerd": "containerd", "bin/containerd-shim-runc-v2": "shim", "bin/containerd-stress": "stress", "bin/ctr": "ctr",
		}),
		github + "opencontainers/runc/releases/download/v1.5.0/runc.amd64":                                 "runc",
		github + "containernetworking/plugins/releases/download/v1.5.1/cni-plugins-linux-amd64-v1.5.1.tgz": archive(cni),
		github + "kubernetes-sigs/cri-tools/releases/download/v1.34.0/crictl-v1.34.0-linux-amd64.tar.gz":   archive(map[string]string{"crictl": "crictl"}),
	}
	for _, name := range []string{"kubelet", "kubectl", "kube-proxy"} {
		all["dl.k8s.io/v1.34.4/bin/linux/amd64/"+name] = name
	}
	for name, text := range all {
		suffix := map[string]string{"containerd-2.1.8-linux-amd64.tar.gz": name + ".sha256sum", "runc.amd64": path.Dir(name) + "/runc.sha256sum"}[path.Base(name)]
		if suffix == "" {
			suffix = name + ".sha256"
		}
		sum := sha256.Sum256([]byte(text))
		all[suffix] = hex.EncodeToString(sum[:]) + "  " + path.Base(name) + "\n"
	}
	return all
})

// workerNetwork serves the programs and the API server.
func workerNetwork(testing.TB) map[string]http.Handler {
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := workerPrograms()[r.Host+r.URL.Path]
		if r.Host == "mirror.example.com" {
			text, ok = mirrored(path.Base(r.URL.Path))
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text))
	})
	return map[string]http.Handler{
		"dl.k8s.io": serve, "github.com": serve, "mirror.example.com": serve,
		"api.example.com:6443": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }),
	}
}

// mirrored is a program by the name of its file alone.
func mirrored(name string) (text string, ok bool) {
	if name == "crictl-1.34.0-amd64.tar.gz" {
		name = "crictl-v1.34.0-linux-amd64.tar.gz"
	}
	for address, text := range workerPrograms() {
		if path.Base(address) == name {
			return text, true
		}
	}
	return "", false
}

// workerDigests are the digests of the programs, as an input.
func workerDigests() string {
	var b strings.Builder
	for name, file := range map[string]string{
		"kubelet": "kubelet", "kubectl": "kubectl", "kube-proxy": "kube-proxy", "containerd": "containerd-2.1.8-linux-amd64.tar.gz", "runc": "runc.amd64",
		"cni": "cni-plugins-linux-amd64-v1.5.1.tgz", "crictl": "crictl-v1.34.0-linux-amd64.tar.gz",
	} {
		text, _ := mirrored(file)
		fmt.Fprintf(&b, "%s = %q\n", name, digestOf(text))
	}
	return "digests={\n" + b.String() + "}"
}

func archive(files map[string]string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		_ = w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(text))})
		_, _ = w.Write([]byte(text))
	}
	_ = w.Close()
	return b.String()
}

// workerScenario is a worker and its next version: another label, a kernel
// parameter, a mirror. All images share their steps, so that runs of one of them
// go wrong is enough.
func workerScenario(dir string) scenario {
	v2 := worker(dir, `labels={ pool = "b" }`, `sysctl={ "vm.panic_on_oom" = "1" }`, `registry_mirrors={ "_default" = ["https://mirror.example.com"] }`)
	s := scenario{
		name: strings.TrimPrefix(filepath.ToSlash(dir), "../recipes/"), opts: workerHost(dir), v1: worker(dir), v2: &v2,
	}
	if strings.Contains(dir, "azure-container-linux") {
		s.crash, s.power, s.errno = 397, 811, 3989
	}
	return s
}
