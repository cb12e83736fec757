package shadow

import (
	"context"
	"errors"
	"path"

	"hostler/interpreter/host"
)

// commands is the command door: it runs nothing.
type commands struct{ log *journal }

// Run notes the program and returns an *UnknownError: what a program does is
// not foreseen.
func (c *commands) Run(ctx context.Context, cmd host.Command) (host.CommandResult, error) {
	if err := ctx.Err(); err != nil {
		return host.CommandResult{}, err
	}
	if len(cmd.Argv) == 0 {
		return host.CommandResult{}, errors.New("a command needs a program to run")
	}
	program := path.Base(cmd.Argv[0])
	c.log.note("run", program)
	return host.CommandResult{}, host.Unknownf("the effect of running %s is not foreseeable", program)
}

// locks is the lock door: the installation lock is always to be had and the
// base's is left alone.
type locks struct{ log *journal }

// Acquire succeeds.
func (l *locks) Acquire(ctx context.Context, _ host.LockMode, _ host.Holder) (func() error, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.log.note("lock", "installation")
	return func() error { return nil }, nil
}
