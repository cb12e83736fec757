//go:build e2e

package linux_test

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/host"
)

func liveCommands(t *testing.T) { commandCases(t, openHost(t)) }

// commandCases hold for the host and for a machine alike.
func commandCases(t *testing.T, h host.Host) {
	run := func(c host.Command) (host.CommandResult, error) { return h.Commands.Run(within(t, time.Minute), c) }
	sh := func(script string) host.Command { return host.Command{Argv: []string{"sh", "-c", script}} }
	t.Run("both streams", func(t *testing.T) {
		r, err := run(sh("echo out; echo err >&2"))
		if err != nil || string(r.Stdout) != "out\n" || string(r.Stderr) != "err\n" || r.ExitCode != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("exit status", func(t *testing.T) {
		r, err := run(sh("echo partial; echo why >&2; exit 7"))
		e, found := errors.AsType[*host.ExitError](err)
		if !found || e.Program != "sh" || r.ExitCode != 7 || r.Signal != "" || string(r.Stdout) != "partial\n" || err.Error() != "sh: exit status 7: why" {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("signal", func(t *testing.T) {
		r, err := run(sh("kill -9 $$"))
		if _, found := errors.AsType[*host.ExitError](err); !found || r.ExitCode != -1 || r.Signal != "SIGKILL" {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("missing", func(t *testing.T) {
		for _, name := range []string{"x-none", "/nonexistent/x-none", "/etc/passwd"} {
			if _, err := run(host.Command{Argv: []string{name}}); !errors.Is(err, host.ErrNoTool) {
				t.Errorf("%s: %v, want host.ErrNoTool", name, err)
			}
		}
		if _, err := run(host.Command{}); err == nil {
			t.Error("no program can be run")
		}
	})
	t.Run("arguments", func(t *testing.T) {
		words := []string{"$HOME", "%n %i %%", `a "b" 'c' \d`, "two\nlines", "", "ü", "-x", "${PATH}", "a;b"}
		r, err := run(host.Command{Argv: append([]string{"printf", `%s\0`}, words...)})
		if got := strings.Split(string(r.Stdout), "\x00"); err != nil || !slices.Equal(got[:len(got)-1], words) {
			t.Errorf("the arguments arrive as %q (%v)", got, err)
		}
	})
	t.Run("environment", func(t *testing.T) {
		c := sh("env")
		c.Env = []string{"X_VALUE=100% of $HOME \"quoted\"", "LANG=C"}
		r, err := run(c)
		env := strings.Split(string(r.Stdout), "\n")
		for _, want := range []string{"PATH=" + host.ToolPath, "HOME=/root", "LANG=C", c.Env[0]} {
			if err != nil || !slices.Contains(env, want) {
				t.Errorf("%s is not in the environment %q (%v)", want, env, err)
			}
		}
	})
	t.Run("standard input", func(t *testing.T) { stdinCases(t, run) })
	t.Run("output is bounded", func(t *testing.T) {
		c := sh("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; echo end >&2")
		c.MaxOutput = 1000
		r, err := run(c)
		if err != nil || len(r.Stdout) != 1000 || len(r.Stderr) != 1000 {
			t.Errorf("%d and %d bytes, %v", len(r.Stdout), len(r.Stderr), err)
		}
	})
	t.Run("time is bounded", func(t *testing.T) {
		c := sh("echo begun; sleep 1000 & sleep 1000")
		c.Timeout = 500 * time.Millisecond
		began := time.Now()
		r, err := run(c)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 20*time.Second || r.ExitCode == 0 {
			t.Errorf("%+v, %v after %v", r, err, time.Since(began))
		}
		ctx, end := context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, end)
		if _, err := h.Commands.Run(ctx, sh("sleep 1000")); !errors.Is(err, context.Canceled) {
			t.Errorf("a command that was cancelled: %v", err)
		}
		eventually(t, "nothing is left running", func() bool { return exec.Command("pgrep", "-x", "sleep").Run() != nil })
	})
	t.Run("a process in the background", func(t *testing.T) {
		began := time.Now()
		r, err := run(sh("sleep 30 & echo ended"))
		if err != nil || string(r.Stdout) != "ended\n" || time.Since(began) > 20*time.Second {
			t.Errorf("%+v, %v after %v", r, err, time.Since(began))
		}
		shell(t, "pkill -x sleep || true")
	})
	t.Run("open files", func(t *testing.T) {
		r, err := run(sh("ls /proc/self/fd | wc -l"))
		if n, numErr := strconv.Atoi(strings.TrimSpace(string(r.Stdout))); err != nil || numErr != nil || n > 4 {
			t.Errorf("a command has %s open files (%v)", r.Stdout, err)
		}
	})
}

func stdinCases(t *testing.T, run func(host.Command) (host.CommandResult, error)) {
	bytes := make([]byte, 200_000)
	for i := range bytes {
		bytes[i] = byte(i * 7)
	}
	r, err := run(host.Command{Argv: []string{"cat"}, Stdin: strings.NewReader(string(bytes))})
	if err != nil || string(r.Stdout) != string(bytes) {
		t.Errorf("cat gives %d other bytes (%v)", len(r.Stdout), err)
	}
	if r, err := run(host.Command{Argv: []string{"cat"}}); err != nil || len(r.Stdout) != 0 {
		t.Errorf("without an input cat gives %q (%v)", r.Stdout, err)
	}
	if r, err := run(host.Command{Argv: []string{"head", "-c", "3"}, Stdin: strings.NewReader(string(bytes))}); err != nil || len(r.Stdout) != 3 {
		t.Errorf("a program that does not read all: %q (%v)", r.Stdout, err)
	}
}
