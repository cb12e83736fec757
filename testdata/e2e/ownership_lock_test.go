//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostler/testdata/lab"
)

// slowRecipe counts in a way that shows a second writer: it takes a directory,
// waits, reads, writes, and gives the directory back. The helper stays when it
// is done.
const slowRecipe = `
recipe "slow" {
  language = 1
  version  = "1.0.0"
  supports "debian" { id = "debian" }
  fingerprint = fingerprint({})
}
variable "seconds" {
  type    = number
  default = 0.05
}
variable "helper" {
  type    = bool
  default = false
}
command "count" {
  argv = ["/bin/sh", "-c", "mkdir /run/taken || exit 9; sleep $${1}; echo $(($(cat /run/count 2>/dev/null || echo 0) + 1)) >/run/count; rmdir /run/taken", "sh", "${var.seconds}"]
}
command "helper" {
  when = var.helper
  argv = ["/bin/sh", "-c", "setsid sleep 120 >/dev/null 2>&1 </dev/null &"]
}
`

const slow = "/srv/slow.hcl"

func slowHost(t *testing.T) *lab.Host {
	t.Helper()
	t.Parallel()
	return up(t, lab.Options{Store: lab.Overlay, Files: map[string]string{slow: slowRecipe}})
}

// spawned is a command that runs in a host.
type spawned struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

// spawn starts hostler in a host and goes on. It is killed with the test.
func spawn(t *testing.T, h *lab.Host, args ...string) *spawned {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	line := append([]string{"--target", strconv.Itoa(h.Leader()), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--", program}, args...)
	s := &spawned{cmd: exec.CommandContext(ctx, "nsenter", line...)}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	s.cmd.WaitDelay = 5 * time.Second
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// code waits for the end.
func (s *spawned) code() int {
	_ = s.cmd.Wait() // the code says it
	return s.cmd.ProcessState.ExitCode()
}

// eventually waits, at most for half a minute.
func eventually(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for range 600 {
		if reached() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("not within 30 s: %s", what)
}

// TestH14LockHeld: who finds the lock taken ends with 75 and names the holder,
// or waits as long as it was told. R035, R037.
func TestH14LockHeld(t *testing.T) {
	h := slowHost(t)
	holder := spawn(t, h, "apply", slow, "--var", "seconds=6")
	eventually(t, "the command of the first run runs", func() bool { return h.Exec("test", "-d", "/run/taken").Code == 0 })
	pid := strings.Fields(h.MustExec("pgrep", "-f", "^"+program+" apply"))[0]
	for _, args := range [][]string{{"apply", slow}, {"ensure", slow}, {"reset"}, {"apply", slow, "--wait", "200ms"}} {
		says(t, expect(t, h, 75, args...), "another run holds the installation lock", "process "+pid, "hostler apply")
	}
	says(t, expect(t, h, 0, "status"), "Provisional")
	waiting := spawn(t, h, "apply", slow, "--wait", "1m")
	if code := holder.code(); code != 0 {
		t.Errorf("the holder: code %d: %s", code, &holder.out)
	}
	if code := waiting.code(); code != 0 {
		t.Errorf("who waited: code %d: %s", code, &waiting.out)
	}
	if n := h.MustExec("cat", "/run/count"); n != "2" {
		t.Errorf("%s runs counted, want 2", n)
	}
	expect(t, h, 0, "reset")
	if h.Exec("test", "-f", "/run/hostler/lock").Code != 0 { // R038
		t.Error("the lock file is gone after a reset")
	}
}

// TestH15StaleLock: a lock file that nobody holds, and a description of a
// holder that died, are in nobody's way.
func TestH15StaleLock(t *testing.T) {
	h := slowHost(t)
	h.MustExec("sh", "-c", `mkdir -p /run/hostler; : >/run/hostler/lock; echo '{"pid":999999,"command":"hostler apply"}' >/run/hostler/lock.holder`)
	expect(t, h, 0, "apply", slow)

	holder := spawn(t, h, "apply", slow, "--var", "seconds=30")
	eventually(t, "the command runs", func() bool { return h.Exec("test", "-d", "/run/taken").Code == 0 })
	h.MustExec("pkill", "-KILL", "-f", "^"+program+" apply") // R037: the kernel releases it
	holder.code()
	h.MustExec("rm", "-rf", "/run/taken")
	expect(t, h, 0, "apply", slow)
}

// TestC75LockFileRemoved: neither removing the lock file nor a helper that
// outlives its run makes two writers or none.
func TestC75LockFileRemoved(t *testing.T) {
	h := slowHost(t)
	until := time.Now().Add(4 * time.Second)
	var runs, refusals int
	for time.Now().Before(until) {
		var all [3]*spawned
		for i := range all {
			all[i] = spawn(t, h, "apply", slow)
		}
		for _, s := range all {
			switch code := s.code(); code {
			case 0:
				runs++
			case 75:
				refusals++
				says(t, s.out.String(), "another run holds the installation lock")
			default:
				t.Fatalf("code %d: %s", code, &s.out)
			}
		}
	}
	if n := h.MustExec("cat", "/run/count"); n != fmt.Sprint(runs) || runs == 0 || refusals == 0 {
		t.Errorf("%d runs and %d refusals, counted %s", runs, refusals, n)
	}

	holder := spawn(t, h, "apply", slow, "--var", "seconds=3")
	eventually(t, "the command runs", func() bool { return h.Exec("test", "-d", "/run/taken").Code == 0 })
	h.MustExec("rm", "/run/hostler/lock")
	expect(t, h, 75, "apply", slow)
	if code := holder.code(); code != 0 {
		t.Errorf("the holder: code %d: %s", code, &holder.out)
	}

	expect(t, h, 0, "apply", slow, "--var", "helper=true")
	h.MustExec("pgrep", "-x", "sleep")
	expect(t, h, 0, "apply", slow)
}
