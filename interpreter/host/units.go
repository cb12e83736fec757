package host

import (
	"context"
	"time"
)

// UnitView asks the service manager. On a host without a running one every
// method returns ErrNoManager.
type UnitView interface {
	// Manager describes the running service manager.
	Manager(ctx context.Context) (ManagerState, error)
	// Unit describes one unit. A unit the manager does not know is not an
	// error: its LoadState is "not-found". Asking loads the unit file if it is
	// not loaded, as systemctl show does.
	Unit(ctx context.Context, name string) (UnitState, error)
	// Log returns the newest lines that the unit logged since it was last
	// started, oldest first, for error texts; none is not an error.
	Log(ctx context.Context, name string, lines int) ([]string, error)
}

// Units manages the state of units. Unit files, enabling and masking are
// files and links, managed through the file door and made known by Reload.
type Units interface {
	UnitView
	// Reload makes the manager read all unit files again (daemon-reload).
	Reload(ctx context.Context) error
	// Run queues a job with mode "replace" and waits for its result. A result
	// other than "done" is a *JobError; a unit that does not exist is
	// ErrNoUnit. "done" says that the job ended, not that the unit runs. ctx
	// bounds the wait; the job itself is not cancelled.
	Run(ctx context.Context, verb JobVerb, name string) error
	// Queue queues a job and does not wait.
	Queue(ctx context.Context, verb JobVerb, name string) error
	// ResetFailed clears a failed state and the start limit's count. A unit
	// that is not loaded is not an error.
	ResetFailed(ctx context.Context, name string) error
}

// JobVerb is what a job does, in systemctl's words.
type JobVerb string

// The job verbs.
const (
	JobStart      JobVerb = "start"
	JobStop       JobVerb = "stop"
	JobRestart    JobVerb = "restart"
	JobReload     JobVerb = "reload"
	JobTryRestart JobVerb = "try-restart"
)

// JobResult is how a job ended, in systemd's words: "done", "canceled",
// "timeout", "failed", "dependency", "skipped", "assert", …
type JobResult string

// ManagerState describes a running service manager.
type ManagerState struct {
	// Version is the systemd version, for example 252.
	Version int
	// State is the system state: "initializing", "starting", "running",
	// "degraded", "maintenance" or "stopping".
	State string
}

// UnitState describes one unit, in the words of systemd's D-Bus properties.
type UnitState struct {
	// Name is the unit's own name, which differs from the one asked for when
	// that is an alias.
	Name          string
	LoadState     string // "loaded", "not-found", "masked", "error", "bad-setting"
	LoadError     string // the manager's text when LoadState is "error" or "bad-setting"
	ActiveState   string // "active", "inactive", "failed", "activating", "deactivating", "reloading"
	SubState      string
	UnitFileState string // "enabled", "disabled", "static", "masked", "generated", "alias", … or ""
	FragmentPath  string
	SourcePath    string
	DropInPaths   []string
	Type          string // of services: "simple", "oneshot", "notify", …
	Result        string // of services: "success", "exit-code", "start-limit-hit", …
	// ExecMainCode and ExecMainStatus are wait(2)'s code (1 exited, 2 killed)
	// and status of the last main process.
	ExecMainCode, ExecMainStatus int
	RemainAfterExit              bool
	ConditionResult              bool
	AssertResult                 bool
	NeedDaemonReload             bool
	NRestarts                    int
	MainPID                      int
	InvocationID                 string // lower-case hex, "" if never started
	// After are the units this one is ordered after.
	After []string
	// JobType is the type of the queued job, "" if there is none.
	JobType string
	// ActiveEnter and InactiveExit are on the axis of [Clock.Monotonic]; 0 if
	// it never happened.
	ActiveEnter, InactiveExit time.Duration
	// ConditionChecked is when the unit's conditions were last looked at, on
	// the same axis; 0 if never since boot, and ConditionResult says nothing.
	ConditionChecked time.Duration
}

// Running says whether the unit's processes run or are about to.
func (u UnitState) Running() bool {
	switch u.ActiveState {
	case "active", "reloading", "activating", "refreshing":
		return true
	}
	return false
}
