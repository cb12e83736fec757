//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"hostler/testdata/lab"
)

const swapTable = "# /etc/fstab: static\n" +
	"/dev/root\t/\text4\tdefaults\t0 1\n" +
	"/var/swapfile none swap sw 0 0\n" +
	"\tUUID=0b7c-swap\tnone\tswap\tsw,pri=5\t0\t0\n" +
	"#/dev/old none swap sw 0 0\n" +
	"/srv/swap /srv/swap ext4 noauto 0 2"

// zramGenerator is what brings a zram device for swap on real systems.
const zramGenerator = `#!/bin/sh
cat >"$1/dev-zram0.swap" <<EOF
[Unit]
BindsTo=systemd-zram-setup@zram0.service
After=systemd-zram-setup@zram0.service
[Swap]
What=/dev/zram0
EOF
mkdir -p "$1/swap.target.wants"
ln -sf ../dev-zram0.swap "$1/swap.target.wants/"
`

// TestH44Swap: swapping is off, now and at every boot, by fstab, by units and by
// what makes zram devices; a second run changes nothing, and a reset brings all
// of it back. It does not run beside others: the kernel has one list of swap
// areas for all hosts.
func TestH44Swap(t *testing.T) {
	s := settle(t, lab.Options{Files: map[string]string{
		"/etc/fstab":                          swapTable,
		"/etc/systemd/system-generators/zram": zramGenerator,
		"/usr/lib/systemd/system/systemd-zram-setup@.service": "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/usr/bin/true\n",
		"/usr/lib/systemd/system/var-swapfile.swap":           "[Swap]\nWhat=/var/swapfile\n",
	}})
	s.sh("systemctl daemon-reload; dd if=/dev/zero of=/var/swapfile bs=4096 count=256 status=none && chmod 600 /var/swapfile && mkswap -q /var/swapfile && swapon -p 7 /var/swapfile")
	t.Cleanup(func() { s.Exec("swapoff", "/var/swapfile") })
	before := lab.Snapshot(t, s.Root()+"/etc")
	recipe := s.write("swap \"off\" {}\nrequire_capability \"none\" {\n no_swap = true\n severity = \"warning\"\n}\n")

	s.wantChanged(s.must("apply", recipe), "swap.off")
	const commented = "# /etc/fstab: static\n" +
		"/dev/root\t/\text4\tdefaults\t0 1\n" +
		"# /var/swapfile none swap sw 0 0\n" +
		"# \tUUID=0b7c-swap\tnone\tswap\tsw,pri=5\t0\t0\n" +
		"#/dev/old none swap sw 0 0\n" +
		"/srv/swap /srv/swap ext4 noauto 0 2"
	if got := string(s.Pull("/etc/fstab")); got != commented {
		t.Errorf("fstab is\n%s", got)
	}
	s.holds("off", `! grep -q swapfile /proc/swaps; systemctl daemon-reload
		test "$(systemctl show -P LoadState dev-zram0.swap)" = masked; test "$(systemctl show -P LoadState systemd-zram-setup@zram0.service)" = masked
		test "$(systemctl show -P LoadState var-swapfile.swap)" = masked`)
	s.Push("/root/fstab", []byte(swapTable), 0o644)
	s.sh("for f in $(find /var/lib/hostler -type f); do cmp -s $f /root/fstab && exit 0; done; exit 1") // the original is kept
	stood := stamps(t, s.Host, "/etc")
	s.wantChanged(s.must("apply", recipe))
	untouched(t, s.Host, stood, "/etc")

	s.sh("swapon /var/swapfile") // somebody turns it on again
	s.wantChanged(s.must("ensure"), "swap.off")
	s.Reboot()
	s.holds("after a reboot", "! grep -q swapfile /proc/swaps; test \"$(systemctl show -P LoadState dev-zram0.swap)\" = masked")
	s.wantChanged(s.must("ensure"))

	s.must("reset")
	if diff := lab.Changes(before, lab.Snapshot(t, s.Root()+"/etc")); len(diff) > 0 {
		t.Errorf("the reset leaves\n%s", strings.Join(diff, "\n"))
	}
	s.holds("on again, with its priority", "grep -Eq '^/var/swapfile .*[[:space:]]7$' /proc/swaps; test \"$(systemctl show -P LoadState dev-zram0.swap)\" = loaded")
}
