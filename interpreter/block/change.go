package block

import (
	"errors"
	"time"
)

// Action is what a change does.
type Action string

// The actions.
const (
	ActionNone    Action = "none"
	ActionCreate  Action = "create"
	ActionUpdate  Action = "update"
	ActionReplace Action = "replace"
	ActionDelete  Action = "delete"
	ActionRestart Action = "restart"
	ActionRun     Action = "run"
	ActionUnknown Action = "unknown"
)

// Change is the exact change that a step needs.
type Change struct {
	Action Action
	// Reason is a clause that says why, for example "content differs"; for
	// ActionUnknown the cause.
	Reason string
	// Bytes is true when bytes that a watcher cares about change; a mode or
	// owner that is put right is a change without it.
	Bytes bool
	Diffs []Diff
	// Deferred says what happens at the next boot only, offline: "started at
	// boot". A change that has nothing but Deferred has ActionNone.
	Deferred []string
	// Wait is how long the host may still take to get there by itself, when it
	// is on its way: a start is queued, a machine comes up. The step is looked at
	// again until then before anything is done; 0 for what needs us.
	Wait time.Duration
	// Pending says what a running machine will get only by a machine restart
	// or a repave. It does not make a change.
	Pending []Pending
	// Made says what came of the step where that is more than the recipe says,
	// such as the digest an image's tag stood for. The look after a change
	// tells it.
	Made string
}

// None is no change.
var none = Change{Action: ActionNone}

// NoChange returns a Change that needs nothing.
func NoChange() Change { return none }

// Unknown returns a Change that cannot be known, because of err, which wraps
// host.ErrUnknown.
func Unknown(cause string) Change { return Change{Action: ActionUnknown, Reason: cause} }

// Needed says whether there is anything to do.
func (c Change) Needed() bool { return c.Action != ActionNone && c.Action != "" }

// Diff is one file's change, or one other thing's.
type Diff struct {
	// Thing is the key of what changes.
	Thing string
	// Old and New are the bytes, nil when there was or will be nothing. They
	// are shown only when Secret is false.
	Old, New []byte
	// OldMode, NewMode, OldOwner, NewOwner are set when they change; modes
	// are four octal digits, owners "uid:gid".
	OldMode, NewMode, OldOwner, NewOwner string
	// Note describes what has no bytes: "enabled -> disabled".
	Note string
	// Secret is true when either side is sensitive or the file on the host is
	// not world-readable: digests and sizes are shown instead.
	Secret bool
}

// Pending is a change that waits for a machine restart or a repave.
type Pending struct {
	Machine string
	Needs   string // "machine restart" or "repave"
	Reason  string
}

// Unmet is a requirement that the host does not meet.
type Unmet struct {
	// Summary says what is missing, Advice what to do about it.
	Summary, Advice string
	// Warning is true when it is not an error.
	Warning bool
}

func (e *Unmet) Error() string { return e.Summary + ": " + e.Advice }

// PassingError marks an error as one of the fault classes that a retry covers.
type PassingError struct {
	Class FaultClass
	Err   error
}

func (e *PassingError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *PassingError) Unwrap() error { return e.Err }

// Passing returns the fault class of err, "" if it is not a passing one.
func Passing(err error) FaultClass {
	if e, ok := errors.AsType[*PassingError](err); ok {
		return e.Class
	}
	return ""
}

// ErrNeedsInput is returned by Apply when a sensitive value that must be
// written has no value in this run.
var ErrNeedsInput = errors.New("a sensitive value is needed and not given")
