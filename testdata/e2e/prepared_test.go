//go:build e2e

package e2e

import (
	"os"
	"strings"
	"testing"

	"hostler/testdata/lab"
)

const prepared = "/root/prepared"

// unpreparedFiles are what the host has before us.
func unpreparedFiles() map[string]string {
	files := map[string]string{
		"/etc/docker/daemon.json":                "{\n  \"log-driver\": \"journald\",\n  \"iptables\": true,\n  \"mtu\": 1400\n}\n",
		"/etc/login.defs":                        "# policy\nENCRYPT_METHOD SHA512\n#ENCRYPT_METHOD DES\nUMASK\t\t022\nPASS_MAX_DAYS 99999",
		"/etc/sysctl.d/10-before.conf":           "net.ipv4.conf.all.rp_filter = 1\n",
		"/usr/lib/systemd/system/docker.socket":  "[Socket]\nListenStream=/run/docker.sock\n[Install]\nWantedBy=sockets.target\n",
		"/usr/lib/systemd/system/docker.service": "[Unit]\nRequires=docker.socket\n[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n",
	}
	for _, name := range []string{"containerd", "kubelet"} {
		files["/usr/lib/systemd/system/"+name+".service"] = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
	}
	return files
}

// liveScript prints what is in force and in no file that is compared.
const liveScript = `
for u in docker.socket docker.service containerd.service kubelet.service; do
	systemctl show $u --property=Id,ActiveState,UnitFileState
done
sysctl net.ipv4.ip_forward net.ipv4.conf.all.rp_filter net.ipv6.conf.all.forwarding net.ipv4.conf.all.src_valid_mark net.ipv4.ping_group_range
ip -o link | cut -d: -f2 | cut -d@ -f1 | sort
for family in -4 -6; do
	ip $family rule
	ip $family route show table 12346 2>/dev/null
	ip $family route show table 12345 2>/dev/null
	ip $family route show table 51850 2>/dev/null
done
grep -E ' (tmpfs|bpf) ' /proc/self/mounts | cut -d' ' -f2 | sort
ls -d /run/agent /run/bpffs /run/bpffs/* /var/scratch /var/lib/agent /etc/credstore* 2>/dev/null
exit 0
`

// TestPreparedHost: every block that changes more than files does so on a
// running host, keeps it so over drift and a reboot, and a reset gives the host
// back as it was found: units that ran run, kernel parameters have the values
// they had, files the bytes they had.
func TestPreparedHost(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{Files: unpreparedFiles(), Nspawn: []string{"--bind-ro=/sys/module"}}) // which nspawn leaves out
	s.recipe("recipes/prepared")
	s.Push("/root/token/token", []byte("s3cret-canary"), 0o600)
	s.MustExec("systemctl", "enable", "--now", "--quiet", "docker.socket", "docker.service", "containerd.service")
	s.sh("sysctl -q -w net.ipv4.ip_forward=0 net.ipv4.conf.all.rp_filter=2 net.ipv6.conf.all.forwarding=0")
	s.sh(`ip link add theirs type bridge && ip link set theirs up && ip address add 192.0.2.7/24 dev theirs
		ip rule add priority 200 table 12345 from 192.0.2.0/24; ip -6 rule add priority 200 table 12345
		ip route add 198.51.100.0/24 dev theirs table 12345; ip -6 route add fd00:12::/64 dev theirs table 12345
		ip rule add priority 300 table 12346; ip -6 rule add priority 301 table 12346 from fd00:2::/64
		ip route add 203.0.113.0/24 dev theirs table 12346 metric 7; ip -6 route add unreachable fd00:13::/64 table 12346`)
	// Beside their files, the programs that keep accounts keep the last version.
	skip := []string{"passwd-", "shadow-", "group-", "gshadow-"}
	files, live := lab.Snapshot(t, s.Root()+"/etc", skip...), s.sh(liveScript)

	part := func(name string, run func(s *site)) {
		t.Run(name, func(t *testing.T) {
			here := *s
			here.t = t
			run(&here)
		})
	}
	s.prepare("apply")
	part("effects", (*site).preparedEffects)
	part("again", func(s *site) {
		before := stamps(s.t, s.Host, "/etc", "/var/lib/hostler")
		s.wantChanged(s.prepare("apply"))
		s.wantChanged(s.must("ensure"))
		untouched(s.t, s.Host, before, "/etc", "/var/lib/hostler")
	})
	part("H03 drift", (*site).preparedDrift)
	part("H45 daemon.json", (*site).preparedMerge)
	part("after a reboot", (*site).preparedReboot)
	part("reset", func(s *site) {
		s.must("reset")
		s.holds("after the reset", "! test -e /var/lib/hostler; ! grep -q agent /etc/passwd")
		if now := s.sh(liveScript); now != live {
			s.t.Errorf("in force is\n%s\nand was\n%s", now, live)
		}
	})
	if diff := lab.Changes(files, lab.Snapshot(t, s.Root()+"/etc", skip...)); len(diff) > 0 {
		t.Errorf("the reset leaves in /etc\n%s", strings.Join(diff, "\n"))
	}
}

// prepare runs the recipe with its secret.
func (s *site) prepare(verb string) outcome {
	s.t.Helper()
	res := s.Exec("env", "CREDENTIALS_DIRECTORY=/root/token", program, verb, prepared, "--output", "json")
	o := eventsOf(s.t, res)
	if o.Code != 0 {
		s.t.Fatalf("hostler %s: %s", verb, o)
	}
	if strings.Contains(o.Stdout+o.Stderr, "s3cret-canary") {
		s.t.Error("the secret is shown")
	}
	return o
}

func (s *site) preparedEffects() {
	for _, unit := range []string{"docker.socket", "docker.service", "containerd.service", "kubelet.service"} {
		s.holds("units", `test "$(systemctl show -P ActiveState `+unit+`)" = inactive; test "$(systemctl show -P UnitFileState `+unit+`)" = masked`)
	}
	s.holds("kernel parameters", `test "$(sysctl -n net.ipv4.ip_forward net.ipv4.conf.all.rp_filter net.ipv6.conf.all.forwarding | tr '\n' ' ')" = "1 0 1 "
		test "$(cat /proc/sys/net/ipv4/ping_group_range)" = "$(printf '0\t1000')"`)
	s.holds("lines", `test "$(cat /etc/login.defs)" = "$(printf '# policy\n# ENCRYPT_METHOD SHA512\n#ENCRYPT_METHOD DES\nUMASK  027\nPASS_MAX_DAYS 99999\nFAIL_DELAY 5')"`)
	s.holds("accounts", `id -nG agent | grep -qw metrics; id -nG agent | grep -qw adm; test "$(stat -c %U:%G /var/lib/agent)" = agent:metrics`)
	s.holds("tmpfiles", `test "$(stat -c '%a %U:%G' /run/agent)" = "750 agent:metrics"; test "$(readlink /run/agent/config)" = /etc/agent`)
	s.holds("credential", `! grep -rq s3cret-canary /etc/credstore.encrypted /var/lib/hostler
		test "$(stat -c %a /etc/credstore.encrypted/registry-token)" = 600
		test "$(systemd-run --quiet --pipe --wait --property=LoadCredentialEncrypted=registry-token sh -c 'cat $CREDENTIALS_DIRECTORY/registry-token')" = s3cret-canary`)
	s.holds("mounts", `grep -q ' /var/scratch tmpfs .*nosuid.*size=1024k' /proc/self/mounts; grep -q ' /run/bpffs/kube1 bpf ' /proc/self/mounts
		systemctl is-enabled --quiet var-scratch.mount; systemctl is-active --quiet run-bpffs-kube1.mount`)
	s.holds("links", `ip -o address show localdns | grep -q 169.254.10.10/32; ip -o address show localdns | grep -q fd00:10::1/128; ip -o link show localdns | grep -q 'UP'`)
	s.holds("rules and routes", `ip -4 rule | grep -q '^100:.*fwmark 0x100/0xff00.*51850'; ip -6 rule | grep -q '^100:.*fwmark 0x100/0xff00.*51850'
		ip -4 route show table 51850 | grep -q '10.244.0.0/16 dev localdns'; ip -4 route show table 51850 | grep -q 'unreachable 10.245.0.0/16'
		ip -6 route show table 51850 | grep -q 'fd00:244::/64 dev localdns'
		! ip -4 rule | grep -q 12346; ! ip -6 rule | grep -q 12346; test -z "$(ip -4 route show table 12346 2>/dev/null)$(ip -6 route show table 12346 2>/dev/null)"
		ip -4 rule | grep -q 12345; ip -6 route show table 12345 | grep -q fd00:12::`)
}

// preparedDrift: what was changed behind our back is put right, and nothing
// else is touched.
func (s *site) preparedDrift() {
	s.sh(`sysctl -q -w net.ipv4.ip_forward=0; ip link del localdns; umount /var/scratch; ip -6 rule del priority 100
		rm /etc/credstore.encrypted/registry-token; rmdir /run/agent/config 2>/dev/null || rm /run/agent/config; chmod 0755 /run/agent
		gpasswd -q -d agent adm >/dev/null 2>&1 || sed -i '/^adm:/s/agent//' /etc/group /etc/gshadow
		systemctl unmask --quiet kubelet.service; systemctl start kubelet.service`)
	type drifted struct {
		Drift []struct{ Thing string }
	}
	status, code := document[drifted](s, "status")
	var things []string
	for _, d := range status.Drift {
		things = append(things, d.Thing)
	}
	says(s.t, strings.Join(things, "\n"), "sysctl:net.ipv4.ip_forward", "link:localdns", "unit-active:var-scratch.mount", "unit-active:kubelet.service", "ip-rule:ipv6 priority 100")
	if verify := s.Exec(program, "verify"); code != 0 || verify.Code != 2 {
		s.t.Errorf("status ends with %d, verify: %s", code, verify)
	}
	s.wantChanged(s.prepare("ensure"), `systemd_unit.conflicting["kubelet.service"]`, "sysctl.kubernetes", "accounts.agent", "tmpfiles.agent", "credential.registry-token",
		"mount.scratch", "network_link.localdns", "ip_rule.marked", "ip_route.four", "ip_route.six")
	s.preparedEffects()
}

// preparedMerge: keys of others are kept and can be changed; what is no JSON is
// an error and stays.
func (s *site) preparedMerge() {
	s.holds("merged", `test "$(tr -d ' \n' </etc/docker/daemon.json)" = '{"log-driver":"journald","iptables":false,"mtu":1400}'`)
	theirs := s.Pull("/etc/docker/daemon.json")
	s.Push("/etc/docker/daemon.json", []byte("{ no json"), 0o644)
	o := s.hostler("ensure")
	if address, why := o.failed(); o.Code != 1 || address != "write_file_if_changed.docker" || !strings.Contains(why, "/etc/docker/daemon.json") {
		s.t.Errorf("broken JSON: %s", o)
	}
	if got := string(s.Pull("/etc/docker/daemon.json")); got != "{ no json" {
		s.t.Errorf("it was overwritten with %q", got)
	}
	s.Push("/etc/docker/daemon.json", theirs, os.FileMode(0o644))
	s.wantChanged(s.must("ensure"))
}

// preparedReboot: what systemd brings back is back, and what no file can keep
// is made again by the run at boot.
func (s *site) preparedReboot() {
	s.Reboot()
	s.holds("brought back by systemd", `test "$(sysctl -n net.ipv4.ip_forward)" = 1; grep -q ' /var/scratch tmpfs ' /proc/self/mounts
		test "$(stat -c '%a %U:%G' /run/agent)" = "750 agent:metrics"; test "$(systemctl show -P ActiveState docker.service)" = inactive`)
	s.must("ensure")
	s.wantChanged(s.must("ensure"))
	s.preparedEffects()
}
