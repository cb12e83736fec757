//go:build e2e

package lab

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestHostBootsAndRunsCommands(t *testing.T) {
	t.Parallel()
	h := Up(t, Options{Name: "first", Files: map[string]string{
		"/etc/motd":          "hello\n",
		"/opt/bin/greet":     "#!/bin/sh\necho greetings\n",
		"/etc/systemd/a.txt": "#",
	}})
	if got := h.MustExec("systemctl", "is-system-running"); got != "running" {
		t.Errorf("the host is %s", got)
	}
	if got := h.MustExec("hostname"); got != "first" {
		t.Errorf("host name %q", got)
	}
	if got := h.MustExec("/opt/bin/greet"); got != "greetings" {
		t.Errorf("a file of Options does not run: %q", got)
	}
	checkCommands(t, h)
	checkCopies(t, h)
	checkLimits(t, h)
}

func checkCommands(t *testing.T, h *Host) {
	t.Helper()
	for name, c := range map[string]struct {
		run  func(...string) Result
		argv []string
		want Result
	}{
		"code and both outputs": {h.Exec, []string{"sh", "-c", "echo out; echo err >&2; exit 7"}, Result{7, "out\n", "err\n"}},
		"signal":                {h.Exec, []string{"sh", "-c", "kill -9 $$"}, Result{137, "", ""}},
		"no quoting":            {h.Exec, []string{"printf", "%s|", "a b", "$HOME", "'"}, Result{0, "a b|$HOME|'|", ""}},
		"process 1 is systemd":  {h.Exec, []string{"cat", "/proc/1/comm"}, Result{0, "systemd\n", ""}},
		"unit: code and output": {h.Run, []string{"sh", "-c", "echo out; echo err >&2; exit 9"}, Result{9, "out\n", "err\n"}},
	} {
		if got := c.run(c.argv...); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	if got := h.ExecInput([]byte("in\n"), "cat"); got.Stdout != "in\n" {
		t.Errorf("standard input: %s", got)
	}
	if got := h.Run("cat", "/proc/self/cgroup"); !strings.Contains(got.Stdout, "/system.slice/run-") {
		t.Errorf("Run is not in a unit of its own: %s", got)
	}
}

func checkCopies(t *testing.T, h *Host) {
	t.Helper()
	h.MustExec("ln", "-s", "/srv/real", "/srv/link")
	h.Push("/srv/real/file", []byte("one\x00two"), 0o640)
	if got := h.Pull("/srv/link/file"); string(got) != "one\x00two" {
		t.Errorf("pulled %q", got)
	}
	if got := h.MustExec("stat", "-c", "%a %U", "/srv/real/file"); got != "640 root" {
		t.Errorf("mode and owner: %s", got)
	}
	h.MustExec("chown", "7:8", "/srv/real/file")
	there, back := t.TempDir(), t.TempDir()
	h.PullTree("/srv", there)
	h.PushTree("/srv/copy", there)
	h.PullTree("/srv/copy", back)
	if lines := Changes(Snapshot(t, there), Snapshot(t, back)); len(lines) > 0 {
		t.Errorf("there and back again: %q", lines)
	}
	if e := Snapshot(t, back)["real/file"]; e.UID != 7 || e.GID != 8 {
		t.Errorf("owner of a pulled tree: %+v", e)
	}
}

// checkLimits shows that resource limits of units hold in the host.
func checkLimits(t *testing.T, h *Host) {
	t.Helper()
	const forks = `for i in 1 2 3 4 5 6 7 8; do sleep 5 & done`
	limited := h.Exec("systemd-run", "--quiet", "--pipe", "--wait", "--collect", "-p", "TasksMax=4", "sh", "-c", forks)
	if !strings.Contains(strings.ToLower(limited.Stderr), "cannot fork") {
		t.Errorf("TasksMax= does not hold: %s", limited)
	}
}

func TestRebootAndPoweroffKeepIdentityAndJournal(t *testing.T) {
	t.Parallel()
	h := Up(t, Options{FirstBoot: true, Files: map[string]string{
		"/etc/systemd/system/first.service":        "[Unit]\nConditionFirstBoot=yes\n[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo ran >>/var/first'\n[Install]\nWantedBy=multi-user.target\n",
		"/etc/systemd/system-preset/00-lab.preset": "enable first.service\n",
	}})
	id, boot := h.MustExec("cat", "/etc/machine-id"), h.MustExec("cat", "/proc/sys/kernel/random/boot_id")
	if len(id) != 32 {
		t.Errorf("machine-id %q", id)
	}
	leader := h.Leader()
	h.Reboot()
	if got := h.MustExec("cat", "/etc/machine-id"); got != id {
		t.Errorf("machine-id was %s and is %s", id, got)
	}
	if h.Leader() == leader || h.MustExec("cat", "/proc/sys/kernel/random/boot_id") == boot {
		t.Error("that was no reboot")
	}
	boots := h.MustExec("journalctl", "--list-boots", "--no-pager")
	for _, id := range []string{boot, h.MustExec("cat", "/proc/sys/kernel/random/boot_id")} {
		if !strings.Contains(boots, strings.ReplaceAll(id, "-", "")) {
			t.Errorf("the journal does not have boot %s:\n%s", id, boots)
		}
	}
	if got := string(h.Pull("/var/first")); got != "ran\n" {
		t.Errorf("ConditionFirstBoot held %d times, not once", strings.Count(got, "\n"))
	}
	h.Poweroff()
	if h.Running() {
		t.Error("the host is on after poweroff")
	}
	h.Push("/etc/while-off", []byte("yes"), 0o600)
	h.Boot()
	if got := h.MustExec("cat", "/etc/while-off"); got != "yes" {
		t.Errorf("pushed while off: %q", got)
	}
	if !strings.Contains(h.Console(), "Reached target") {
		t.Errorf("the console has no boot messages:\n%s", tail(h.Console(), 20))
	}
}

func TestTwoHostsShareANetworkAndNothingElse(t *testing.T) {
	t.Parallel()
	a, b := Up(t, Options{Name: "a"}), Up(t, Options{Name: "b", Store: Overlay})
	if a.MustExec("cat", "/etc/machine-id") == b.MustExec("cat", "/etc/machine-id") {
		t.Error("both have the same machine-id")
	}
	a.Push("/etc/only-a", nil, 0o644)
	if got := b.Exec("test", "-e", "/etc/only-a"); got.Code != 1 {
		t.Error("files of one are seen in the other")
	}
	a.MustExec("sleep", "1")
	if got := a.Packets("eth0") + b.Packets("eth0"); got != 0 {
		t.Errorf("the kernel and systemd alone sent %d packets", got)
	}
	// A refused connection to a closed port of the other host is an answer.
	if got := a.Exec("curl", "-s", "-m", "5", "http://"+b.Address()+":9"); got.Code != 7 {
		t.Errorf("a does not reach b: %s", got)
	}
	if got := b.Packets("eth0"); got < 2 {
		t.Errorf("b sent %d packets", got)
	}
	for _, h := range []*Host{a, b} {
		if got := h.Exec("ip", "route", "get", "192.0.2.1"); got.Code == 0 {
			t.Errorf("there is a route out: %s", got)
		}
	}
}

func TestVariants(t *testing.T) {
	t.Parallel()
	all := []Variant{ReadOnlyUsr, NoexecTmp, NoPackageManager, NoSystemdContainer, NoNft, OSRelease("ID=odd\nVERSION_ID=7\n")}
	const usr, tmp = "touch /usr/x", "printf '#!/bin/sh\n' >/tmp/x; chmod +x /tmp/x; exec /tmp/x"
	const pkg, nspawn, nft = "command -v apt-get || command -v dpkg || ls /var/lib/dpkg", "command -v systemd-nspawn || command -v machinectl", "command -v nft"
	checks := map[Variant]struct {
		command string
		fails   bool // with the variant; without, the opposite
	}{
		ReadOnlyUsr: {usr, true}, NoexecTmp: {tmp, true}, NoPackageManager: {pkg, true}, NoSystemdContainer: {nspawn, true},
		NoNft: {nft, true}, all[5]: {". /etc/os-release && test $ID$VERSION_ID = odd7", false},
	}
	for _, c := range []struct {
		name     string
		variants []Variant
	}{{"none", nil}, {"files", []Variant{NoexecTmp, NoPackageManager}}, {"read-only", []Variant{ReadOnlyUsr}}, {"all", all}} {
		t.Run(c.name, func(t *testing.T) {
			h := Up(t, Options{Store: Overlay, Variants: c.variants})
			if got := h.MustExec("systemctl", "is-system-running"); got != "running" {
				t.Errorf("the host is %s", got)
			}
			for _, v := range all {
				check := checks[v]
				want := check.fails == slices.Contains(c.variants, v)
				if got := h.Exec("sh", "-c", check.command); (got.Code != 0) != want {
					t.Errorf("%.20q: %s: %s", v, check.command, got)
				}
			}
		})
	}
}

func TestMachineBootsInsideAHost(t *testing.T) {
	t.Parallel()
	h := Up(t, Options{Nspawn: []string{"--setenv=LAB_TEST=1"}})
	if got := h.MustExec("cat", "/proc/1/environ"); !strings.Contains(got, "LAB_TEST=1") {
		t.Errorf("an argument to nspawn got lost: %q", got)
	}
	h.Machine("guest")
	h.MustExec("systemctl", "start", "systemd-nspawn@guest.service")
	var got Result
	err := await("the machine's bus", time.Minute, func() (bool, error) {
		got = h.Exec("systemd-run", "-M", "guest", "--quiet", "--pipe", "--wait", "cat", "/proc/1/comm")
		return got.Code == 0, nil
	})
	if err != nil || got.Stdout != "systemd\n" {
		t.Errorf("in the machine process 1 is %s: %v", got, err)
	}
	h.Crash()
	if h.Running() {
		t.Error("the host is on after a crash")
	}
}
