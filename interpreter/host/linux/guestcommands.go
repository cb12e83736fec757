package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	systemd "github.com/coreos/go-systemd/v22/dbus"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// guestCommands runs programs in a running machine, each as a transient unit
// of the machine's own manager, which gives it a cgroup there and tells exactly
// how it ended. Where that manager cannot be asked, or cannot be handed our
// pipes, the program is run in the machine's namespaces by nsenter.
//
// The arguments and the environment of a transient unit can be read by every
// user of the machine as long as it runs.
type guestCommands struct {
	in      *inside
	manager *manager
	outer   host.Commands
}

var _ host.Commands = guestCommands{}

// Run runs a program in the machine.
func (g guestCommands) Run(ctx context.Context, c host.Command) (host.CommandResult, error) {
	program, err := find(ctx, g.in.files, c)
	if err != nil {
		return host.CommandResult{ExitCode: -1}, err
	}
	if !g.in.alive() {
		return host.CommandResult{ExitCode: -1}, fmt.Errorf("%s: %w", c.Argv[0], g.in.over())
	}
	limited, end := context.WithTimeout(ctx, timeout(c))
	defer end()
	result, started, err := g.transient(limited, program, c)
	if !started && limited.Err() == nil {
		result, err = g.nsenter(limited, program, c, err)
	}
	if limited.Err() != nil && result.ExitCode != 0 {
		return result, late(ctx, c)
	}
	return result, err
}

// nsenter runs the program in the machine's namespaces; why says why it is not
// a transient unit.
func (g guestCommands) nsenter(ctx context.Context, program string, c host.Command, why error) (host.CommandResult, error) {
	inner := c
	inner.Argv = append(g.in.nsenter(program), c.Argv[1:]...)
	result, err := g.outer.Run(ctx, inner)
	switch {
	case errors.Is(err, host.ErrNoTool):
		return result, fmt.Errorf("%s cannot be run in machine %s: %w; and the host has no nsenter", c.Argv[0], g.in.name, why)
	case err != nil && ctx.Err() == nil && result.ExitCode != 0:
		return result, &host.ExitError{Program: c.Argv[0], Result: result}
	}
	return result, err
}

// transient runs the program as a unit. Nothing of it ran when started is
// false.
func (g guestCommands) transient(ctx context.Context, program string, c host.Command) (r host.CommandResult, started bool, err error) {
	r.ExitCode = -1
	conn, err := g.manager.connected(ctx)
	if err != nil {
		return r, false, err
	}
	g.sweep(ctx, conn)
	s, err := openStreams(c)
	if err != nil {
		return r, false, err
	}
	defer s.close()
	name := fmt.Sprintf("%s%d-%s.service", runPrefix, os.Getpid(), randomName())
	ended := make(chan string, 1)
	_, err = conn.StartTransientUnitContext(ctx, name, "replace", runProperties(program, c, s), ended)
	s.given()
	if err != nil {
		// It may be on its way when the call was given up or the connection lost.
		g.remove(conn, name)
		return r, ctx.Err() != nil || !conn.Connected(), err
	}
	s.feed(c.Stdin)
	u, err := g.await(ctx, name, ended)
	g.remove(conn, name)
	s.drain()
	r.Stdout, r.Stderr = s.stdout.bytes(), s.stderr.bytes()
	if err != nil {
		return r, true, fmt.Errorf("%s in machine %s: %w", c.Argv[0], g.in.name, err)
	}
	r.ExitCode, r.Signal = mainProcess(u)
	return r, true, g.verdict(c, u, r)
}

// wait(2)'s codes as units give them.
const (
	codeExited = 1
	codeKilled = 2
	codeDumped = 3
)

func mainProcess(u host.UnitState) (code int, signal string) {
	switch u.ExecMainCode {
	case codeExited:
		return u.ExecMainStatus, ""
	case codeKilled, codeDumped:
		return -1, unix.SignalName(unix.Signal(u.ExecMainStatus))
	}
	return -1, ""
}

func (g guestCommands) verdict(c host.Command, u host.UnitState, r host.CommandResult) error {
	switch {
	case u.ExecMainCode == 0:
		return fmt.Errorf("%s in machine %s was not run by its manager: %s", c.Argv[0], g.in.name, u.Result)
	case r.ExitCode != 0:
		return &host.ExitError{Program: c.Argv[0], Result: r}
	}
	return nil
}

// runPrefix begins the names of the units that commands are run as.
const runPrefix = "hostler-command-"

// runOwner is the process that a unit is run for, from its name.
func runOwner(unit string) (pid int, ok bool) {
	var rest string
	n, err := fmt.Sscanf(unit, runPrefix+"%d-%s", &pid, &rest)
	return pid, err == nil && n == 2
}

// sweep removes what was left by a process that died while its command ran.
func (g guestCommands) sweep(ctx context.Context, conn *systemd.Conn) {
	left, err := conn.ListUnitsByPatternsContext(ctx, nil, []string{runPrefix + "*.service"})
	if err != nil {
		return // the command itself will tell
	}
	for _, u := range left {
		if pid, ok := runOwner(u.Name); ok && !processExists(pid) {
			g.remove(conn, u.Name)
		}
	}
}

func processExists(pid int) bool {
	_, err := os.Stat(path.Join("/proc", fmt.Sprint(pid)))
	return err == nil
}
