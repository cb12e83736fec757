//go:build e2e

package node

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

var write = flag.Bool("write", false, "write the result to docs/real-node.md")

// result is one part of the test, and how long it took.
type result struct {
	what string
	took time.Duration
}

// publish writes the result where it is read.
func publish(t *testing.T, done []result) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "# A real node\n\n"+
		"`make e2e-node` sets up a host with Ignition and nothing else: read-only `/usr`, no package manager, Azure Container Linux by its\n"+
		"os-release, and the shipped recipe `azure-container-linux/3/kubernetes-worker`. In its machine containerd, runc, CNI plugins and a\n"+
		"kubelet join a real etcd and kube-apiserver. The Kubernetes programs are built once and cached; `.ci/run` runs it where they are.\n\n"+
		"Last run, on %s, with Kubernetes %s: everything held.\n\n| part | took |\n|---|---|\n", time.Now().UTC().Format(time.DateOnly), kubernetesVersion)
	for _, r := range done {
		fmt.Fprintf(&b, "| %s | %.0f s |\n", r.what, r.took.Seconds())
	}
	b.WriteString("\nNot shown there: a scheduler and controllers (pods name their node, the test signs certificates), NVIDIA devices, cgroup v2 (the\n" +
		"kernel it runs on has version 1, and the site's inputs say so), and kernel modules, which are built into that kernel.\n")
	if err := os.WriteFile("../../docs/real-node.md", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
