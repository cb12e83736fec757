//go:build e2e

package e2e

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"hostler/testdata/lab"
)

// firstSeed moves the seeds: a run with another one kills at other moments.
var firstSeed = flag.Int("seed", 1, "first seed of the crash tests")

// Where a host has the two releases of the crash recipe, and the image of its
// machine.
const (
	release1 = "/srv/crash/v1"
	release2 = "/srv/crash/v2"
	imageDir = "/srv/image"
)

// foreignUnit is a unit that was there before us. It says itself when it is up,
// which saves the time to see whether it stays up.
const foreignUnit = `[Service]
Type=notify
NotifyAccess=all
ExecStart=/bin/sh -c 'systemd-notify --ready; exec sleep infinity'
[Install]
WantedBy=multi-user.target
`

// foreignFiles are what a host has before the crash recipe comes.
func foreignFiles() map[string]string {
	return map[string]string{
		"/etc/motd":              "welcome\n",
		"/etc/foreign.json":      "{\n    \"theirs\": [1, 2],\n    \"nested\": {\"keep\": true}\n}\n",
		"/etc/foreign.conf":      "foreign\n",
		"/etc/foreign.d/a/b.txt": "in a tree\n",
		"/etc/foreign.d/run":     "#!/bin/sh\n",
		"/usr/local/lib/systemd/system/foreign-masked.service": foreignUnit,
		"/etc/systemd/system/foreign-extended.service":         foreignUnit,
	}
}

// subject is a host with the crash recipe, and what it is like in each state.
type subject struct {
	*lab.Host
	t                    *testing.T
	args                 []string // of every command that takes a recipe
	clean, first, second world
	mtimes               []string
	took                 map[string]time.Duration
}

// newSubject runs apply, update and reset once without interruption.
func newSubject(t *testing.T, options lab.Options, args ...string) *subject {
	t.Helper()
	options.Files = foreignFiles()
	s := &subject{Host: up(t, options), t: t, args: args, took: map[string]time.Duration{}}
	s.PushTree("/srv/crash", "recipes/crash")
	if len(args) > 0 {
		s.PushTree(imageDir, smallMachine(t))
	}
	s.MustExec("systemctl", "daemon-reload")
	s.MustExec("systemctl", "enable", "--now", "--quiet", "foreign-masked.service", "foreign-extended.service")
	s.MustExec("sync")
	s.clean, s.mtimes = look(t, s.Host), s.times()
	s.do("apply", release1)
	s.first = look(t, s.Host)
	s.do("apply", release2)
	s.second = look(t, s.Host)
	s.do("reset")
	s.is(s.clean, "after reset without interruption")
	return s
}

func (s *subject) times() []string {
	return times(s.t, s.Host, "/etc/motd", "/etc/foreign.json", "/etc/foreign.conf", "/etc/foreign.d", "/etc/foreign.d/a/b.txt")
}

func (s *subject) command(verb, recipe string) []string {
	argv := []string{program, verb}
	if recipe != "" {
		argv = append(append(argv, recipe), s.args...)
	}
	return argv
}

// do runs a command that must succeed and notes how long it takes.
func (s *subject) do(verb string, recipe ...string) {
	s.t.Helper()
	recipe = append(recipe, "")
	began := time.Now()
	if res := s.Exec(s.command(verb, recipe[0])...); res.Code != 0 {
		s.t.Fatalf("hostler %s %s: %s", verb, recipe[0], res)
	}
	s.took[verb+recipe[0]] = time.Since(began)
}

// is fails the test unless the host is as it was in a state.
func (s *subject) is(want world, when string) {
	s.t.Helper()
	if diff := differences(want, look(s.t, s.Host)); diff != "" {
		s.t.Fatalf("%s the host is another one:\n%s", when, diff)
	}
}

// healthy fails the test unless hostler finds nothing to do.
func (s *subject) healthy(when string) {
	s.t.Helper()
	if res := s.Exec(program, "verify"); res.Code != 0 {
		s.t.Fatalf("%s verify: %s", when, res)
	}
}

// kill runs a command and kills it: half the seeds after a time, the others at
// a system call.
func (s *subject) kill(r *rand.Rand, verb, recipe string) (moment string, killed bool) {
	s.t.Helper()
	argv := s.command(verb, recipe)
	if r.IntN(2) == 0 {
		seconds := fmt.Sprintf("%.6f", r.Float64()*1.05*s.took[verb+recipe].Seconds())
		res := s.Exec(append([]string{"timeout", "--foreground", "--signal=KILL", seconds}, argv...)...)
		if res.Code != 0 && res.Code != 128+9 && res.Code != 124 { // 124: it ended as its time did
			s.t.Fatalf("hostler %s %s: %s", verb, recipe, res)
		}
		return "after " + seconds + " s", res.Code == 128+9
	}
	n := 1 + r.IntN(killedBefore)
	return fmt.Sprintf("at call %d", n), s.killAtCall(n, argv)
}

// killedCalls are the system calls one of which is a run's last, the one with
// the number that the seed says, at most killedBefore, of one of its threads.
const (
	killedCalls  = "renameat,unlinkat,fsync,syncfs,mkdirat,symlinkat,fchownat,fchmod,write,sendmsg,fork,clone"
	killedBefore = 120
)

func (s *subject) killAtCall(n int, argv []string) (killed bool) {
	s.t.Helper()
	line := []string{
		"-f", "-qq", "-o", "/dev/null", "-e", "trace=" + killedCalls, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", killedCalls, n),
		"nsenter", "--target", strconv.Itoa(s.Leader()), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--",
	}
	cmd := exec.Command("strace", append(line, argv...)...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}
	out, err := cmd.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		s.t.Fatalf("strace: %v: %s", err, out)
	}
	return err != nil
}

// intact fails the test when a file is torn.
func (s *subject) intact(before, after world, when string) {
	s.t.Helper()
	if bad := torn(before.files, after.files, filesOf(s.t, s.Host)); len(bad) > 0 {
		s.t.Fatalf("%s files are torn:\n%s", when, bad)
	}
}
