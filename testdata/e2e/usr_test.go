//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"hostler/testdata/lab"
)

// onImage is a recipe for hosts whose /usr comes with the image: programs below
// the prefix, a service of one of them, and a machine.
const onImage = `recipe "on_image" {
  language = 1
  version  = "1.0.0"
  supports "azure_container_linux" {
    id             = "azurelinux"
    variant_id     = "azurecontainerlinux"
    version_id     = ">= 3.0, < 4.0"
    default_prefix = "/opt/hostler"
  }
  fingerprint = fingerprint({})
}

require_capability "tools" {
  executables = ["systemd-nspawn", "machinectl", "nft", "curl"]
  packages    = { tdnf = ["systemd-container", "nftables", "curl"] }
}
require_capability "image" { image = %[1]q }

write_file_if_changed "helper" {
  path    = "${host.prefix}/bin/helper"
  mode    = "0755"
  content = "#!/bin/sh\necho helped >/run/helped\n"
}
download "tool" {
  url    = %[2]q
  sha256 = %[3]q
  path   = "${host.prefix}/bin/tool"
  mode   = "0755"
}
systemd_unit "helper.service" {
  content = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=${host.prefix}/bin/helper\nExecStart=${host.prefix}/bin/tool\n[Install]\nWantedBy=multi-user.target\n"
  enable  = true
  state   = "started"
}
restart_on_change "helper.service" { watch = [systemd_unit["helper.service"], write_file_if_changed.helper] }

nspawn_machine "kube1" {
  rootfs { image = %[1]q }
  settings {
    exec    = { PrivateUsers = "no" }
    network = { VirtualEthernet = "no" }
    files   = { BindReadOnly = ["${host.prefix}/bin:/opt/host"] }
  }
  before_boot {
    write_file_if_changed "ctr" {
      path    = "/usr/local/bin/ctr"
      mode    = "0755"
      content = file("ctr")
    }
    write_file_if_changed "archive" {
      path    = "/var/lib/images/pause.tar"
      content = "registry.example.com/pause:3.9\n"
    }
  }
  after_boot {
    container_import "pause" {
      path   = "/var/lib/images/pause.tar"
      images = ["registry.example.com/pause:3.9"]
    }
    command "host_program" {
      argv    = ["/opt/host/tool"]
      creates = "/run/tool-ran"
    }
  }
  ready { command = ["test", "-e", "/run/tool-ran"] }
}
`

// fakeCtr keeps the names that an archive holds, by namespace, as containerd
// would.
const fakeCtr = `#!/bin/sh
store=/var/lib/containerd-$2; mkdir -p $store
echo "$@" >>/var/lib/ctr-calls
case "$4" in
ls) cat $store/* 2>/dev/null ;;
import) cp "$5" $store/ ;;
esac
exit 0
`

// TestReadOnlyUsr: a host whose /usr is read-only and whose /tmp runs nothing,
// without a package manager, from preflight to a running machine, all below
// /opt/hostler, and back (H34, H35, H38, R166, R175–R180).
func TestReadOnlyUsr(t *testing.T) {
	t.Parallel()
	acl, err := os.ReadFile("../os-release/acl.os-release")
	if err != nil {
		t.Fatal(err)
	}
	s := settle(t, lab.Options{Variants: []lab.Variant{lab.NoPackageManager, lab.OSRelease(string(acl)), lab.ReadOnlyUsr, lab.NoexecTmp}})
	registry := lab.Registry(t)
	image := registry.PushImage("guest:1", imageOf(t, lab.GuestLayer(t), layerOf(t, entry{name: "etc/os-release", symbolic: "/usr/lib/os-release"})))
	tool := []byte("#!/bin/sh\ntouch /run/tool-ran\n")
	url := lab.Serve(t, &mirror{files: map[string][]byte{"/tool": tool}, cut: map[string]int{}, fails: map[string]int{}}) + "/tool"
	s.Push("/root/image/recipe.hcl", fmt.Appendf(nil, onImage, image, url, sum(tool)), 0o644)
	s.Push("/root/image/ctr", []byte(fakeCtr), 0o644)
	const recipe = "/root/image"
	before, opt := s.config(), s.sh("find /opt | sort")

	t.Run("H34 read-only install directory", func(t *testing.T) {
		says(t, expect(t, s.Host, 78, "preflight", recipe, "--prefix", "/usr/local"), "/usr/local/bin cannot be written: /usr is mounted read-only", "--prefix")
		s.sh("mkdir -p /mnt/ro && mount --bind /mnt/ro /mnt/ro && mount -o remount,bind,ro /mnt/ro")
		says(t, expect(t, s.Host, 78, "preflight", recipe, "--prefix", "/mnt/ro/hostler"), "/mnt/ro/hostler/bin cannot be written: /mnt/ro is mounted read-only")
		says(t, expect(t, s.Host, 78, "apply", recipe, "--prefix", "/tmp/hostler"), "nothing can be run from /tmp/hostler/bin: /tmp is mounted noexec")
		if there(s.Host, "/var/lib/hostler") {
			t.Error("a refusal wrote something")
		}
		s.sh("umount /mnt/ro; rmdir /mnt/ro")
	})
	t.Run("H35 absent install directory", func(t *testing.T) {
		expect(t, s.Host, 0, "preflight", recipe)
		if now := s.sh("find /opt | sort"); now != opt {
			t.Errorf("the probe left %s", now)
		}
	})
	t.Run("H38 to a running machine", func(t *testing.T) {
		s.must("apply", recipe)
		s.holds("it works", `test "$(cat /run/helped)" = helped; test -e /run/tool-ran; ! test -e /usr/local/bin/helper
			systemctl is-active --quiet helper.service`)
		says(t, string(s.Pull(recordFile)), `"prefix": "/opt/hostler"`)
		if s.machineLeader("kube1") == "" {
			t.Error("the machine does not run")
		}
	})
	t.Run("container_import", func(t *testing.T) {
		const root = "/var/lib/machines/kube1"
		calls := func() string { return string(s.Pull(root + "/var/lib/ctr-calls")) }
		says(t, calls(), "--namespace k8s.io images import /var/lib/images/pause.tar")
		if n := strings.Count(calls(), " import "); n != 1 {
			t.Errorf("imported %d times", n)
		}
		s.must("ensure")
		if n := strings.Count(calls(), " import "); n != 1 {
			t.Errorf("imported %d times after a second run", n)
		}
		s.sh("rm -r " + root + "/var/lib/containerd-k8s.io")
		s.must("ensure")
		if n := strings.Count(calls(), " import "); n != 2 {
			t.Errorf("imported %d times after containerd lost it", n)
		}
		s.sh("echo other >" + root + "/var/lib/images/other.tar; rm -r " + root + "/var/lib/containerd-k8s.io")
	})
	t.Run("reboot and reset", func(t *testing.T) {
		leader := s.machineLeader("kube1")
		s.Reboot()
		s.eventually("the machine runs again", func() bool { now := s.machineLeader("kube1"); return now != "" && now != leader })
		s.must("ensure")
		s.holds("it works", `test "$(cat /run/helped)" = helped`)
		s.must("reset")
		if now := s.sh("find /opt | sort"); now != opt {
			t.Errorf("the reset left %s", now)
		}
		if changes := lab.Changes(before, s.config()); len(changes) > 0 {
			t.Errorf("the reset left\n%s", strings.Join(changes, "\n"))
		}
	})
}
