package interpreter_test

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// nodeVars are what the worker is given where it runs in a machine inside of a
// container without a kernel of its own: cgroup v1, no modules, kernel
// parameters of somebody else's, programs from a server without TLS under
// digests, a bridge in the place of a cluster network.
func nodeVars(digest func(file string) string) []string {
	const server = "http://10.77.0.1:8000/"
	program := func(name string) string {
		return fmt.Sprintf("%s = { url = %q, sha256 = %q }", name, server+name+".tar", digest(name+".tar"))
	}
	return []string{
		"kubernetes_version=1.34.4", "api_server=https://10.77.0.1:6443", "ca_certificate=" + workerCA, "cluster_dns=10.96.0.10",
		"bootstrap_token=abcdef.0123456789abcdef", "rootfs_image=/srv/node.tar", "sandbox_image=10.77.0.1:5000/pause:1",
		"cgroup_driver=cgroupfs", "kernel_modules=[]", "swap_off=false", "free_bytes=1073741824",
		`sysctl={
			"kernel.keys.root_maxbytes" = null, "kernel.keys.root_maxkeys" = null, "kernel.panic" = null, "kernel.panic_on_oops" = null,
			"vm.overcommit_memory" = null, "vm.panic_on_oom" = null, "net.bridge.bridge-nf-call-ip6tables" = null, "net.bridge.bridge-nf-call-iptables" = null
		}`,
		// The machine's unit must not close the devices, nor the file systems.
		`nspawn={
			exec    = { SystemCallFilter = ["@mount @keyring bpf add_key"] }
			service = { DevicePolicy = ["auto"], DeviceAllow = [""], TasksMax = ["infinity"], Environment = ["SYSTEMD_NSPAWN_API_VFS_WRITABLE=1"] }
		}`,
		`machine_units={ "cgroups-rw.service" = "[Unit]\nDefaultDependencies=no\nBefore=containerd.service kubelet.service\n\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/usr/local/libexec/cgroups-rw\n\n[Install]\nWantedBy=sysinit.target\n" }`,
		`machine_files={
			"/usr/local/libexec/cgroups-rw"  = { content = "#!/bin/sh\nfor c in /sys/fs/cgroup/*; do mountpoint -q $c && mount -o remount,rw,bind $c; done\nmount --make-rshared /\n", mode = "0755" }
			"/etc/cni/net.d/10-node.conflist" = { content = "{}\n" }
		}`,
		`containerd={ plugins = { "io.containerd.grpc.v1.cri" = { disable_apparmor = true, restrict_oom_score_adj = true } } }`,
		`registry_mirrors={ "10.77.0.1:5000" = ["http://10.77.0.1:5000"] }`,
		`kubelet={ enforceNodeAllocatable = [], failCgroupV1 = false, localStorageCapacityIsolation = false, protectKernelDefaults = false }`,
		`programs={
			kubernetes = { binaries = ["kubelet"], url = "` + server + `{name}", sha256 = { kubelet = "` + digest("kubelet") + `" } }
			runc       = { url = "` + server + `runc", sha256 = "` + digest("runc") + `" }
			` + program("containerd") + `
			` + strings.Replace(program("cni"), "{ ", `{ plugins = ["bridge", "host-local", "loopback", "portmap"], `, 1) + `
			crictl     = { install = false }
		}`,
	}
}

// TestWorkerOnOldCgroups: the worker takes what a node inside of a container
// needs, and asks for nothing that is not there.
func TestWorkerOnOldCgroups(t *testing.T) {
	served := map[string]string{
		"kubelet": "kubelet", "runc": "runc",
		"containerd.tar": archive(map[string]string{"bin/containerd": "c", "bin/containerd-shim-runc-v2": "s", "bin/containerd-stress": "t", "bin/ctr": "r"}),
		"cni.tar":        archive(map[string]string{"bridge": "b", "host-local": "h", "loopback": "l", "portmap": "p"}),
	}
	r := workerRig(t, aclWorker, func(o *memory.Options) {
		o.Kernel = memory.Kernel{Cgroup: 1, Sysctl: map[string]string{}}
		for key := range workerKernel() {
			if strings.HasPrefix(key, "net.ipv4") {
				o.Kernel.Sysctl[key] = "7"
			}
		}
		o.Network.HTTP = map[string]http.Handler{
			"10.77.0.1:6443": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }),
			"10.77.0.1:8000": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(served[path.Base(r.URL.Path)])) }),
		}
	})
	g := worker(aclWorker)
	g.vars = nodeVars(func(file string) string { return digestOf(served[file]) })
	r.planned(g)
	if warned := r.warned(); !slices.ContainsFunc(warned, func(w string) bool { return strings.Contains(w, "cgroup") }) {
		t.Errorf("nothing is said of cgroups: %q", warned)
	}
	r.quiet(g)
	r.holds("/etc/systemd/system/systemd-nspawn@kube1.service.d/10-hostler.conf", "DevicePolicy=auto\n", "DeviceAllow=\n", "Environment=SYSTEMD_NSPAWN_API_VFS_WRITABLE=1\n")
	r.holds("/etc/systemd/nspawn/kube1.nspawn", "SystemCallFilter=@mount @keyring bpf add_key\n")
	r.holds(inside+"/etc/containerd/config.toml", "disable_apparmor = true", "restrict_oom_score_adj = true", "SystemdCgroup = false", `sandbox_image = "10.77.0.1:5000/pause:1"`)
	r.holds(inside+"/etc/containerd/certs.d/10.77.0.1:5000/hosts.toml", "[host.\"http://10.77.0.1:5000\"]\ncapabilities = [\"pull\", \"resolve\"]\n")
	r.holds(inside+"/var/lib/kubelet/config.yaml", `"cgroupDriver": "cgroupfs"`, `"enforceNodeAllocatable": []`, `"failCgroupV1": false`)
	if _, err := host.Lstat(r.Host().Files, inside+"/etc/systemd/system/sysinit.target.wants/cgroups-rw.service"); err != nil {
		t.Error(err)
	}
	for _, key := range []string{"kernel.panic", "vm.", "net.bridge"} {
		if text := r.read("/etc/sysctl.d/99-hostler-kubernetes.conf"); strings.Contains(text, key) {
			t.Error(text)
		}
	}
	r.must(reset, nothing)
	r.same(r.Before)
}
