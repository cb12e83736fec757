//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostler/testdata/lab"
)

// repository makes packages and a source of them inside the host, and removes
// every other source: there is no network.
const repository = `set -e
rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /srv/repo
mkdir -p /srv/repo /srv/build
package() { # NAME [DEPENDS]
	d=/srv/build/$1; mkdir -p $d/DEBIAN $d/usr/bin
	printf 'Package: %s\nVersion: 1.0\nArchitecture: all\nMaintainer: Lab <lab@example.com>\nDepends: %s\nDescription: a tool\n' $1 "$2" >$d/DEBIAN/control
	sed -i '/^Depends: $/d' $d/DEBIAN/control
	printf '#!/bin/sh\necho %s\n' $1 >$d/usr/bin/$1; chmod 755 $d/usr/bin/$1
	dpkg-deb --root-owner-group -b $d /srv/repo/$1.deb >/dev/null
}
package demo-library; package demo-tool demo-library; package demo-other
cd /srv/repo
for f in *.deb; do dpkg-deb -f $f; echo "Filename: ./$f"; echo "Size: $(stat -c %s $f)"; echo "SHA256: $(sha256sum $f | cut -d' ' -f1)"; echo; done >Packages
echo 'deb [trusted=yes] file:/srv/repo ./' >/etc/apt/sources.list
`

// holdLock holds the lock of the package database, as unattended upgrades do,
// for some seconds. The layout is that of struct flock on 64 bits.
const holdLock = `use Fcntl;
open(my $lock, ">>", "/var/lib/dpkg/lock-frontend") or die;
my $l = pack("s s x4 q q i x4", F_WRLCK, 0, 0, 0, 0);
fcntl($lock, F_SETLK, $l) or die;
open(my $held, ">", "/run/locked"); close($held);
sleep 6;
`

const demoTool = `require_capability "tool" {
  executable = "demo-tool"
  packages   = { apt = "demo-tool", dnf = "demo-tool", tdnf = "demo-tool" }
}
`

// TestPackages is the table of how a host gets its tools, with Debian's own
// apt-get and dpkg and packages of our own (H04, R166–R173).
func TestPackages(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{})
	s.sh(repository)
	history := func() string { return s.sh("cat /var/log/apt/history.log 2>/dev/null; ls /var/lib/apt/lists; true") }
	part := func(name string, run func(s *site)) {
		t.Run(name, func(t *testing.T) {
			here := *s
			here.t = t
			run(&here)
		})
	}
	part("all there: nothing is run", func(s *site) {
		before := history()
		s.must("apply", s.write(strings.ReplaceAll(demoTool, `"demo-tool"`, `"sh"`)))
		if now := history(); now != before {
			s.t.Errorf("apt was run:\n%s", now)
		}
		s.must("reset")
	})
	part("image-managed: apt is there and not used", func(s *site) {
		before := history()
		s.osRelease("acl")
		recipe := s.write(demoTool)
		s.sh(`sed -i 's/id = "debian"/id = "azurelinux"/' ` + recipe)
		text := expect(s.t, s.Host, 78, "apply", recipe)
		says(s.t, text, "missing on this host: demo-tool", "image", "system extension")
		if strings.Contains(text, "apt") || strings.Contains(text, "package manager") || history() != before {
			s.t.Errorf("a package manager is asked for or was run:\n%s", text)
		}
		s.sh("ln -sf ../usr/lib/os-release /etc/os-release")
	})
	part("no package manager", func(s *site) {
		s.sh("mv /usr/bin/apt-get /usr/bin/apt-get.away")
		says(s.t, expect(s.t, s.Host, 78, "preflight", s.write(demoTool)), "missing on this host: demo-tool", "demo-tool (apt)")
		s.sh("mv /usr/bin/apt-get.away /usr/bin/apt-get")
	})
	part("apt installs what is missing, and waits for its lock", func(s *site) {
		recipe := s.write(demoTool)
		says(s.t, expect(s.t, s.Host, 0, "preflight", recipe), "apt-get installs demo-tool")
		s.Push("/root/upgrades", []byte(holdLock), 0o644)
		s.sh("systemd-run --quiet --unit=upgrades perl /root/upgrades")
		s.eventually("the lock is held", func() bool { return s.Exec("test", "-e", "/run/locked").Code == 0 })
		o := s.must("apply", recipe)
		s.wantChanged(o, "require_capability.tool")
		says(s.t, o.warnings(), "The package database is in use", "(perl)")
		s.holds("installed", `test "$(demo-tool)" = demo-tool; dpkg-query -W demo-library; ! dpkg-query -W demo-other`)
		s.wantChanged(s.must("apply", recipe))
		s.must("reset")
		s.holds("packages stay", "demo-tool")
	})
	part("H04 a tool that went between two attempts", func(s *site) {
		recipe := s.write(demoTool + "command \"late\" {\n argv = [\"test\", \"-e\", \"/root/late\"]\n unless = [\"test\", \"-e\", \"/root/late\"]\n}\n")
		if o := s.hostler("apply", recipe); o.Code != 1 || o.last().Phase != "installing" {
			s.t.Fatalf("the late step: %s", o)
		}
		s.MustExec("apt-get", "remove", "-y", "demo-tool")
		s.Push("/root/late", nil, 0o644)
		s.wantChanged(s.must("apply", recipe), "require_capability.tool")
		s.holds("again there", "demo-tool")
		s.must("reset")
	})
	part("C71 a held package is somebody's decision", func(s *site) {
		s.sh("apt-get remove -y -q demo-tool demo-library >/dev/null; apt-mark hold demo-library >/dev/null; echo 'Package: demo-library\nPin: release *\nPin-Priority: -1' >/etc/apt/preferences.d/held")
		o := s.hostler("apply", s.write(demoTool))
		if address, why := o.failed(); o.Code != 1 || address != "require_capability.tool" || !strings.Contains(why, "apt-get install -y --no-install-recommends demo-tool") {
			s.t.Errorf("a package that cannot be had: %s", o)
		}
		s.must("reset")
	})
}

// osRelease gives the host one of the fixtures.
func (s *site) osRelease(name string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "os-release", name+".os-release"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.sh("rm -f /etc/os-release")
	s.Push("/etc/os-release", text, 0o644)
}

// TestH39ImageManaged: what a host says of itself, with a package manager in it
// and a /usr that can be written, and on one that provably can install nothing.
func TestH39ImageManaged(t *testing.T) {
	t.Parallel()
	managed := func(s *site) bool {
		var facts struct {
			Host struct {
				ImageManaged bool `json:"image_managed"`
			}
			ImageManaged bool `json:"image_managed"`
		}
		if err := json.Unmarshal([]byte(s.MustExec(program, "facts", "--output", "json")), &facts); err != nil {
			s.t.Fatal(err)
		}
		return facts.ImageManaged || facts.Host.ImageManaged
	}
	plain := settle(t, lab.Options{})
	fixtures := map[string]bool{
		"acl": true, "acl-without-variant": true, "fedora-coreos": true,
		"azurelinux-3": false, "flatcar": false, "bluefin": false, "rocky-9": false, "unknown": false,
		"debian-12": false, "debian-13": false, "ubuntu-22.04": false, "ubuntu-24.04": false, "ubuntu-26.04": false,
	}
	for name, want := range fixtures {
		plain.osRelease(name)
		if got := managed(plain); got != want {
			t.Errorf("%s: image-managed is %v", name, got)
		}
	}
	plain.sh("rm /usr/bin/apt-get; rm -f /etc/os-release; ln -s nowhere /etc/os-release")
	if !managed(plain) {
		t.Error("a host without a package manager can install nothing")
	}
	plain.sh("mkdir -p /opt/bin && printf '#!/bin/sh\\n' >/usr/bin/apt-get && chmod 755 /usr/bin/apt-get && mount --bind /usr /usr && mount -o remount,bind,ro /usr")
	if !managed(plain) {
		t.Error("a host with a read-only /usr can install nothing, whatever lies in it")
	}
}
