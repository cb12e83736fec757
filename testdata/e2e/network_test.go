//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"hostler/testdata/lab"
)

// leavings is what a machine may leave in the host's network.
const leavings = `reset_step "leavings" {
  delete_rules { tables = "51820-51899" }
  flush_routes { tables = "51820-51899" }
  delete_link {
    name_range = "wg51820-51822"
    kind       = "bridge"
  }
  delete_link {
    name = "localdns"
    kind = "bridge"
  }
  unmount { path = "/run/bpffs/kube1" }
  remove_path { path = "/run/bpffs/kube1" }
}
write_file_if_changed "f" {
  path    = "/etc/demo.conf"
  content = "x"
}
`

// TestNetworkLeftToReset: a reset takes the routes, rules, links and mounts that
// are ours by name and number, of both families, and nothing else; a link that
// is called as ours and is of another kind is an error (H30, H31, H32).
func TestNetworkLeftToReset(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{})
	s.must("apply", s.write(leavings))
	s.sh(`ip link add wg0 type bridge; ip link add wg51820 type bridge; ip link add wg51823 type bridge; ip link add localdns type veth peer name other
		ip link set wg0 up; ip link set wg51820 up
		for f in -4 -6; do ip $f rule add priority 100 table 51850; ip $f rule add priority 101 table 12345; done
		ip route add 192.0.2.0/24 dev wg0 table 51850; ip route add 192.0.2.0/24 dev wg0 table 12345
		ip -6 route add fd00:1::/64 dev wg0 table 51850; ip -6 route add fd00:1::/64 dev wg0 table 12345
		mkdir -p /run/bpffs/kube1 /run/bpffs/other && mount -t bpf bpf /run/bpffs/kube1 && mount -t bpf bpf /run/bpffs/other`)

	t.Run("H31 a link of another kind", func(t *testing.T) {
		o := s.hostler("reset")
		if o.Code != 1 || !strings.Contains(o.Stdout+o.Stderr, "localdns") || !strings.Contains(o.Stdout+o.Stderr, "veth") {
			t.Errorf("reset: %s", o)
		}
		s.holds("kept", "ip link show localdns; ip link show wg0")
		if phase := phaseOf(t, s.Host); phase != "resetting" {
			t.Errorf("phase %s", phase)
		}
		s.sh("ip link del localdns; ip link add localdns type bridge")
	})
	s.must("reset")
	t.Run("H30 routes and rules", func(t *testing.T) {
		s.holds("ours are gone", `! ip -4 rule | grep -q 51850; ! ip -6 rule | grep -q 51850
			test -z "$(ip -4 route show table 51850 2>/dev/null)$(ip -6 route show table 51850 2>/dev/null)"`)
		s.holds("others stay", `ip -4 rule | grep -q 12345; ip -6 rule | grep -q 12345; ip -4 route show table 12345 | grep -q 192.0.2.0; ip -6 route show table 12345 | grep -q fd00:1::`)
	})
	t.Run("H31 links", func(t *testing.T) {
		s.holds("links", "ip link show wg0; ip link show wg51823; ! ip link show wg51820; ! ip link show localdns")
	})
	t.Run("H32 bpffs", func(t *testing.T) {
		s.holds("mounts", "! test -e /run/bpffs/kube1; grep -q ' /run/bpffs/other bpf ' /proc/self/mounts; ! test -e /var/lib/hostler")
	})
}

// TestH40FirewallOrdering: a host firewall that drops what comes in is loaded at
// boot before our ruleset, and that before the machine: after a reboot the
// machine's port can be reached from outside, which a ready machine does not
// prove. The guard keeps the rules of a running machine.
func TestH40FirewallOrdering(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{Files: map[string]string{
		"/etc/nftables.conf": "#!/usr/sbin/nft -f\nflush ruleset\ntable inet filter {\n chain input { type filter hook input priority filter; policy drop; iif lo accept; }\n}\n",
	}})
	s.Machine(machine)
	s.Push("/var/lib/machines/kube1/usr/lib/systemd/system/port.socket", []byte("[Socket]\nListenStream=10250\nAccept=yes\n"), 0o644)
	s.Push("/var/lib/machines/kube1/usr/lib/systemd/system/port@.service", []byte("[Service]\nExecStart=/bin/echo answered\nStandardOutput=socket\n"), 0o644)
	s.Push("/var/lib/machines/kube1/usr/lib/systemd/system/sockets.target.d/port.conf", []byte("[Unit]\nWants=port.socket\n"), 0o644)
	s.Push("/etc/systemd/nspawn/kube1.nspawn", []byte("[Network]\nVirtualEthernet=no\n[Exec]\nPrivateUsers=no\n"), 0o644)
	s.MustExec("systemctl", "enable", "--quiet", "nftables.service", "systemd-nspawn@kube1.service")
	s.must("apply", s.write(`nft_ruleset "flush" {
  path     = "/etc/hostler/flush.nft"
  content  = "flush ruleset\n"
  machines = ["kube1"]
}
`))
	answers := func() bool {
		conn, err := lab.Dial(t, s.Address()+":10250")
		if err != nil {
			return false
		}
		defer conn.Close()
		text, _ := io.ReadAll(conn)
		return string(text) == "answered\n"
	}
	s.Reboot()
	s.eventually("the machine runs", func() bool { return s.machineLeader(machine) != "" })
	s.eventually("its port answers from outside", answers)
	began := map[string]string{}
	for _, unit := range []string{"nftables.service", "hostler-nft-flush.service", "systemd-nspawn@kube1.service"} {
		began[unit] = fmt.Sprintf("%020s", s.show("", unit)["ExecMainStartTimestampMonotonic"])
	}
	if began["nftables.service"] >= began["hostler-nft-flush.service"] || began["hostler-nft-flush.service"] >= began["systemd-nspawn@kube1.service"] {
		t.Errorf("they started at %v", began)
	}

	// While it runs its rules stay, whatever starts the unit, and a ruleset that
	// nft refuses changes nothing.
	s.sh("nft add table ip kube; systemctl start hostler-nft-flush.service; nft list table ip kube")
	flush := "nft_ruleset \"flush\" {\n path = \"/etc/hostler/flush.nft\"\n machines = [\"kube1\"]\n content = %q\n}\n"
	o := s.must("apply", s.write(fmt.Sprintf(flush, "flush ruleset\nadd table ip ours\n")))
	says(t, o.warnings(), "are not loaded", "kube1")
	s.holds("kept", "nft list table ip kube; ! nft list table ip ours")
	if o := s.hostler("apply", s.write(fmt.Sprintf(flush, "flush rulesets\n"))); o.Code != 1 || !strings.Contains(o.Stdout, "nft refuses the ruleset") {
		t.Errorf("a ruleset with an error: %s", o)
	}
	s.holds("as before", "grep -q 'add table ip ours' /etc/hostler/flush.nft")
	s.must("reset")
	s.holds("reset", "! test -e /etc/hostler; ! systemctl cat hostler-nft-flush.service; nft list table ip kube")
}
