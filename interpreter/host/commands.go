package host

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Commands runs programs on the host. No shell is involved.
type Commands interface {
	// Run runs a program and waits for it. The error is ErrNoTool when the
	// executable was not found, an *ExitError when it ran and did not exit 0,
	// ctx's error when that ended first; the result is filled as far as it is
	// known in every case.
	Run(ctx context.Context, c Command) (CommandResult, error)
}

// Command is a program to run.
type Command struct {
	// Argv is the program and its arguments. A name without a slash is looked
	// up in [ToolPath] on the host.
	Argv []string
	// Stdin is read by the program; nil is /dev/null.
	Stdin io.Reader
	// Env is added to a small fixed environment (PATH, LANG=C.UTF-8, HOME).
	Env []string
	// Timeout bounds the run; 0 is [DefaultCommandTimeout].
	Timeout time.Duration
	// MaxOutput bounds what is kept of each output stream, in bytes; 0 is
	// 1 MiB. What is beyond is read and thrown away.
	MaxOutput int
}

// DefaultCommandTimeout bounds a command that gives no timeout of its own.
const DefaultCommandTimeout = 10 * time.Minute

// CommandResult is how a command ended.
type CommandResult struct {
	ExitCode       int    // -1 when it was ended by a signal
	Signal         string // "SIGKILL", "" when it exited
	Stdout, Stderr []byte
}

// ExitError is a program that ran and failed. Its text has the program's name
// and how it ended, never its arguments, which may hold secrets.
type ExitError struct {
	Program string
	Result  CommandResult
}

func (e *ExitError) Error() string {
	how := fmt.Sprintf("exit status %d", e.Result.ExitCode)
	if e.Result.Signal != "" {
		how = "signal " + e.Result.Signal
	}
	if line := lastLine(e.Result.Stderr); line != "" {
		return fmt.Sprintf("%s: %s: %s", e.Program, how, line)
	}
	return fmt.Sprintf("%s: %s", e.Program, how)
}

func lastLine(b []byte) string {
	end := len(b)
	for end > 0 && (b[end-1] == '\n' || b[end-1] == '\r') {
		end--
	}
	start := end
	for start > 0 && b[start-1] != '\n' {
		start--
	}
	return string(b[start:end])
}
