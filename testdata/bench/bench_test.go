//go:build e2e

package bench

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostler/testdata/lab"
)

func TestMain(m *testing.M) { os.Exit(lab.Main(m)) }

// Where the hosts have the programs.
const (
	program = "/opt/bin/hostler"
	gauge   = "/opt/bin/measure"
)

// times is how often each command is run; the figures are medians.
const times = 15

// cost is what a run of a command takes.
type cost struct {
	wall, user, sys time.Duration
	rss             int64
	// calls are system calls, writes what was written on the disk, packets
	// those on the network.
	calls, writes, packets int
}

func (c cost) cpu() time.Duration { return c.user + c.sys }

// newHost is a host with the programs in it.
func newHost(t *testing.T, options lab.Options) *lab.Host {
	t.Helper()
	lab.Build(t)
	h := lab.Up(t, options)
	h.Install(program)
	binary := filepath.Join(t.TempDir(), "measure")
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "./measure")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h.PushFile(gauge, binary, 0o755)
	return h
}

// measured is what a command costs in a host.
func measured(t *testing.T, h *lab.Host, argv ...string) cost {
	t.Helper()
	h.MustExec(argv...) // the first one reads from the disk
	before, packets := stamps(t, h), h.Packets("eth0")
	text := h.MustExec(append([]string{gauge, strconv.Itoa(times)}, argv...)...)
	c := medians(t, text)
	c.packets = h.Packets("eth0") - packets
	c.writes = differing(before, stamps(t, h))
	c.calls = calls(t, h, argv)
	return c
}

// medians reads what measure printed.
func medians(t *testing.T, text string) (c cost) {
	t.Helper()
	var walls, users, syss []time.Duration
	for line := range strings.Lines(text) {
		var run struct {
			Wall, User, Sys time.Duration
			RSS             int64
		}
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		walls, users, syss = append(walls, run.Wall), append(users, run.User), append(syss, run.Sys)
		c.rss = max(c.rss, run.RSS)
	}
	c.wall, c.user, c.sys = median(walls), median(users), median(syss)
	return c
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// calls counts the system calls of a command.
func calls(t *testing.T, h *lab.Host, argv []string) (n int) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "calls")
	line := append([]string{"-f", "-qq", "-o", log, "nsenter", "--target", strconv.Itoa(h.Leader()),
		"--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--"}, argv...)
	if out, err := exec.Command("strace", line...).CombinedOutput(); err != nil {
		t.Fatalf("strace: %v: %s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	_, own, ok := strings.Cut(string(text), `execve("`+argv[0]+`"`)
	if !ok {
		t.Fatalf("%q was not run", argv)
	}
	for line := range strings.Lines(own) {
		if !strings.Contains(line, " resumed>") && !strings.Contains(line, "+++") && !strings.Contains(line, "---") {
			n++
		}
	}
	return n
}
