//go:build e2e

package node

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"hostler/testdata/lab"
)

// kubernetesVersion is the one that prepare builds.
const kubernetesVersion = "1.34.4"

// provider is what a mirror and a registry are to a site: the programs, whose
// digests the site knows, images, and hostler itself.
type provider struct {
	t     *testing.T
	cache string
	files map[string][]byte
	// url is where all of it is had, images the registry.
	url    string
	images *lab.Images
	// sums are the digests of the programs, by name.
	sums map[string]string
	// hostler is the program, and its digest.
	hostler, digest string
}

func provide(t *testing.T) *provider {
	t.Helper()
	p := &provider{t: t, cache: os.Getenv("HOSTLER_LAB_CACHE"), files: map[string][]byte{}, sums: map[string]string{}}
	if p.cache == "" {
		p.cache = "/var/cache/hostler-lab"
	}
	p.kubernetes()
	p.runtime()
	p.hostler = lab.Build(t)
	p.digest = p.put("/hostler", p.read(p.hostler))
	p.url = lab.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := p.files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	p.images = lab.Registry(t)
	return p
}

func (p *provider) read(name string) []byte {
	p.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// put publishes a file and returns its digest.
func (p *provider) put(name string, content []byte) string {
	sum := sha256.Sum256(content)
	p.files[name] = content
	return hex.EncodeToString(sum[:])
}

// programs is where prepare put the Kubernetes programs.
func (p *provider) programs() string { return filepath.Join(p.cache, "kube-"+kubernetesVersion) }

func (p *provider) kubernetes() {
	for name, content := range map[string][]byte{
		"kubelet": p.read(filepath.Join(p.programs(), "kubelet")), "kubectl": p.read(filepath.Join(p.programs(), "kubectl")),
		"kube-proxy": []byte("#!/bin/sh\nexit 0\n"), // nothing here starts it
	} {
		p.sums[name] = p.put("/v"+kubernetesVersion+"/bin/linux/amd64/"+name, content)
	}
}

// runtime publishes Debian's containerd, runc and CNI plugins in archives as
// their publishers make them.
func (p *provider) runtime() {
	usr := filepath.Join(p.cache, "node", "tree", "usr")
	file := func(name string) []byte { return p.read(filepath.Join(usr, name)) }
	archive := map[string][]byte{}
	for member, from := range map[string]string{
		"containerd": "containerd", "containerd-shim-runc-v2": "containerd-shim-runc-v2", "ctr": "ctr", "containerd-stress": "ctr",
	} {
		archive["bin/"+member] = file("bin/" + from)
	}
	p.sums["containerd"] = p.put("/containerd.tar.gz", p.pack(archive))
	p.sums["runc"] = p.put("/runc.amd64", file("sbin/runc"))
	plugins := map[string][]byte{}
	for _, plugin := range cniPlugins() {
		plugins[plugin] = file("lib/cni/" + plugin)
	}
	p.sums["cni"] = p.put("/cni.tgz", p.pack(plugins))
}

func cniPlugins() []string { return []string{"bridge", "host-local", "loopback", "portmap"} }

// pack makes a gzipped tar archive of programs.
func (p *provider) pack(files map[string][]byte) []byte {
	p.t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			p.t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		p.t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		p.t.Fatal(err)
	}
	return packed.Bytes()
}

// machine pushes an image of the machine's root, with one more file in it, and
// returns its reference.
func (p *provider) machine(tag, release string) string {
	p.t.Helper()
	root, err := tarball.LayerFromFile(filepath.Join(p.cache, "node", "tree.tar.gz"), tarball.WithMediaType(types.OCILayer))
	if err != nil {
		p.t.Fatal(err)
	}
	return p.images.Push("node:"+tag, root, lab.Layer(p.t, map[string]string{"/etc/node-release": release + "\n"}))
}

// speaking pushes the image that containers run, and returns its reference.
func (p *provider) speaking() string {
	p.t.Helper()
	program := filepath.Join(p.t.TempDir(), "speak")
	cmd := exec.Command("go", "build", "-o", program, "./speak")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	image, err := mutate.AppendLayers(empty.Image, p.layer("/speak", p.read(program)))
	if err == nil {
		image, err = mutate.Config(image, v1.Config{Entrypoint: []string{"/speak"}})
	}
	if err != nil {
		p.t.Fatal(err)
	}
	ref, _, _ := strings.Cut(p.images.PushImage("speak:1", image), "@")
	return ref
}

// layer is an image layer of one program.
func (p *provider) layer(name string, content []byte) v1.Layer {
	p.t.Helper()
	packed := p.pack(map[string][]byte{strings.TrimPrefix(name, "/"): content})
	file := filepath.Join(p.t.TempDir(), path.Base(name)+".tar.gz")
	if err := os.WriteFile(file, packed, 0o600); err != nil {
		p.t.Fatal(err)
	}
	layer, err := tarball.LayerFromFile(file, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		p.t.Fatal(err)
	}
	return layer
}

// render is the Ignition configuration of a node with these inputs.
func (p *provider) render(inputs string) []byte {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "inputs.hcl")
	if err := os.WriteFile(file, []byte(inputs), fs.FileMode(0o600)); err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(p.hostler, "render", "ignition", "recipe:azure-container-linux/3/kubernetes-worker", "--prefix", prefix,
		"--interpreter-url", p.url+"/hostler", "--interpreter-sha256", p.digest, "--inputs", file)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("render: %v: %s", err, errs.String())
	}
	return out
}

// inputs are those of the node, with the first of the machine's images.
func (p *provider) inputs(n *node) string {
	p.t.Helper()
	mirror := fmt.Sprintf("%q = [\"http://%s\"]", p.images.Address, p.images.Address)
	return fmt.Sprintf(nodeInputs, kubernetesVersion, apiServer, n.c.ca.PEM, bootstrapToken, nodeName, n.Address(), n.images[0], n.speak, mirror,
		p.url, p.sums["kubelet"], p.sums["kubectl"], p.sums["kube-proxy"], p.url, p.sums["containerd"], p.url, p.sums["runc"],
		p.url, p.sums["cni"], `"`+strings.Join(cniPlugins(), `", "`)+`"`)
}

// nodeInputs is a site whose kernel has cgroup v1 only and is inside a machine
// itself; see the lab's README.
const nodeInputs = `kubernetes_version = %q
api_server         = %q
ca_certificate     = <<-EOT
%sEOT
cluster_dns        = "10.96.0.10"
bootstrap_token    = %q
node_name          = %q
node_ip            = %q
rootfs_image       = %q
sandbox_image      = %q
machines           = ["kube1", "kube2"]
labels             = { pool = "a" }
registry_mirrors   = { %s }
cgroup_driver      = "cgroupfs"
free_bytes         = 1073741824
kernel_modules     = []
boot_inputs        = ["/etc/hostler/inputs.hcl"]
status             = { timeout = "20s", condition = { object = "/api/v1/nodes/{node}" } }
kubelet = {
  enforceNodeAllocatable         = []
  failCgroupV1                   = false
  localStorageCapacityIsolation  = false
  protectKernelDefaults          = false
  failSwapOn                     = false
  resolvConf                     = ""
}
containerd = {
  plugins = { "io.containerd.grpc.v1.cri" = { disable_apparmor = true, restrict_oom_score_adj = true } }
}
sysctl = {
  "kernel.panic"         = null
  "kernel.panic_on_oops" = null
  "vm.overcommit_memory" = null
  "vm.panic_on_oom"      = null
}
nspawn = {
  exec    = { SystemCallFilter = ["@mount @keyring bpf add_key"] }
  service = {
    DevicePolicy = ["auto"]
    DeviceAllow  = [""]
    TasksMax     = ["infinity"]
    Environment  = ["SYSTEMD_NSPAWN_API_VFS_WRITABLE=1"]
  }
}
machine_units = {
  "cgroups-rw.service" = <<-EOT
    [Unit]
    DefaultDependencies=no
    Before=containerd.service kubelet.service
    [Service]
    Type=oneshot
    RemainAfterExit=yes
    ExecStart=/bin/sh -c 'for c in /sys/fs/cgroup/*; do mountpoint -q $$c && mount -o remount,rw,bind $$c; done; mount --make-rshared /'
    [Install]
    WantedBy=sysinit.target
  EOT
}
machine_files = {
  "/etc/cni/net.d/10-lab.conflist" = {
    content = "{\"cniVersion\":\"0.4.0\",\"name\":\"lab\",\"plugins\":[{\"type\":\"bridge\",\"bridge\":\"cbr0\",\"isGateway\":true,\"ipMasq\":false,\"ipam\":{\"type\":\"host-local\",\"ranges\":[[{\"subnet\":\"10.88.0.0/24\"}]],\"routes\":[{\"dst\":\"0.0.0.0/0\"}]}},{\"type\":\"loopback\"}]}"
  }
}
programs = {
  kubernetes = { base_url = %q, sha256 = { kubelet = %q, kubectl = %q, kube-proxy = %q } }
  containerd = { url = "%s/containerd.tar.gz", sha256 = %q }
  runc       = { url = "%s/runc.amd64", sha256 = %q }
  cni        = { url = "%s/cni.tgz", sha256 = %q, plugins = [%s] }
  crictl     = { install = false }
}
`
