//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostler/testdata/lab"
)

// residentRecipe is a host with the interpreter installed below /opt, where the
// tests deliver it.
const residentRecipe = `write_file_if_changed "f" {
  path    = "/etc/demo.conf"
  content = "one\n"
}
systemd_unit "demo.service" {
  content = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
  enable  = true
  state   = "started"
  restart = "never"
}
interpreter_install "hostler" {
  first_boot_unit = false
}
`

const (
	daemonUnit   = "hostler-daemon.service"
	recoveryUnit = "hostler-recovery.service"
	bootUnit     = "hostler-boot.service"
)

// resident is a host whose installation is complete and whose daemon runs.
func resident(t *testing.T, steps string) *site {
	t.Helper()
	t.Parallel()
	s := settle(t, lab.Options{Store: lab.Overlay})
	s.must("apply", s.write(steps), "--prefix", "/opt")
	s.daemonRuns("apply")
	return s
}

func (s *site) daemonRuns(when string) {
	s.t.Helper()
	if p := s.show("", daemonUnit); p["ActiveState"] != "active" {
		s.t.Errorf("%s: the daemon is %s, result %s\n%s", when, p["ActiveState"], p["Result"], s.log(daemonUnit))
	}
}

func (s *site) log(unit string) string { return s.sh("journalctl -u " + unit + " -o cat --no-pager") }

// phase puts the record into a phase.
func (s *site) phase(from, to string) {
	s.t.Helper()
	s.sh(`sed -i 's/"phase": "` + from + `"/"phase": "` + to + `"/' /var/lib/hostler/record.json; grep -q '"phase": "` + to + `"' /var/lib/hostler/record.json`)
}

// stoodDown holds that the daemon stood down, which is no failure: R106, R107.
func (s *site) stoodDown(when string) {
	s.t.Helper()
	s.eventually(when+": the daemon has ended", func() bool { return s.show("", daemonUnit)["ActiveState"] != "active" })
	p := s.show("", daemonUnit)
	for name, want := range map[string]string{"ActiveState": "inactive", "Result": "success", "NRestarts": "0", "ExecMainStatus": "69"} {
		if p[name] != want {
			s.t.Errorf("%s: %s is %q, want %q", when, name, p[name], want)
		}
	}
	if p := s.show("", recoveryUnit); p["ConditionTimestampMonotonic"] != "0" {
		s.t.Errorf("%s: the recovery unit ran", when)
	}
}

// TestH16DaemonStandsDown and H18: while an installation is unfinished the
// daemon stands down with one warning; a start limit that was used up does not
// hinder the run that finishes it.
func TestH16DaemonStandsDown(t *testing.T) {
	s := resident(t, residentRecipe)
	if bad := s.Exec("systemd-analyze", "verify", "/etc/systemd/system/"+daemonUnit, "/etc/systemd/system/"+recoveryUnit); bad.Code != 0 || bad.Stderr != "" {
		t.Errorf("systemd-analyze verify: %s", bad)
	}
	s.phase("complete", "installing")
	s.sh("systemctl stop " + daemonUnit + "; journalctl --rotate --vacuum-time=1s >/dev/null 2>&1; systemctl start " + daemonUnit)
	s.stoodDown("started while installing")
	// R113: a warning, no error and no usage text.
	found := s.journal("--unit="+daemonUnit, "HOSTLER_COMMAND=daemon")
	if len(found) != 1 || found[0]["PRIORITY"] != "4" || !strings.Contains(found[0]["MESSAGE"].(string), "installing, not complete") {
		t.Errorf("entries of the daemon: %v", found)
	}
	if log := s.log(daemonUnit); strings.Contains(log, "Usage") || strings.Contains(log, "hostler: ") {
		t.Errorf("its log:\n%s", log)
	}
	for range 6 { // H18
		s.Exec("systemctl", "start", daemonUnit)
	}
	if p := s.show("", daemonUnit); p["Result"] != "start-limit-hit" && p["ActiveState"] != "failed" {
		t.Logf("the start limit was not hit: %s %s", p["ActiveState"], p["Result"])
	}
	s.must("ensure")
	s.daemonRuns("H18")

	// H17: the same at a boot.
	s.phase("complete", "installing")
	s.Reboot()
	s.stoodDown("booted while installing")
	s.must("ensure") // R110
	s.daemonRuns("R110")
}

// TestH20BrokenLinks, H21 and H22: links that lead nowhere and a daemon that was
// stopped are put right, and a healthy host is left alone.
func TestH20BrokenLinks(t *testing.T) {
	s := resident(t, residentRecipe)
	const record = "/var/lib/hostler/record.json"
	before := s.inodes(record)
	s.wantChanged(s.must("ensure"))
	if s.inodes(record) != before { // H21
		t.Error("a healthy host was written to")
	}
	for _, name := range []string{"hostler-current", "hostler-last-good", "hostler"} {
		s.sh("ln -sfn gone /opt/bin/" + name)
		if res := s.Exec("/opt/bin/hostler-blue", "ensure"); res.Code != 0 {
			t.Fatalf("%s: %s", name, res)
		}
		s.sh("test -x /opt/bin/" + name)
		s.daemonRuns(name)
	}
	s.sh("systemctl stop " + daemonUnit) // H22
	before = s.inodes(record)
	s.wantChanged(s.must("ensure"), "interpreter_install.hostler")
	s.daemonRuns("H22")
	if s.inodes(record) == before {
		t.Error("what was repaired is not committed")
	}
	// A program that is delivered again hands over to the one that is installed.
	s.sh("printf '#!/bin/sh\\necho handed over: $@\\n' >/opt/bin/handed; chmod 755 /opt/bin/handed; ln -sfn handed /opt/bin/hostler-current; rm /opt/bin/hostler")
	s.Install(program)
	if res := s.Exec(program, "ensure", "--wait", "1s"); res.Stdout != "handed over: ensure --wait 1s\n" {
		t.Errorf("it was not handed over: %s", res)
	}
}

// TestH19CrashingDaemon: a daemon that crashes is started again; one that goes
// on crashing is replaced by the last good one.
func TestH19CrashingDaemon(t *testing.T) {
	s := resident(t, residentRecipe)
	s.upgradeTo(another(t, "two"))
	if exe := s.daemonProgram(); exe != "/opt/bin/hostler-green" {
		t.Errorf("the daemon is %s", exe)
	}
	if good := s.sh("readlink /opt/bin/hostler-last-good"); good != "hostler-blue" {
		t.Errorf("the last good one is %s", good)
	}
	s.sh("mkdir -p /etc/systemd/system/" + daemonUnit + ".d; printf '[Service]\\nRestartSec=100ms\\n' >/etc/systemd/system/" + daemonUnit + ".d/quick.conf; systemctl daemon-reload; systemctl reset-failed " + daemonUnit)
	s.sh("kill -ABRT " + s.show("", daemonUnit)["MainPID"]) // R108
	s.eventually("the daemon is started again", func() bool {
		p := s.show("", daemonUnit)
		return p["ActiveState"] == "active" && p["NRestarts"] == "1"
	})
	if p := s.show("", recoveryUnit); p["ConditionTimestampMonotonic"] != "0" {
		t.Error("the recovery unit ran after one crash")
	}
	s.sh("printf '#!/bin/sh\\nexit 3\\n' >/root/crash; chmod 755 /root/crash; mv /root/crash /opt/bin/hostler-green; systemctl reset-failed " + daemonUnit + "; systemctl kill -s ABRT " + daemonUnit)
	s.eventually("the last good one runs", func() bool {
		return s.sh("readlink /opt/bin/hostler-current") == "hostler-blue" && s.show("", daemonUnit)["ActiveState"] == "active"
	})
	if exe := s.daemonProgram(); exe != "/opt/bin/hostler-blue" {
		t.Errorf("the daemon is %s", exe)
	}
	if log := s.log(recoveryUnit); !strings.Contains(log, "hostler-blue") {
		t.Errorf("the log of the recovery:\n%s", log)
	}
	s.wantChanged(s.must("ensure"))

	// An upgrade to a program whose daemon does not stay up goes back by itself.
	s.sh("rm -r /etc/systemd/system/" + daemonUnit + ".d; systemctl daemon-reload")
	s.sh("printf '#!/bin/sh\\ncase $1 in version) echo hostler 9;; *) exit 3;; esac\\n' >/root/bad; chmod 755 /root/bad")
	res := s.Exec(program, "upgrade", "/root/bad")
	if res.Code != 1 || !strings.Contains(res.Stderr, "the last good one does again") {
		t.Errorf("upgrade to one that crashes: %s", res)
	}
	if exe := s.daemonProgram(); exe != "/opt/bin/hostler-blue" {
		t.Errorf("the daemon is %s", exe)
	}
	s.recoveryFinds("it is the last good one")
	for range 7 { // by hand, which is no reason to go back
		s.Exec("systemctl", "restart", daemonUnit)
	}
	s.recoveryFinds("it was started too often")
	s.must("reset")
	s.residentGone()
}

// recoveryFinds holds that the recovery unit leaves the interpreter as it is,
// and why.
func (s *site) recoveryFinds(why string) {
	s.t.Helper()
	s.Exec("systemctl", "start", recoveryUnit)
	if p := s.show("", recoveryUnit); p["ActiveState"] != "failed" || !strings.Contains(s.log(recoveryUnit), why) {
		s.t.Errorf("the recovery unit is %s, and does not say %q:\n%s", p["ActiveState"], why, s.log(recoveryUnit))
	}
}

// TestDaemonGuide does what docs/guides/daemon-and-upgrade.md says, line by line.
func TestDaemonGuide(t *testing.T) {
	t.Parallel()
	h := up(t, lab.Options{Store: lab.Overlay})
	h.Push("/srv/hostler-next", another(t, "next"), 0o755)
	follow(t, h, "daemon-and-upgrade.md", "/srv/site/recipe.hcl")
}

// another is this program with another end, which makes it another one.
func another(t *testing.T, end string) []byte {
	t.Helper()
	binary, err := os.ReadFile(lab.Build(t))
	if err != nil {
		t.Fatal(err)
	}
	return append(binary, end...)
}

// upgradeTo upgrades to a program that a server has.
func (s *site) upgradeTo(binary []byte) {
	s.t.Helper()
	url := lab.Serve(s.t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(binary) })) + "/hostler"
	if res := s.Exec(program, "upgrade", url, "--sha256", strings.Repeat("0", 64)); res.Code != 1 {
		s.t.Errorf("upgrade to what has another digest: %s", res)
	}
	if res := s.Exec(program, "upgrade", url, "--sha256", strings.ToUpper(sum(binary))); res.Code != 0 || !strings.Contains(res.Stdout, "hostler 0.") {
		s.t.Fatalf("upgrade: %s", res)
	}
}

func (s *site) daemonProgram() string {
	s.t.Helper()
	return s.sh("readlink /proc/" + s.show("", daemonUnit)["MainPID"] + "/exe")
}

// residentGone holds that nothing of the interpreter is left.
func (s *site) residentGone() {
	s.t.Helper()
	left := s.sh("ls -d /opt/bin/hostler* /etc/systemd/system/hostler-* /etc/systemd/system/*.wants/hostler-* /var/lib/hostler /etc/hostler /etc/demo.conf /etc/many 2>/dev/null || true")
	if left != "" {
		s.t.Errorf("left after the reset: %s", left)
	}
	s.eventually("the daemon has ended", func() bool { return s.show("", daemonUnit)["ActiveState"] == "inactive" })
	if failed := s.sh("systemctl list-units --all --no-legend --state=failed"); failed != "" {
		s.t.Errorf("listed as failed after the reset: %s", failed)
	}
}

// TestDaemonKeepsTheHost: what is changed behind its back is put right within
// seconds, files by inotify and units by signals of the manager; while nothing
// happens it costs next to nothing.
func TestDaemonKeepsTheHost(t *testing.T) {
	s := resident(t, residentRecipe+"write_file_if_changed \"many\" {\n  for_each = toset([for n in range(300) : tostring(n)])\n  path = \"/etc/many/${each.key}\"\n  content = \"${each.key}\\n\"\n}\n")
	s.eventually("it watches", func() bool { return strings.Contains(s.show("", daemonUnit)["StatusText"], "watching") })
	time.Sleep(time.Second)
	s.sh("echo edited >/etc/demo.conf")
	s.eventually("the file is put right", func() bool { return s.sh("cat /etc/demo.conf") == "one" })
	s.sh("systemctl stop demo.service")
	s.eventually("the unit is started again", func() bool { return s.show("", "demo.service")["ActiveState"] == "active" })
	s.eventually("it is said", func() bool { return len(s.journal("--unit="+daemonUnit, "HOSTLER_RESULT=changed")) == 2 })
	if note := s.sh("cat /run/hostler/daemon.json"); !strings.Contains(note, `"watched_units":1`) || !strings.Contains(note, `"result":"ok"`) {
		t.Errorf("the status file: %s", note)
	}

	// After a repair it looks again soon; then it is idle.
	s.eventually("it looked again and found nothing", func() bool {
		return strings.Contains(s.sh("cat /run/hostler/daemon.json"), `"result":"ok","changed":0}`)
	})
	time.Sleep(2 * time.Second)
	const window = 20 * time.Second
	before := s.ranFor()
	time.Sleep(window)
	share := float64(s.ranFor()-before) / float64(window)
	rss := s.kib("VmRSS")
	t.Logf("idle for %s: %.4f %% of a processor, %d KiB resident (%d of memory, %d of files)", window, 100*share, rss, s.kib("RssAnon"), s.kib("RssFile"))
	if share >= 0.001 {
		t.Errorf("idle, it takes %.3f %% of a processor, want less than 0.1 %%", 100*share)
	}
	if rss >= 30<<10 {
		t.Errorf("idle, %d KiB are resident, want less than 30 MiB", rss)
	}

	// A daemon that is started in a reset finishes it.
	s.sh("systemctl stop " + daemonUnit)
	s.phase("complete", "resetting")
	s.sh("systemctl start " + daemonUnit)
	s.eventually("the record is gone", func() bool { return s.Exec("test", "-e", "/var/lib/hostler/record.json").Code != 0 })
	s.residentGone()
}

// ranFor is how long the threads of the daemon have run.
func (s *site) ranFor() (ran time.Duration) {
	s.t.Helper()
	for _, line := range strings.Split(s.sh("cat /proc/"+s.show("", daemonUnit)["MainPID"]+"/task/*/schedstat"), "\n") {
		n, err := strconv.ParseInt(strings.Fields(line)[0], 10, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		ran += time.Duration(n)
	}
	return ran
}

func (s *site) kib(name string) (n int) {
	s.t.Helper()
	line := s.sh("grep " + name + ": /proc/" + s.show("", daemonUnit)["MainPID"] + "/status")
	if _, err := fmt.Sscanf(line, name+": %d kB", &n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// TestH41BootUnit: the boot unit runs at every boot, finishes what was begun,
// and is gone with the reset.
func TestH41BootUnit(t *testing.T) {
	s := resident(t, strings.Replace(residentRecipe, "  first_boot_unit = false\n", "", 1))
	if bad := s.Exec("systemd-analyze", "verify", "/etc/systemd/system/"+bootUnit); bad.Code != 0 {
		t.Errorf("systemd-analyze verify: %s", bad)
	}
	record := s.inodes("/var/lib/hostler/record.json")
	for n := range 2 {
		s.Reboot()
		s.eventually("the boot unit has run", func() bool { return s.show("", bootUnit)["SubState"] == "exited" })
		if p := s.show("", bootUnit); p["Result"] != "success" || p["NRestarts"] != "0" {
			t.Errorf("boot %d: %s, restarts %s\n%s", n, p["Result"], p["NRestarts"], s.log(bootUnit))
		}
		s.daemonRuns("boot " + strconv.Itoa(n))
	}
	if s.inodes("/var/lib/hostler/record.json") != record {
		t.Error("a healthy host was written to")
	}
	// Unfinished, the daemon stands down and the boot unit finishes it and starts it.
	s.phase("complete", "installing")
	s.Reboot()
	s.eventually("the daemon runs", func() bool { return s.show("", daemonUnit)["ActiveState"] == "active" })
	if p := s.show("", recoveryUnit); p["ConditionTimestampMonotonic"] != "0" { // R116
		t.Error("the recovery unit ran")
	}
	// Reset from inside the boot unit, as a hand on the console may have it.
	s.must("reset")
	s.Reboot()
	s.residentGone()
	if _, err := os.Lstat(filepath.Join(s.Root(), "/etc/systemd/system/"+bootUnit)); err == nil {
		t.Error("the boot unit came back")
	}
}
