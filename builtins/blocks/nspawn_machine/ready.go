package nspawnmachine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// condition is one of the things that must hold.
type condition struct {
	unit, file        string
	command           []string
	timeout, interval time.Duration
	onTimeout         [][]string
	reason            string // what its failure is reported as
}

func (m *machine) takeReady(args block.Args) (diags hcl.Diagnostics) {
	for i, r := range m.args.Ready {
		at := fmt.Sprintf("ready[%d]", i)
		c := condition{command: r.Command, onTimeout: r.OnTimeout}
		given := 0
		if r.Unit != nil {
			c.unit, given = *r.Unit, given+1
		}
		if r.File != nil {
			c.file, given = *r.File, given+1
		}
		if r.Command != nil {
			given++
		}
		if r.Reason != nil {
			c.reason = *r.Reason
		}
		if given != 1 {
			diags = append(diags, args.Fault(at, "Condition needed once", "Write exactly one of unit, command and file in ready; repeat ready for more."))
		}
		var err, err2 error
		c.timeout, err = block.ParseDuration(r.Timeout)
		c.interval, err2 = block.ParseDuration(r.Interval)
		if err := errors.Join(err, err2); err != nil {
			diags = append(diags, args.Fault(at+".timeout", "Invalid duration", err.Error()))
		}
		if c.interval <= 0 {
			c.interval = time.Second
		}
		m.conditions = append(m.conditions, c)
	}
	return diags
}

func (c condition) String() string {
	switch {
	case c.unit != "":
		return "unit " + c.unit
	case c.file != "":
		return "file " + c.file
	}
	return "command " + c.command[0]
}

// readyStep is the part that waits until the machine is ready and then records
// what it was built from.
type readyStep struct {
	*machine
}

// Owns is nothing: it looks only.
func (s *readyStep) Owns() []thing.Owned { return nil }

// Check looks at units and files. Commands are asked after a start of ours
// only, which is noted until the machine was ready.
func (s *readyStep) Check(ctx context.Context, in block.Look) (block.Change, error) {
	if err := ctx.Err(); err != nil {
		return block.Change{}, s.named(err)
	}
	running, err := s.running(ctx, in.View)
	if err != nil {
		return block.OrUnknown("machine "+s.active, err)
	}
	if !running {
		if !in.View.Identity.Live {
			return block.Change{Action: block.ActionNone, Deferred: []string{"machine " + s.active + " becomes ready after boot"}}, nil
		}
		return block.Change{Action: block.ActionRun, Reason: "it does not run"}, nil
	}
	note, err := s.readStart(ctx, in.View)
	if err != nil {
		return block.OrUnknown("machine "+s.active, err)
	}
	if note != nil {
		return block.Change{Action: block.ActionRun, Reason: "it was started and is not known to be ready yet"}, nil
	}
	return s.checkConditions(ctx, in)
}

func (s *readyStep) checkConditions(ctx context.Context, in block.Look) (block.Change, error) {
	inside, err := in.View.Machines.View(ctx, s.active)
	if err != nil {
		return block.OrUnknown("machine "+s.active, err)
	}
	for _, c := range s.conditions {
		if c.command != nil {
			continue
		}
		why, err := c.look(ctx, inside)
		if err != nil {
			return block.OrUnknown("machine "+s.active+": "+c.String(), err)
		}
		if why != "" {
			change := block.Change{Action: block.ActionRun, Reason: c.String() + " " + why}
			if comingUp(ctx, inside) {
				change.Wait = c.timeout
			}
			return change, nil
		}
	}
	return block.NoChange(), nil
}

// comingUp says that a machine's manager has not started everything yet.
func comingUp(ctx context.Context, inside host.View) bool {
	m, err := inside.Units.Manager(ctx)
	return err == nil && (m.State == "initializing" || m.State == "starting")
}

func (s *readyStep) running(ctx context.Context, v host.View) (bool, error) {
	found, registered, err := thing.FindMachine(ctx, v.Machines, s.active)
	return registered && found.Alive, err
}

// Apply waits for each condition, then records.
func (s *readyStep) Apply(ctx context.Context, do block.Do) error {
	err := ctx.Err()
	if err == nil {
		err = s.wait(ctx, do)
	}
	if err != nil {
		return s.named(err)
	}
	return nil
}

func (s *readyStep) wait(ctx context.Context, do block.Do) error {
	if !do.View.Identity.Live {
		return nil
	}
	running, err := s.running(ctx, do.View)
	if err != nil {
		return err
	}
	if !running {
		return fmt.Errorf("it does not run, so it cannot become ready; look at systemctl status %s", thing.MachineUnit(s.active))
	}
	note, err := s.readStart(ctx, do.View)
	if err != nil {
		return err
	}
	inside, err := do.Host.Machines.Host(ctx, s.active)
	if err != nil {
		return err
	}
	for _, c := range s.conditions {
		if c.command != nil && note == nil {
			continue
		}
		if err := c.await(ctx, inside, do.Host.Clock); err != nil {
			return block.Because(c.reason, err)
		}
	}
	return s.record(ctx, do, note)
}

// record notes what the machine was built from, if this installation started
// it.
func (s *readyStep) record(ctx context.Context, do block.Do, note *started) error {
	if note == nil {
		return nil
	}
	if do.Build != nil {
		if err := do.Build(ctx, note.Built); err != nil {
			return err
		}
	}
	return forgetStart(do.Host.Files, s.active)
}

// Reset does nothing: nothing was changed.
func (s *readyStep) Reset(context.Context, block.Do, thing.Thing, thing.Origin) error { return nil }

// look says why a unit or file is not as it must be, "" if it is.
func (c condition) look(ctx context.Context, v host.View) (string, error) {
	if c.file != "" {
		_, err := v.Files.Stat(c.file)
		if host.Absent(err) {
			return "is not there", nil
		}
		return "", err
	}
	u, err := v.Units.Unit(ctx, c.unit)
	switch {
	case errors.Is(err, host.ErrNoManager):
		return "cannot be asked for: the machine's manager does not answer", nil
	case err != nil:
		return "", err
	case u.ActiveState == "active" || thing.HasRun(u):
		return "", nil
	case u.LoadState == "not-found":
		return "does not exist", nil
	}
	return fmt.Sprintf("is %s (%s)", u.ActiveState, u.SubState), nil
}

// ask is look, and runs commands too.
func (c condition) ask(ctx context.Context, inside host.Host) (string, error) {
	if c.command == nil {
		return c.look(ctx, inside.View())
	}
	_, err := inside.Commands.Run(ctx, host.Command{Argv: c.command, Timeout: c.timeout})
	switch {
	case err == nil || errors.Is(err, host.ErrUnknown):
		return "", err
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "does not succeed: " + err.Error(), nil
}

// await waits until the condition holds. When the time is up it collects what
// the diagnostics say.
func (c condition) await(ctx context.Context, inside host.Host, clock host.Clock) error {
	for waited := time.Duration(0); ; waited += c.interval {
		why, err := c.ask(ctx, inside)
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		if why == "" {
			return nil
		}
		if _, shadow := inside.Files.(host.Unknowable); shadow {
			return host.Unknownf("%s %s, and whether that changes is not known before", c, why)
		}
		if waited >= c.timeout {
			return fmt.Errorf("it is not ready after %s: %s %s%s", c.timeout, c, why, c.diagnose(ctx, inside))
		}
		if err := clock.Sleep(ctx, c.interval); err != nil {
			return fmt.Errorf("waiting for %s: %w", c, err)
		}
	}
}

// Bounds of what a diagnostic may take and say.
const (
	diagnosticTime  = 30 * time.Second
	diagnosticLines = 20
)

// diagnose runs the diagnostics and returns what they print, indented.
func (c condition) diagnose(ctx context.Context, inside host.Host) string {
	var b strings.Builder
	for _, argv := range c.onTimeout {
		fmt.Fprintf(&b, "\n%s:", strings.Join(argv, " "))
		r, err := inside.Commands.Run(ctx, host.Command{Argv: argv, Timeout: diagnosticTime})
		lines := strings.Split(strings.TrimRight(string(r.Stdout)+string(r.Stderr), "\n"), "\n")
		for _, line := range lines[max(0, len(lines)-diagnosticLines):] {
			b.WriteString("\n  " + line)
		}
		if err != nil {
			b.WriteString("\n  (" + err.Error() + ")")
		}
	}
	return b.String()
}
