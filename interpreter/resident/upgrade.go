// Package resident is what stays on a host: the daemon that keeps a complete
// installation as it is, and the change of the interpreter itself, with the way
// back.
package resident

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// Upgrade brings a new interpreter into the slot that does not run, and has it
// run, or goes back.
type Upgrade struct {
	Interpreter *interpreter.Interpreter
	// Wait is how long to wait for the lock.
	Wait time.Duration
	// Settle is how long the new daemon must stay up; 0 is [SettleTime].
	Settle time.Duration
}

// The times of an upgrade.
const (
	// SettleTime is how long a new daemon must stay up before it counts as
	// healthy.
	SettleTime  = 10 * time.Second
	settlePoll  = 500 * time.Millisecond
	versionTime = 30 * time.Second
	// A program that was just written may still be open for writing in a child
	// that another thread was about to start.
	busyTries = 20
	busyPause = 100 * time.Millisecond
)

// Done is how an upgrade ended well.
type Done struct {
	interpreter.Installation
	// Version is what the new program says of itself, Slot where it is.
	Version, Slot string
	// Changed is false when the program ran already.
	Changed bool
}

// RolledBackError is a new interpreter that did not stay up: the one before it
// runs again.
type RolledBackError struct {
	// Cause is what went wrong, Back why going back failed, nil if it did not.
	Cause, Back error
}

func (e *RolledBackError) Error() string {
	if e.Back != nil {
		return fmt.Sprintf("the new interpreter does not run: %v; going back to the last good one failed too: %v", e.Cause, e.Back)
	}
	return fmt.Sprintf("the new interpreter does not run, and the last good one does again: %v", e.Cause)
}

// Unwrap returns what went wrong.
func (e *RolledBackError) Unwrap() []error { return []error{e.Cause, e.Back} }

// Run makes a program the interpreter: it is written into the slot that neither
// runs nor is the last good one, run there, and switched to under the lock; then
// the daemon is started anew and watched. One that does not stay up is taken
// back, with a *RolledBackError.
func (u Upgrade) Run(ctx context.Context, program []byte) (done Done, err error) {
	err = u.Interpreter.Hold(ctx, u.Wait, func(i interpreter.Installation) error {
		done.Installation = i
		return u.change(ctx, program, &done)
	})
	if err != nil {
		return done, err
	}
	if !done.Changed {
		older, err := u.older(ctx, record.InstallPrefix(done.Installation.Prefix))
		if err != nil || !older {
			return done, err
		}
	}
	if cause := u.restart(ctx); cause != nil {
		back := u.back(context.WithoutCancel(ctx), record.InstallPrefix(done.Installation.Prefix))
		return done, &RolledBackError{cause, back}
	}
	return done, nil
}

// older says whether the daemon has been running since before the link was
// moved: an upgrade was cut short before it came to start it anew.
func (u Upgrade) older(ctx context.Context, prefix string) (bool, error) {
	h := u.Interpreter.Host
	unit, err := h.Units.Unit(ctx, delivery.DaemonUnit)
	if errors.Is(err, host.ErrNoManager) || err == nil && !unit.Running() {
		return false, nil
	}
	link, lerr := host.Lstat(h.Files, delivery.Current(prefix))
	if err = errors.Join(err, lerr); err != nil {
		return false, err
	}
	return h.Clock.Monotonic()-unit.ActiveEnter > h.Clock.Now().Sub(link.ModTime())+time.Second, nil
}

// change writes, tries and switches, under the lock.
func (u Upgrade) change(ctx context.Context, program []byte, done *Done) error {
	if err := admit(done.Installation); err != nil {
		return err
	}
	f, prefix := u.Interpreter.Host.Files, record.InstallPrefix(done.Installation.Prefix)
	current, err := delivery.SlotOf(f, prefix, delivery.Current(prefix))
	if err != nil {
		return err
	}
	if current == "" {
		return fmt.Errorf("%s leads to no slot, so there is nothing to upgrade: let the recipe install the interpreter (interpreter_install), then run hostler ensure", delivery.Current(prefix))
	}
	if same, err := holds(f, current, program); err != nil || same {
		done.Slot = current
		return err
	}
	slot, err := u.idle(ctx, prefix, current)
	if err != nil {
		return err
	}
	if done.Version, err = u.write(ctx, prefix, slot, program); err != nil {
		return err
	}
	done.Slot, done.Changed = slot, true
	return delivery.Point(f, delivery.Current(prefix), slot)
}

func admit(i interpreter.Installation) error {
	switch i.Phase {
	case "absent":
		return &record.RefusedError{Reason: "nothing is installed on this host", Advice: "run hostler apply first"}
	case string(record.Resetting):
		return &record.RefusedError{Reason: "a reset of this host is not finished", Advice: "run hostler reset again until it succeeds"}
	case "unreadable":
		return &record.RefusedError{Reason: "who owns this host cannot be told: " + i.Err.Error(), Advice: "nothing was changed"}
	}
	return nil
}

func holds(f host.FileView, slot string, program []byte) (bool, error) {
	st, err := thing.LookPath(f, slot)
	return st.Digest == thing.Digest(program), err
}

// idle is the slot to write to. Where the current program works it becomes the
// last good one, so that the other slot is free; where it does not, the last
// good one stays, and the current slot is the one that is given up.
func (u Upgrade) idle(ctx context.Context, prefix, current string) (string, error) {
	f := u.Interpreter.Host.Files
	good, err := delivery.SlotOf(f, prefix, delivery.LastGood(prefix))
	if err != nil {
		return "", err
	}
	if good == current {
		return delivery.Other(prefix, current), nil
	}
	works, err := u.works(ctx, current)
	if err != nil {
		return "", err
	}
	if !works && good != "" {
		return current, nil
	}
	return delivery.Other(prefix, current), delivery.Point(f, delivery.LastGood(prefix), current)
}

// works says whether the program that runs is one to go back to: it says its
// version and its daemon does not fail.
func (u Upgrade) works(ctx context.Context, program string) (bool, error) {
	_, err := u.version(ctx, program)
	if errors.Is(err, syscall.ETXTBSY) || ctx.Err() != nil {
		return false, err // whether it works cannot be told
	}
	if err != nil {
		return false, nil
	}
	unit, err := u.Interpreter.Host.Units.Unit(ctx, delivery.DaemonUnit)
	if errors.Is(err, host.ErrNoManager) {
		return true, nil
	}
	return !failing(unit), err
}

// failing says that a unit has failed, or is between one failure and the next.
func failing(u host.UnitState) bool {
	return u.ActiveState == "failed" || u.SubState == "auto-restart"
}

// write tries a program beside the slots and puts it into one.
func (u Upgrade) write(ctx context.Context, prefix, slot string, program []byte) (version string, err error) {
	f, next := u.Interpreter.Host.Files, delivery.Next(prefix)
	if err := host.Replace(f, next, host.Content{Bytes: program, Mode: delivery.Mode}); err != nil {
		return "", fmt.Errorf("%s: %w", next, err)
	}
	if version, err = u.version(ctx, next); err != nil {
		return "", errors.Join(fmt.Errorf("the new program is no interpreter of this host; what runs was left as it is: %w", err), host.Remove(f, next))
	}
	if err := host.Rename(f, next, slot); err != nil {
		return "", fmt.Errorf("%s: %w", slot, err)
	}
	return version, nil
}

// version runs a program and returns what it says of itself.
func (u Upgrade) version(ctx context.Context, program string) (string, error) {
	h := u.Interpreter.Host
	var out host.CommandResult
	var err error
	for range busyTries {
		out, err = h.Commands.Run(ctx, host.Command{Argv: []string{program, "version"}, Timeout: versionTime})
		if !errors.Is(err, syscall.ETXTBSY) {
			break
		}
		if err := h.Clock.Sleep(ctx, busyPause); err != nil {
			return "", err
		}
	}
	line, _, _ := bytes.Cut(out.Stdout, []byte("\n"))
	if err == nil && !strings.HasPrefix(string(line), "hostler ") {
		err = errors.New("its version command does not answer as hostler does")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", program, err)
	}
	return string(line), nil
}
