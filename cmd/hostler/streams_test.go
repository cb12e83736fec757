package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hostler/testdata/demo/fixture"
)

// onFull runs the program with results going to a device that is full.
func onFull(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	return started(t, full, args...)
}

// onBrokenPipe runs the program with results that nobody reads.
func onBrokenPipe(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return started(t, w, args...)
}

// started runs the program; code is -1 when a signal ended it.
func started(t *testing.T, out *os.File, args ...string) (code int, said string) {
	t.Helper()
	var notes strings.Builder
	c := exec.CommandContext(t.Context(), "hostler", args...)
	c.Stdout, c.Stderr = out, &notes
	if _, ok := errors.AsType[*exec.ExitError](c.Run()); !ok && c.ProcessState == nil {
		t.Fatalf("hostler %v does not start", args)
	}
	return c.ProcessState.ExitCode(), notes.String()
}

// TestResultsThatAreLost: what cannot be written is a failure of what only reads,
// and none of what changed a host; that goes on to its end when nobody listens.
func TestResultsThatAreLost(t *testing.T) {
	root := filepath.Join(t.TempDir(), "host")
	if err := fixture.Debian(root); err != nil {
		t.Fatal(err)
	}
	const recipe = "../../examples/metrics-site"
	const lost = "write the result: write /dev/stdout: no space left on device"
	for _, args := range [][]string{
		{"plan", recipe, "--root", root, "--var", "site=a"},
		{"plan", recipe, "--root", root, "--var", "site=a", "--output", "json"},
		{"validate", recipe}, {"validate", recipe, "--output", "json"}, {"status", "--root", root}, {"facts", "--root", root},
		{"explain"}, {"schema"}, {"version"}, {"plan", "--help"},
	} {
		if code, said := onFull(t, args...); code != exitFailed || strings.Count(said, lost) != 1 {
			t.Errorf("%v ends with %d and says %q", args, code, said)
		}
	}
	for name, run := range map[string]func(*testing.T, ...string) (int, string){"full": onFull, "pipe": onBrokenPipe} {
		for _, form := range []string{"text", "json"} {
			must(t, "reset", "--root", root)
			code, said := run(t, "apply", recipe, "--root", root, "--var", "site=a", "--output", form)
			if code != exitDone || !strings.Contains(said, "write the result: ") {
				t.Errorf("apply, %s, %s: ends with %d and says %q", name, form, code, said)
			}
			if code, said := started(t, nil, "verify", "--root", root); code != exitDone {
				t.Errorf("apply, %s, %s: verify ends with %d and says %q", name, form, code, said)
			}
		}
	}
}
