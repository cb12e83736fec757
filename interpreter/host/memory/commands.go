package memory

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"syscall"

	"hostler/interpreter/host"
)

// commandDoor runs programs on the host or in a running machine.
type commandDoor struct {
	m       *Memory
	machine string
	files   *files
}

var _ host.Commands = commandDoor{}

// maxOutput is what is kept of an output stream unless a command says more.
const maxOutput = 1 << 20

// Run looks for the executable and runs its program.
func (d commandDoor) Run(ctx context.Context, c host.Command) (host.CommandResult, error) {
	d.m.count("commands")
	if err := ctx.Err(); err != nil {
		return host.CommandResult{}, err
	}
	if len(c.Argv) == 0 {
		return host.CommandResult{}, fmt.Errorf("a command needs a program: %w", syscall.EINVAL)
	}
	d.m.mu.Lock()
	err := d.m.liveness(d.machine, "what a command does")
	if err == nil && d.m.innerManager(d.machine) == nil {
		err = host.ErrNoManager
	}
	program, inside := d.m.opts.Programs[path.Base(c.Argv[0])], d.m.inside(d.machine)
	d.m.mu.Unlock()
	if err != nil {
		return host.CommandResult{}, err
	}
	if err := d.executable(ctx, c.Argv[0]); err != nil {
		return host.CommandResult{}, err
	}
	if program == nil {
		program = plainProgram
	}
	if c.Stdin == nil {
		c.Stdin = bytes.NewReader(nil)
	}
	c.Argv, c.Env = slices.Clone(c.Argv), slices.Clone(c.Env)
	return d.result(ctx, c, program(Invocation{Command: c, Host: inside}))
}

// plainProgram succeeds at once, unless it is false.
func plainProgram(i Invocation) host.CommandResult {
	if path.Base(i.Argv[0]) == "false" {
		return host.CommandResult{ExitCode: 1}
	}
	return host.CommandResult{}
}

func (d commandDoor) executable(ctx context.Context, name string) error {
	full, err := host.LookTool(d.files, name)
	if err != nil {
		return err
	}
	mnt, err := storageDoor{d.m, d.machine, d.files.base}.Mount(ctx, full)
	if err == nil && mnt.NoExec {
		err = &fs.PathError{Op: "exec", Path: full, Err: syscall.EACCES}
	}
	return err
}

func (d commandDoor) result(ctx context.Context, c host.Command, r host.CommandResult) (host.CommandResult, error) {
	limit := c.MaxOutput
	if limit <= 0 {
		limit = maxOutput
	}
	r.Stdout, r.Stderr = r.Stdout[:min(limit, len(r.Stdout))], r.Stderr[:min(limit, len(r.Stderr))]
	if r.Signal != "" {
		r.ExitCode = -1
	}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case r.ExitCode != 0:
		return r, &host.ExitError{Program: c.Argv[0], Result: r}
	}
	return r, nil
}
