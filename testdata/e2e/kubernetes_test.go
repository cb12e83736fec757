//go:build e2e

package e2e

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hostler/testdata/lab"
	"hostler/testdata/lab/standin"
)

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
	s.Push("/root/inputs.hcl", []byte(standin.WorkerInputs(t, image)), 0o600)
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
