//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"hostler/testdata/lab"
)

// boxRecipe is a machine and what a reset has to do around it.
const boxRecipe = `
recipe "box" {
  language = 1
  version  = "1.0.0"
  supports "debian" { id = "debian" }
  fingerprint = fingerprint({})
}
reset_step "rules" {
  delete_nft_table {
    name         = "box"
    missing_tool = "absent"
  }
}
write_file_if_changed "a" {
  path    = "/etc/box/a"
  content = "a\n"
}
nspawn_machine "box" {
  rootfs { image = "oci-layout:/srv/image" }
  settings {
    exec    = { PrivateUsers = "no" }
    network = { VirtualEthernet = "no" }
  }
}
write_file_if_changed "b" {
  path    = "/etc/box/b"
  content = "b\n"
}
`

const (
	box     = "/srv/box.hcl"
	boxTree = "/var/lib/machines/box"
)

// boxHost is a host on which the machine runs.
func boxHost(t *testing.T) *lab.Host {
	t.Helper()
	t.Parallel()
	h := up(t, lab.Options{Files: map[string]string{box: boxRecipe}})
	h.PushTree("/srv/image", smallMachine(t))
	expect(t, h, 0, "apply", box)
	return h
}

// boxGone fails the test if something of the machine is left.
func boxGone(t *testing.T, h *lab.Host) {
	t.Helper()
	for _, name := range []string{boxTree, "/etc/systemd/nspawn/box.nspawn", "/etc/systemd/system/systemd-nspawn@box.service.d", "/etc/box", "/var/lib/hostler"} {
		if there(h, name) {
			t.Errorf("%s is left", name)
		}
	}
	if state := h.Exec("systemctl", "is-enabled", "systemd-nspawn@box.service").Stdout; strings.TrimSpace(state) != "disabled" { // R142
		t.Errorf("the machine's unit is %s", state)
	}
}

// TestH26MissingTools: that nft and machined are not installed proves that
// nothing of theirs is there. R126.
func TestH26MissingTools(t *testing.T) {
	h := boxHost(t)
	h.MustExec("systemctl", "stop", "systemd-nspawn@box.service")
	h.MustExec("systemctl", "stop", "systemd-machined.service")
	h.MustExec("sh", "-c", `cd / && rm usr/sbin/nft usr/bin/machinectl usr/lib/systemd/systemd-machined usr/lib/systemd/system/systemd-machined.service \
		usr/lib/systemd/system/dbus-org.freedesktop.machine1.service usr/share/dbus-1/system-services/org.freedesktop.machine1.service`)
	h.MustExec("systemctl", "daemon-reload")
	h.MustExec("systemctl", "reload", "dbus.service")
	expect(t, h, 0, "reset")
	boxGone(t, h)
}

// TestH27FailingTools: tools that are there and fail prove nothing: the reset
// fails, says so, and is finished when they work again. R119, R120, R127.
func TestH27FailingTools(t *testing.T) {
	h := boxHost(t)
	h.MustExec("sh", "-c", `mv /usr/sbin/nft /usr/sbin/nft.real && printf '#!/bin/sh\necho broken tool >&2\nexit 1\n' >/usr/sbin/nft && chmod +x /usr/sbin/nft`)
	h.MustExec("systemctl", "mask", "--runtime", "--now", "systemd-machined.service")
	expect(t, h, 1, "reset")
	if phase := phaseOf(t, h); phase != "resetting" {
		t.Errorf("phase %s", phase)
	}
	if !there(h, boxTree) { // R130: whether it runs cannot be told
		t.Error("the tree is gone although machined does not answer")
	}
	says(t, expect(t, h, 73, "ensure", box), "reset")
	h.MustExec("systemctl", "unmask", "--runtime", "systemd-machined.service")
	says(t, expect(t, h, 1, "reset"), "broken tool")
	if phase := phaseOf(t, h); phase != "resetting" {
		t.Errorf("phase %s", phase)
	}
	h.MustExec("mv", "/usr/sbin/nft.real", "/usr/sbin/nft")
	expect(t, h, 0, "reset")
	boxGone(t, h)
}

// TestH28DisableFailure: links that cannot be removed matter only while they
// are there. R128, R129.
func TestH28DisableFailure(t *testing.T) {
	h := boxHost(t)
	const wants = "/etc/systemd/system/multi-user.target.wants"
	freeze := func() { h.MustExec("sh", "-c", "mount --bind "+wants+" "+wants+" && mount -o remount,bind,ro "+wants) }
	freeze()
	says(t, expect(t, h, 1, "reset"), wants, "read-only")
	if phase := phaseOf(t, h); phase != "resetting" {
		t.Errorf("phase %s", phase)
	}
	if !there(h, boxTree) {
		t.Error("the tree of a machine that starts at boot is gone")
	}
	h.MustExec("umount", wants)
	h.MustExec("systemctl", "disable", "systemd-nspawn@box.service")
	freeze()
	expect(t, h, 0, "reset")
	h.MustExec("umount", wants)
	boxGone(t, h)
}

// TestH28MaskedMachine: somebody has masked the machine's unit, which cannot
// start at boot then. That stands in no reset's way, and the unit ends as it was
// before us. R128, R142.
func TestH28MaskedMachine(t *testing.T) {
	h := boxHost(t)
	h.MustExec("systemctl", "mask", "systemd-nspawn@box.service")
	expect(t, h, 0, "reset")
	boxGone(t, h)
}

// TestH29BusyMachine: a mount below the machine's tree keeps the tree, and what
// is mounted, until it is gone; the rest of the reset has been done. R130.
// TestC78MountBelowTree is the same from the field.
func TestH29BusyMachine(t *testing.T) { busyMount(t, boxTree+"/mnt") }

// TestC78MountBelowTree: see TestH29BusyMachine; here an open file keeps the
// mount busy.
func TestC78MountBelowTree(t *testing.T) { busyMount(t, boxTree+"/root") }

func busyMount(t *testing.T, dir string) {
	h := boxHost(t)
	h.MustExec("sh", "-c", "mkdir -p /srv/data "+dir+" && echo marker >/srv/data/marker && mount --bind /srv/data "+dir)
	h.MustExec("systemd-run", "--unit=holder", "--working-directory="+dir, "tail", "-f", dir+"/marker")
	says(t, expect(t, h, 1, "reset"), dir)
	if got := string(h.Pull("/srv/data/marker")); got != "marker\n" {
		t.Fatalf("the marker is %q", got)
	}
	if phase := phaseOf(t, h); phase != "resetting" {
		t.Errorf("phase %s", phase)
	}
	expect(t, h, 1, "reset") // it is the same the second time
	h.MustExec("systemctl", "stop", "holder.service")
	h.MustExec("umount", dir)
	expect(t, h, 0, "reset")
	boxGone(t, h)
	if got := string(h.Pull("/srv/data/marker")); got != "marker\n" {
		t.Errorf("the marker is %q", got)
	}
}

// TestH33ResetTwice: nothing is left to reset, which is no fault.
func TestH33ResetTwice(t *testing.T) {
	h := installed(t, lab.Options{Store: lab.Overlay})
	expect(t, h, 0, "reset")
	expect(t, h, 0, "reset")
	expect(t, h, 0, "reset", owned)
}

// TestH36OtherPrefix: what an installation with another prefix has left is seen
// before a new one, and goes with a reset. R139, R140, R141.
func TestH36OtherPrefix(t *testing.T) {
	h := ownedHost(t, lab.Options{Store: lab.Overlay})
	before := lab.Snapshot(t, h.Root()+"/etc")
	expect(t, h, 0, "apply", owned, "--prefix", "/opt/other")
	says(t, string(h.Pull(recordFile)), `"prefix": "/opt/other"`)
	if !there(h, "/opt/other/bin/owned-tool") || there(h, "/usr/local/bin/owned-tool") {
		t.Fatal("the prefix is not used")
	}
	h.MustExec("rm", recordFile)
	says(t, expect(t, h, 73, "apply", owned), "/opt/other/bin/owned-tool", "hostler reset")
	expect(t, h, 0, "reset")
	if there(h, "/opt/other/bin/owned-tool") || there(h, "/usr/local/bin/owned-tool") || there(h, "/var/lib/hostler") {
		t.Error("something is left")
	}
	if diff := lab.Changes(before, lab.Snapshot(t, h.Root()+"/etc")); len(diff) > 0 {
		t.Errorf("after the reset: %q", diff)
	}
	expect(t, h, 0, "apply", owned)
}

// TestH37ReadOnlySweep: nothing of ours is below a prefix that has become
// read-only, so that is in no reset's way.
func TestH37ReadOnlySweep(t *testing.T) {
	h := installed(t, lab.Options{})
	h.MustExec("rm", "/usr/local/bin/owned-tool")
	h.MustExec("sh", "-c", "mount --bind /usr/local /usr/local && mount -o remount,bind,ro /usr/local")
	expect(t, h, 0, "reset")
	if there(h, "/var/lib/hostler") {
		t.Error("the record is left")
	}
}

// TestC80NotAllGoes: what somebody has removed already is done, what cannot be
// removed is an error, a unit that runs without its file is stopped, and the
// second reset finishes.
func TestC80NotAllGoes(t *testing.T) {
	h := installed(t, lab.Options{})
	h.MustExec("rm", "/usr/local/bin/owned-tool", "/etc/systemd/system/owned.service")
	h.MustExec("sh", "-c", "mount --bind /etc/owned /etc/owned && mount -o remount,bind,ro /etc/owned")
	says(t, expect(t, h, 1, "reset"), "/etc/owned/config", "read-only")
	if phase := phaseOf(t, h); phase != "resetting" {
		t.Errorf("phase %s", phase)
	}
	if h.Exec("systemctl", "is-active", "--quiet", "owned.service").Code == 0 {
		t.Error("the unit without a file still runs")
	}
	h.MustExec("umount", "/etc/owned")
	expect(t, h, 0, "reset")
	if there(h, "/etc/owned") || there(h, "/var/lib/hostler") || string(h.Pull("/etc/motd")) == "owned\n" {
		t.Error("something is left")
	}
}
