//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hostler/testdata/lab"
)

// nodePrograms are scripts in the place of a node's programs.
func nodePrograms(t *testing.T) map[string][]byte {
	const sleeps = "exec sleep infinity\n"
	containerd := "#!/bin/sh\nset -e\ntest -s /etc/containerd/config.toml\nsystemd-notify --ready\n" + sleeps
	return map[string][]byte{
		"kubelet": []byte("#!/bin/sh\nset -e\necho \"$@\" >/run/kubelet-flags\ngrep -q abcdef /var/lib/kubelet/bootstrap-kubeconfig\n" +
			"sleep 0.3\n: >>/var/lib/kubelet/kubeconfig\n" + sleeps),
		"runc":           []byte("#!/bin/sh\n"),
		"containerd.tar": packedTar(t, map[string]string{"bin/containerd": containerd, "bin/containerd-shim-runc-v2": "#!", "bin/containerd-stress": "#!", "bin/ctr": "#!"}),
		"cni.tar":        packedTar(t, map[string]string{"bridge": "#!", "host-local": "#!", "loopback": "#!"}),
	}
}

func packedTar(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// nodeInputs are what a worker is given on a host of the lab, which has cgroup
// v1, no modules, and kernel parameters of another's.
func nodeInputs(t *testing.T, image string, programs map[string][]byte) string {
	server := lab.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(programs[path.Base(r.URL.Path)])
	}))
	api, authority := lab.ServeTLS(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	sum := func(name string) string { return fmt.Sprintf("%x", sha256.Sum256(programs[name])) }
	return fmt.Sprintf(`kubernetes_version = "1.34.4"
api_server         = %q
ca_certificate     = %q
cluster_dns        = "10.96.0.10"
bootstrap_token    = "abcdef.0123456789abcdef"
rootfs_image       = %q
cgroup_driver      = "cgroupfs"
kernel_modules     = []
swap_off           = false
free_bytes         = 1048576
sysctl = {
  "kernel.keys.root_maxbytes" = null, "kernel.keys.root_maxkeys" = null, "kernel.panic" = null, "kernel.panic_on_oops" = null,
  "vm.overcommit_memory" = null, "vm.panic_on_oom" = null, "net.bridge.bridge-nf-call-ip6tables" = null, "net.bridge.bridge-nf-call-iptables" = null
}
nspawn = { service = { Environment = ["SYSTEMD_NSPAWN_API_VFS_WRITABLE=network"] } }
programs = {
  kubernetes = { binaries = ["kubelet"], url = "%[4]s/{name}", sha256 = { kubelet = %[5]q } }
  runc       = { url = "%[4]s/runc", sha256 = %[6]q }
  containerd = { url = "%[4]s/containerd.tar", sha256 = %[7]q }
  cni        = { url = "%[4]s/cni.tar", sha256 = %[8]q, plugins = ["bridge", "host-local", "loopback"] }
  crictl     = { install = false }
}
`, api, authority, image, server, sum("kubelet"), sum("runc"), sum("containerd.tar"), sum("cni.tar"))
}

// TestKubernetesWorker: the shipped recipe on a booted host with a read-only
// /usr and no package manager, with scripts in the place of the node's programs:
// systemd takes all that is written for it, a label restarts the kubelet alone,
// a reboot brings the node back, and a reset leaves nothing.
func TestKubernetesWorker(t *testing.T) {
	t.Parallel()
	acl, err := os.ReadFile("../os-release/acl.os-release")
	if err != nil {
		t.Fatal(err)
	}
	s := settle(t, lab.Options{Variants: []lab.Variant{lab.OSRelease(string(acl)), lab.ReadOnlyUsr, lab.NoPackageManager, lab.NoexecTmp}})
	image := lab.Registry(t).Push("node:1", lab.GuestLayer(t))
	before := s.config()
	s.Push("/root/inputs.hcl", []byte(nodeInputs(t, image, nodePrograms(t))), 0o600)
	args := []string{"apply", "recipe:azure-container-linux/3/kubernetes-worker", "--inputs", "/root/inputs.hcl"}
	s.must(args...)
	s.wantChanged(s.must(args...))
	if log := s.MustExec("journalctl", "--unit=systemd-nspawn@kube1.service", "--output=cat", "--no-pager"); regexp.MustCompile(`(?i)unknown|ignoring|failed to parse`).MatchString(log) {
		t.Errorf("systemd-nspawn does not take all of the settings:\n%s", log)
	}
	in := func(line string) string {
		return s.MustExec("systemd-run", "--machine=kube1", "--quiet", "--pipe", "--wait", "/bin/sh", "-c", line)
	}
	if kind := in("stat -f -c %T /sys/fs/bpf"); kind != "bpf_fs" {
		t.Errorf("/sys/fs/bpf in the machine is %s", kind)
	}
	if flags := in("cat /run/kubelet-flags"); !strings.Contains(flags, "--config=/var/lib/kubelet/config.yaml --hostname-override=") || !strings.HasSuffix(flags, "--kubeconfig=/var/lib/kubelet/kubeconfig") {
		t.Errorf("the kubelet's flags are %s", flags)
	}
	leader, containerd, kubelet := s.machineLeader("kube1"), s.invocation("kube1", "containerd.service"), s.invocation("kube1", "kubelet.service")
	o := s.must(append(args, "--var", `labels={ "example.com/pool" = "b" }`)...)
	if s.machineLeader("kube1") != leader || s.invocation("kube1", "containerd.service") != containerd || s.invocation("kube1", "kubelet.service") == kubelet {
		t.Errorf("another label changed %q", o.changed())
	}
	s.Reboot()
	s.eventually("the kubelet runs again", func() bool {
		return s.Exec("systemctl", "--machine=kube1", "is-active", "kubelet.service").Code == 0
	})
	s.eventually("the boot unit has ended", func() bool { return s.show("", "hostler-boot.service")["ActiveState"] == "active" })
	if flags := in("cat /run/kubelet-flags"); !strings.Contains(flags, "--node-labels=example.com/pool=b") {
		t.Errorf("after a reboot the kubelet's flags are %s", flags)
	}
	s.must("reset")
	if changes := lab.Changes(before, s.config()); len(changes) > 0 {
		slices.Sort(changes)
		t.Errorf("left on the host:\n%s", strings.Join(changes, "\n"))
	}
}
