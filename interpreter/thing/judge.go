package thing

import (
	"fmt"
	"strings"

	"hostler/interpreter/host"
)

// passing says that a unit is on its way to another state. Waiting to be
// restarted is not: that can take any time.
func passing(u host.UnitState) bool {
	switch u.ActiveState {
	case "activating", "deactivating":
		return !restarting(u)
	}
	return false
}

// restarting says that a unit failed and waits to be started over.
func restarting(u host.UnitState) bool { return strings.HasPrefix(u.SubState, "auto-restart") }

func phase(u host.UnitState) string { return u.ActiveState + ", " + u.SubState }

// Judge says what a unit does that has settled after a start that was done;
// what is "" when that is right, else a clause that says what is wrong. A
// oneshot unit that the manager has forgotten since has run: else the job
// would have failed.
func Judge(u host.UnitState) (o Outcome, what string) {
	switch {
	case u.LoadState == "masked" || u.LoadState == "not-found":
		return 0, "is " + u.LoadState
	case restarting(u):
		return 0, fmt.Sprintf("does not stay up: %s, started over %d times by itself", result(u), u.NRestarts)
	case u.ActiveState == "active" || u.ActiveState == "reloading" || u.ActiveState == "refreshing":
		return Runs, ""
	case u.ActiveState == "failed":
		return 0, "failed: " + result(u)
	case u.ActiveState != "inactive":
		return 0, fmt.Sprintf("does not come to rest: it is %s (%s)", u.ActiveState, u.SubState)
	case needNot(u):
		return NotNeeded, ""
	case u.Type == "oneshot" && !u.RemainAfterExit && (u.Result == "success" || u.Result == ""):
		return Ran, ""
	case u.ConditionChecked > 0 && !u.ConditionResult, u.Result == "exec-condition":
		return 0, "was not started: a condition of it (Condition…= or ExecCondition=) is not met"
	case u.InactiveExit == 0 && u.InvocationID == "":
		return 0, "does not run: a condition of it is not met, or it ended at once (systemd has forgotten which)"
	}
	return 0, "does not run: it ended by itself, " + result(u)
}

// result is how the unit's last run ended.
func result(u host.UnitState) string {
	s := fmt.Sprintf("result %q", u.Result)
	switch u.ExecMainCode {
	case 1:
		s += fmt.Sprintf(", its main process exited with status %d", u.ExecMainStatus)
	case 2, 3:
		s += fmt.Sprintf(", its main process was ended by signal %d", u.ExecMainStatus)
	}
	return s
}

// HasRun says whether a oneshot unit that does not stay active has run since
// boot with success.
func HasRun(u host.UnitState) bool {
	return u.Type == "oneshot" && !u.RemainAfterExit && u.ActiveState == "inactive" &&
		u.InactiveExit > 0 && u.Result == "success"
}

// needNot says that a oneshot unit's conditions were looked at and not met.
func needNot(u host.UnitState) bool {
	unmet := u.ConditionChecked > 0 && !u.ConditionResult || u.Result == "exec-condition"
	return u.Type == "oneshot" && u.ActiveState == "inactive" && unmet
}

// Started says whether a unit is in the state that a start leaves: it runs or
// is about to, or is a oneshot unit that has run with success since boot or
// need not run. One that fails and is started over is not.
func Started(u host.UnitState) bool {
	return u.Running() && !restarting(u) || HasRun(u) || needNot(u)
}

// Forgotten says whether nothing can be told of earlier runs: the manager keeps
// no unit that is inactive and that no other loaded unit refers to, so it
// forgets a oneshot unit that is not enabled as soon as it has run.
func Forgotten(u host.UnitState) bool {
	return u.Type == "oneshot" && !u.RemainAfterExit && u.ActiveState == "inactive" &&
		u.InactiveExit == 0 && u.ConditionChecked == 0
}

// Stopped says whether nothing of the unit runs or is about to.
func Stopped(u host.UnitState) bool {
	if u.JobType == string(host.JobStart) || u.JobType == string(host.JobRestart) {
		return false
	}
	switch u.ActiveState {
	case "inactive", "failed", "":
		return true
	}
	return u.LoadState == "not-found" && !u.Running()
}
