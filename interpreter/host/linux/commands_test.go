package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

func realCommands(t *testing.T) commands {
	t.Helper()
	files, err := treefs.Open("/", treefs.Options{})
	ok(t, err)
	t.Cleanup(func() { ok(t, files.Close()) })
	return commands{files}
}

func sh(script string) host.Command { return host.Command{Argv: []string{"sh", "-c", script}} }

func TestCommandEnds(t *testing.T) {
	c := realCommands(t)
	for _, w := range []struct {
		script       string
		code         int
		signal, text string
	}{
		{"echo out; echo err >&2", 0, "", ""},
		{"exit 7", 7, "", "sh: exit status 7"},
		{"echo a >&2; echo why >&2; exit 1", 1, "", "sh: exit status 1: why"},
		{"kill -9 $$", -1, "SIGKILL", "sh: signal SIGKILL"},
		{"kill -TERM $$", -1, "SIGTERM", "sh: signal SIGTERM"},
		{"exit 127", 127, "", "sh: exit status 127"},
	} {
		r, err := c.Run(t.Context(), sh(w.script))
		if r.ExitCode != w.code || r.Signal != w.signal {
			t.Errorf("%s: %+v", w.script, r)
		}
		if _, found := errors.AsType[*host.ExitError](err); found != (w.text != "") || found && err.Error() != w.text {
			t.Errorf("%s: %v, want %q", w.script, err, w.text)
		}
	}
}

func TestCommandStreams(t *testing.T) {
	c := realCommands(t)
	command := sh("cat; echo err >&2; env; pwd")
	command.Stdin, command.Env = strings.NewReader("in\x00\n"), []string{"X=a b", "LANG=C"}
	r, err := c.Run(t.Context(), command)
	ok(t, err)
	if string(r.Stderr) != "err\n" || !strings.HasPrefix(string(r.Stdout), "in\x00\n") {
		t.Errorf("%q and %q", r.Stdout, r.Stderr)
	}
	env := strings.Split(strings.TrimSpace(string(r.Stdout)), "\n")[1:]
	env = slices.DeleteFunc(env, func(v string) bool {
		return strings.HasPrefix(v, "PWD=") || strings.HasPrefix(v, "_=") || strings.HasPrefix(v, "SHLVL=")
	})
	slices.Sort(env)
	if want := []string{"/", "HOME=/root", "LANG=C", "PATH=" + host.ToolPath, "X=a b"}; !slices.Equal(env, want) {
		t.Errorf("the environment and directory are %q, want %q", env, want)
	}
	command = sh("head -c 100000 /dev/zero; head -c 100000 /dev/zero >&2")
	command.MaxOutput = 10
	if r, err := c.Run(t.Context(), command); err != nil || len(r.Stdout) != 10 || len(r.Stderr) != 10 {
		t.Errorf("%d and %d bytes are kept (%v)", len(r.Stdout), len(r.Stderr), err)
	}
	if r, err := c.Run(t.Context(), sh("head -c 2000000 /dev/zero")); err != nil || len(r.Stdout) != 1<<20 {
		t.Errorf("%d bytes are kept (%v)", len(r.Stdout), err)
	}
}

func TestCommandNotFound(t *testing.T) {
	c := realCommands(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	ok(t, os.WriteFile(script, []byte("#!/nonexistent/interpreter\n"), 0o755))
	for _, name := range []string{"hostler-none", filepath.Join(dir, "none"), "./sh", "", "/etc/passwd"} {
		if r, err := c.Run(t.Context(), host.Command{Argv: []string{name}}); !errors.Is(err, host.ErrNoTool) || r.ExitCode != -1 {
			t.Errorf("%q: %v, want host.ErrNoTool", name, err)
		}
	}
	_, err := c.Run(t.Context(), host.Command{Argv: []string{script, "secret"}})
	if err == nil || errors.Is(err, host.ErrNoTool) || !strings.Contains(err.Error(), "cannot be executed") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a script without its interpreter: %v", err)
	}
	if _, err := c.Run(t.Context(), host.Command{}); !errors.Is(err, unix.EINVAL) {
		t.Errorf("no program: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := c.Run(ended, sh("exit 3")); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

// marked is the shell script of processes that can be told apart from others.
func marked(seconds int) string { return fmt.Sprintf("sleep %d.%d", seconds, os.Getpid()) }

func running(t *testing.T, what string) bool {
	t.Helper()
	err := exec.Command("pgrep", "-f", "^"+what).Run()
	return err == nil
}

func gone(t *testing.T, what string) {
	t.Helper()
	for range 50 {
		if !running(t, what) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%s is left running", what)
}

func TestCommandTimeouts(t *testing.T) {
	c := realCommands(t)
	command := sh("echo begun; " + marked(1001) + " & " + marked(1002))
	command.Timeout = 200 * time.Millisecond
	r, err := c.Run(t.Context(), command)
	if !errors.Is(err, context.DeadlineExceeded) || string(r.Stdout) != "begun\n" || r.Signal != "SIGKILL" || !strings.Contains(err.Error(), "sh was killed after 200ms") {
		t.Errorf("%+v, %v", r, err)
	}
	gone(t, marked(1001))
	gone(t, marked(1002))
	ctx, end := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, end)
	if r, err := c.Run(ctx, sh(marked(1003))); !errors.Is(err, context.Canceled) || r.ExitCode != -1 {
		t.Errorf("%+v, %v", r, err)
	}
	gone(t, marked(1003))
}

// TestCommandLeavesProcess: a process in the background holds the pipes for
// longer than anybody waits, and lives on.
func TestCommandLeavesProcess(t *testing.T) {
	began := time.Now()
	r, err := realCommands(t).Run(t.Context(), sh(marked(1004)+" & echo ended"))
	if err != nil || string(r.Stdout) != "ended\n" || time.Since(began) > 20*time.Second {
		t.Errorf("%+v, %v after %v", r, err, time.Since(began))
	}
	if !running(t, marked(1004)) {
		t.Error("the process in the background is gone")
	}
	ok(t, exec.Command("pkill", "-f", "^"+marked(1004)).Run())
}

// TestC75NoInheritedFiles: what this process was started with is not passed on.
func TestC75NoInheritedFiles(t *testing.T) {
	fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0) // as if inherited: no O_CLOEXEC
	ok(t, err)
	defer unix.Close(fd)
	h, end, err := Open(t.Context())
	ok(t, err)
	defer func() { ok(t, end()) }()
	r, err := h.Commands.Run(t.Context(), host.Command{Argv: []string{"sh", "-c", "ls -l /proc/self/fd"}})
	if err != nil || strings.Contains(string(r.Stdout), fmt.Sprintf(" %d -> /dev/null", fd)) {
		t.Errorf("the files are\n%s(%v)", r.Stdout, err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("the input broke") }

func TestCommandInputFails(t *testing.T) {
	c := realCommands(t)
	command := sh("cat")
	command.Stdin = brokenReader{}
	if _, err := c.Run(t.Context(), command); err == nil || !strings.Contains(err.Error(), "the input broke") {
		t.Errorf("%v, want the input's error", err)
	}
	command = sh("exec 0<&-; exit 0")
	command.Stdin = strings.NewReader(strings.Repeat("x", 1<<20))
	if _, err := c.Run(t.Context(), command); err != nil {
		t.Errorf("a program that does not read its input: %v", err)
	}
}
