package host

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// Sentinels that doors answer with; test with [errors.Is].
var (
	// ErrUnknown means that the answer cannot be had now: on a shadow it
	// depends on an effect that has not happened, offline on a running host.
	// The error is an *UnknownError that says why.
	ErrUnknown = errors.New("unknown")
	// ErrNoManager means that no service manager runs on this host (an
	// offline root, a machine that is not started).
	ErrNoManager = errors.New("no running service manager")
	// ErrNoMachined means that machines cannot be listed because
	// systemd-machined is not there. It is an error for whoever must know
	// which machines run; only teardown may take it as "none".
	ErrNoMachined = errors.New("systemd-machined is not available")
	// ErrNoMachine means that there is no machine of that name, running or
	// not.
	ErrNoMachine = errors.New("no such machine")
	// ErrNoTool means that an executable was not found, as against found and
	// failed.
	ErrNoTool = errors.New("executable not found")
	// ErrNoUnit means that the manager knows no unit of that name.
	ErrNoUnit = errors.New("no such unit")
	// ErrFIFO is the ENXIO of whoever would open a FIFO and wait for its other
	// end.
	ErrFIFO = fmt.Errorf("it is a named pipe (FIFO) and no file: %w", syscall.ENXIO)
)

// UnknownError is an ErrUnknown with its cause, a clause that completes
// "unknown: …", for example "image registry.example/worker:1 is not unpacked
// yet".
type UnknownError struct{ Cause string }

func (e *UnknownError) Error() string { return "unknown: " + e.Cause }

// Is makes errors.Is(err, ErrUnknown) true.
func (e *UnknownError) Is(target error) bool { return target == ErrUnknown }

// Unknownf returns an *UnknownError with a formatted cause.
func Unknownf(format string, args ...any) error {
	return &UnknownError{Cause: fmt.Sprintf(format, args...)}
}

// Cause returns the cause of the *UnknownError in err's chain, or "" if there
// is none.
func Cause(err error) string {
	if e, ok := errors.AsType[*UnknownError](err); ok {
		return e.Cause
	}
	return ""
}

// HeldError says that another process holds the installation lock.
type HeldError struct {
	// Holder is nil when the lock is held but its description cannot be read.
	Holder *Holder
	Path   string
}

func (e *HeldError) Error() string {
	if e.Holder == nil {
		return fmt.Sprintf("another run holds the installation lock %s", e.Path)
	}
	if e.Holder.Since.IsZero() {
		return fmt.Sprintf("another run holds the installation lock %s: process %d (%s)", e.Path, e.Holder.PID, e.Holder.Command)
	}
	return fmt.Sprintf("another run holds the installation lock %s: process %d (%s) since %s",
		e.Path, e.Holder.PID, e.Holder.Command, e.Holder.Since.UTC().Format(time.RFC3339))
}

// JobError is a job of the service manager that did not end with "done".
type JobError struct {
	Unit   string
	Verb   JobVerb
	Result JobResult
	// Detail names what went wrong where that is known, for example the
	// dependency that failed.
	Detail string
}

func (e *JobError) Error() string {
	s := fmt.Sprintf("%s of %s: job result %q", e.Verb, e.Unit, e.Result)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}
