package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hostler/interpreter/report"
	"hostler/testdata/demo/fixture"
)

// systemd is a supervisor that remembers what it was told.
type systemd struct {
	mu      sync.Mutex
	entries []report.Entry
	states  []string
}

func (s *systemd) run(t *testing.T, args ...string) (out string) {
	t.Helper()
	var o, e strings.Builder
	run(args, streams{
		in: strings.NewReader(""), out: report.Pen{W: &o}, err: report.Pen{W: &e}, width: plainWidth,
		env: func(string) (string, bool) { return "", false }, environ: func() []string { return nil },
		supervisor: supervisor{
			entry: func(e report.Entry) { s.entries = append(s.entries, e) },
			notify: func(state string) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.states = append(s.states, state)
			},
			alive: time.Millisecond,
		},
	})
	return o.String()
}

func (s *systemd) told() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.states, "|")
}

// TestUnderSystemd: entries go to the journal in the place of text, the manager
// hears what is done, and the watchdog is fed.
func TestUnderSystemd(t *testing.T) {
	root := filepath.Join(t.TempDir(), "host")
	if err := fixture.Debian(root); err != nil {
		t.Fatal(err)
	}
	args := []string{"apply", "../../examples/metrics-site", "--root", root, "--var", "site=a"}
	var s systemd
	if out := s.run(t, args...); out != "" {
		t.Errorf("text is written, too: %q", out)
	}
	last := s.entries[len(s.entries)-1]
	if last.Fields["HOSTLER_RECIPE"] != "metrics_site" || last.Fields["HOSTLER_RESULT"] != "deferred" || last.Fields["HOSTLER_COMMAND"] != "apply" || !strings.Contains(last.Message, "changed") {
		t.Errorf("the last entry is %+v", last)
	}
	step := s.entries[1]
	if step.Fields["HOSTLER_STEP"] == "" || step.Fields["HOSTLER_STAGE"] != "agent" || step.Fields["HOSTLER_RECIPE"] != "metrics_site" {
		t.Errorf("the entry of a step is %+v", step)
	}
	told := s.told()
	for _, want := range []string{"WATCHDOG=1", "STATUS=stage agent", "STATUS=directory.config: create", "READY=1\nSTATUS=Done"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not among %q", want, told)
		}
	}

	// A run that fails is not ready, and JSON is not written twice.
	var f systemd
	if err := os.RemoveAll(filepath.Join(root, "etc/metrics-agent")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "etc/metrics-agent"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := f.run(t, append(args, "--output", "json")...); !strings.Contains(out, `"result":"failed"`) || len(f.entries) > 0 {
		t.Errorf("as JSON: %q, entries %v", out, f.entries)
	}
	if told := f.told(); strings.Contains(told, "READY") || !strings.Contains(told, "STATUS=Failed") {
		t.Errorf("of a failed run it is told %q", told)
	}
}

// TestSupervised: the service manager is found by its environment.
func TestSupervised(t *testing.T) {
	if s := supervised(); s.entry != nil || s.notify != nil || s.alive != 0 {
		t.Errorf("without systemd there is %+v", s)
	}
	socket := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "4000000")
	s := supervised()
	if s.notify == nil || s.alive != 2*time.Second || s.entry != nil {
		t.Fatalf("with a socket there is %+v", s)
	}
	s.notify("READY=1")
	buf := make([]byte, 100)
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(buf); err != nil || string(buf[:n]) != "READY=1" {
		t.Errorf("what arrived is %q (%v)", buf[:n], err)
	}
}
