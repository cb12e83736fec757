package linux

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// commands runs programs on the host.
type commands struct{ files host.FileView }

var _ host.Commands = commands{}

// pipeGrace is how long output is awaited after a program has ended: a process
// that it left in the background may hold the pipe for ever.
const pipeGrace = 2 * time.Second

// Run runs a program in a process group of its own, which is killed as a whole
// when the time is up.
func (c commands) Run(ctx context.Context, command host.Command) (host.CommandResult, error) {
	program, err := find(ctx, c.files, command)
	if err != nil {
		return host.CommandResult{ExitCode: -1}, err
	}
	return runProgram(ctx, program, command)
}

// find looks the program of a command up in a tree.
func find(ctx context.Context, files host.FileView, c host.Command) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if len(c.Argv) == 0 {
		return "", fmt.Errorf("a command needs a program: %w", syscall.EINVAL)
	}
	return host.LookTool(files, c.Argv[0])
}

// runProgram runs the executable with the arguments of c.
func runProgram(ctx context.Context, executable string, c host.Command) (host.CommandResult, error) {
	limited, end := context.WithTimeout(ctx, timeout(c))
	defer end()
	cmd := exec.CommandContext(limited, executable)
	cmd.Args = c.Argv
	cmd.Env = environment(c)
	cmd.Dir = "/"
	cmd.Stdin = c.Stdin
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	cmd.WaitDelay = pipeGrace
	stdout, stderr := &capped{limit: maxOutput(c)}, &capped{limit: maxOutput(c)}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return host.CommandResult{ExitCode: -1}, notStarted(ctx, c, err)
	}
	result := host.CommandResult{Stdout: stdout.bytes(), Stderr: stderr.bytes()}
	result.ExitCode, result.Signal = ended(cmd.ProcessState.Sys())
	if limited.Err() != nil && result.ExitCode != 0 {
		return result, late(ctx, c)
	}
	return result, outcome(c, result, err)
}

// killGroup kills the program and what it started, if that stayed in its
// process group.
func killGroup(pid int) error { return unix.Kill(-pid, unix.SIGKILL) }

func notStarted(ctx context.Context, c host.Command, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s cannot be executed (is its interpreter there, and its file system mounted without noexec?): %w", c.Argv[0], err)
}

// late is the error of a command that was killed because the time was up: the
// caller's, or its own.
func late(ctx context.Context, c host.Command) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", c.Argv[0], err)
	}
	return fmt.Errorf("%s was killed after %s: %w", c.Argv[0], timeout(c), context.DeadlineExceeded)
}

// outcome is the error for how a program ended. What went wrong with its pipes
// is said only when it ended well: a program need not read its input, and one
// that left a process in the background has ended all the same.
func outcome(c host.Command, r host.CommandResult, err error) error {
	if r.ExitCode != 0 {
		return &host.ExitError{Program: c.Argv[0], Result: r}
	}
	if err == nil || errors.Is(err, exec.ErrWaitDelay) || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("%s: %w", c.Argv[0], err)
}

// ended is how the process ended, from its wait status.
func ended(sys any) (code int, signal string) {
	status, ok := sys.(syscall.WaitStatus)
	switch {
	case !ok:
		return -1, ""
	case status.Signaled():
		return -1, unix.SignalName(status.Signal())
	}
	return status.ExitStatus(), ""
}

// environment is the small fixed environment and what the command adds.
func environment(c host.Command) []string {
	return append([]string{"PATH=" + host.ToolPath, "LANG=C.UTF-8", "HOME=/root"}, c.Env...)
}

func timeout(c host.Command) time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return host.DefaultCommandTimeout
}
