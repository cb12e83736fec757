// Package standin is what a Kubernetes worker needs to be set up on a host of the
// lab without a cluster: its programs, which are scripts, and its inputs.
package standin

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"path"
	"testing"

	"hostler/testdata/lab"
)

// programs are scripts in the place of a node's programs.
func programs(t testing.TB) map[string][]byte {
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

func packedTar(t testing.TB, files map[string]string) []byte {
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

// WorkerInputs is a file of inputs for a shipped Kubernetes worker whose machine is
// made from image, on a host of the lab: that has cgroup v1, no modules, and
// kernel parameters of another's. Programs and API server are served until the
// test ends.
func WorkerInputs(t testing.TB, image string) string {
	t.Helper()
	files := programs(t)
	server := lab.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(files[path.Base(r.URL.Path)])
	}))
	api, authority := lab.ServeTLS(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	sum := func(name string) string { return fmt.Sprintf("%x", sha256.Sum256(files[name])) }
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
