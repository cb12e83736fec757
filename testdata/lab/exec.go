package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// execLimit is how long a command in a host may take.
const execLimit = 5 * time.Minute

// Result is what became of a command.
type Result struct {
	// Code is the exit code; 128 and the signal's number when one ended it.
	Code           int
	Stdout, Stderr string
}

// String is for messages.
func (r Result) String() string {
	return fmt.Sprintf("exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
}

// Exec runs a command in the host's namespaces, as root, and waits for it. It
// is in none of the host's units: use [Host.Run] where that matters.
func (h *Host) Exec(argv ...string) Result {
	h.t.Helper()
	return h.ExecInput(nil, argv...)
}

// ExecInput is Exec with something on standard input.
func (h *Host) ExecInput(stdin []byte, argv ...string) Result {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), execLimit)
	defer cancel()
	cmd := inside(ctx, h.Leader(), argv...)
	res, err := finish(cmd, stdin)
	if ctx.Err() != nil {
		err = fmt.Errorf("it took more than %v: %s", execLimit, res)
	}
	if err != nil {
		h.t.Fatalf("lab: running %q in %s: %v", argv, h.id, err)
	}
	return res
}

// MustExec is Exec of a command that must succeed; it returns its standard
// output without the blanks around it.
func (h *Host) MustExec(argv ...string) string {
	h.t.Helper()
	res := h.Exec(argv...)
	if res.Code != 0 {
		h.t.Fatalf("lab: %q in %s: %s", argv, h.id, res)
	}
	return strings.TrimSpace(res.Stdout)
}

// Run runs a command as a unit of its own in the host, in the host's cgroups
// and with a unit's clean environment.
func (h *Host) Run(argv ...string) Result {
	h.t.Helper()
	return h.Exec(append([]string{"systemd-run", "--quiet", "--pipe", "--wait", "--collect", "--"}, argv...)...)
}

// inside is a command in the namespaces of a host.
func inside(ctx context.Context, leader int, argv ...string) *exec.Cmd {
	enter := []string{"--target", strconv.Itoa(leader), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--"}
	return plainly(exec.CommandContext(ctx, "nsenter", append(enter, argv...)...))
}

// plainly gives a command the environment of a fresh root shell. What it may
// leave running in a host does not keep us waiting when its time is over.
func plainly(cmd *exec.Cmd) *exec.Cmd {
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "TERM=dumb"}
	return cmd
}

// finish runs a command to its end; the error is about running it at all.
func finish(cmd *exec.Cmd, stdin []byte) (Result, error) {
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &errs
	err := cmd.Run()
	res := Result{Stdout: out.String(), Stderr: errs.String()}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return res, fmt.Errorf("%w: %s", err, res)
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		res.Code = 128 + int(status.Signal())
		return res, nil
	}
	res.Code = cmd.ProcessState.ExitCode()
	return res, nil
}
