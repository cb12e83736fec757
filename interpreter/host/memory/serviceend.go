package memory

import (
	"fmt"
	"slices"
	"strconv"

	"hostler/interpreter/host"
)

// exited is the end of a main process.
func (s *manager) exited(u *unit, run int, out Outcome) {
	if u.run != run {
		return
	}
	u.pid, u.code, u.status = 0, 1, out.Status
	if out.Signal != 0 {
		u.code, u.status = 2, out.Signal
	}
	s.machineEnded(u)
	clean, starting := out.clean(u), u.active == "activating"
	switch {
	case clean && starting && u.def.kind() != "oneshot":
		s.down(u, "protocol")
	case clean && u.def.text.yes("Service", "RemainAfterExit"):
		u.set("active", "exited")
		s.startEnded(u, "done", "")
	default:
		if clean {
			s.startEnded(u, "done", "")
		}
		s.down(u, out.result(u))
	}
}

// down is the end of a unit by itself: inactive or failed, or soon restarted.
func (s *manager) down(u *unit, result string) {
	again := result != "start-limit-hit" && u.restartsAfter(result)
	u.run++
	u.result, u.pid = result, 0
	if result == "success" {
		u.set("inactive", "dead")
	} else {
		u.set("failed", "failed")
		u.say("%s: Failed with result '%s'.", u.def.name, result)
		s.startEnded(u, "failed", fmt.Sprintf("the unit failed with result %q", result))
	}
	switch {
	case again:
		s.restartLater(u)
	case result != "success":
		s.failed(u)
	}
}

// failed starts the units of OnFailure.
func (s *manager) failed(u *unit) {
	for _, name := range u.def.onFailure {
		if other, err := s.get(name); err == nil {
			if _, err := s.enqueue(host.JobStart, other); err == nil {
				s.later(0, s.dispatch)
			}
		}
	}
}

func (s *manager) restartLater(u *unit) {
	u.set("activating", "auto-restart")
	run := u.run
	s.later(u.def.text.span("Service", "RestartSec", restartDelay), func() {
		if u.run != run || u.sub != "auto-restart" {
			return
		}
		u.restarts++
		s.add(host.JobStart, u)
		s.dispatch()
	})
}

// restartsAfter is the rule of Restart= and its exceptions.
func (u *unit) restartsAfter(result string) bool {
	text, status := u.def.text, ""
	if u.code == 1 {
		status = strconv.Itoa(u.status)
	}
	has := func(key string) bool { return status != "" && slices.Contains(text.words("Service", key), status) }
	switch {
	case has("RestartPreventExitStatus"):
		return false
	case has("RestartForceExitStatus"):
		return true
	}
	switch text.one("Service", "Restart") {
	case "always":
		return true
	case "on-success":
		return result == "success"
	case "on-failure":
		return result != "success"
	case "on-abnormal":
		return result == "signal" || result == "timeout"
	case "on-abort":
		return result == "signal"
	}
	return false
}
