package memory

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

const (
	// settleTime is how long a process lives that fails at once.
	settleTime = 5 * time.Millisecond
	// defaultTimeout is DefaultTimeoutStartSec.
	defaultTimeout = 90 * time.Second
	restartDelay   = 100 * time.Millisecond
	notExecutable  = 203
	sigTerm        = 15
)

// start does a unit's start job up to where it waits for a process.
func (s *manager) start(u *unit) {
	auto := u.sub == "auto-restart"
	switch {
	case u.active == "active":
		s.startEnded(u, "done", "")
		return
	case u.active == "activating" && !auto:
		return // the job ends with the start that is under way
	case u.def.kind() != "" && !u.withinLimit():
		s.down(u, "start-limit-hit")
		return
	}
	u.condition, u.assert, u.checked = s.holds(u, "Condition"), true, s.m.clock.since()
	if !u.condition {
		u.rest(auto)
		s.startEnded(u, "done", "")
		return
	}
	if u.assert = s.holds(u, "Assert"); !u.assert {
		u.rest(auto)
		s.startEnded(u, "assert", "an assertion does not hold")
		return
	}
	if !auto {
		u.restarts = 0
	}
	s.enter(u)
}

// rest ends an automatic restart that did not come about.
func (u *unit) rest(auto bool) {
	if auto {
		u.set("inactive", "dead")
	}
}

// enter begins a new invocation.
func (s *manager) enter(u *unit) {
	s.m.calls++
	u.invocation = fmt.Sprintf("%032x", s.m.calls)
	u.starts++
	u.run++
	u.log = nil
	if u.def.kind() == "" {
		u.set("active", idleState(u.def.name))
		s.startEnded(u, "done", "")
		return
	}
	u.result, u.code, u.status = "success", 0, 0
	u.set("activating", "start")
	run := u.run
	if s.prepare(u) && u.run == run {
		s.launch(u)
	}
}

// prepare runs ExecCondition and ExecStartPre.
func (s *manager) prepare(u *unit) bool {
	for _, line := range u.def.text.all("Service", "ExecCondition") {
		out := s.exec(u, line)
		switch {
		case out.Status == 0 && out.Signal == 0:
			continue
		case out.Status < 255 && out.Signal == 0:
			u.result = "exec-condition"
			u.set("inactive", "dead")
			s.startEnded(u, "done", "")
			return false
		}
		s.down(u, "exit-code")
		return false
	}
	for _, line := range u.def.text.all("Service", "ExecStartPre") {
		if out := s.exec(u, line); out.Status != 0 || out.Signal != 0 {
			s.down(u, "exit-code")
			return false
		}
	}
	return true
}

// launch starts the main process.
func (s *manager) launch(u *unit) {
	run := u.run
	out := s.mainProcess(u)
	if u.run != run {
		return // stopped meanwhile
	}
	u.log = append(u.log, out.Log...)
	s.m.pids++
	u.pid = s.m.pids
	atOnce := out.Ends && out.After == 0
	switch kind := u.def.kind(); {
	case kind == "oneshot":
		s.limitStart(u, run, 0)
		s.endLater(u, run, out)
		return
	case atOnce && kind == "forking" && out.clean(u):
		out.Ends = false // the process that stays is another
	case kind == "simple", kind == "idle", kind == "exec" && out.Status != notExecutable:
		if atOnce {
			out.After = settleTime
		}
	case atOnce:
		s.exited(u, run, out)
		return
	case out.Silent:
		s.limitStart(u, run, defaultTimeout)
		s.endLater(u, run, out)
		return
	}
	u.set("active", "running")
	s.startEnded(u, "done", "")
	s.endLater(u, run, out)
}

// endLater lets the process end when its time has come.
func (s *manager) endLater(u *unit, run int, out Outcome) {
	switch {
	case !out.Ends:
	case out.After == 0:
		s.exited(u, run, out)
	default:
		s.later(out.After, func() { s.exited(u, run, out); s.dispatch() })
	}
}

// limitStart ends a start that takes longer than TimeoutStartSec; 0 is no
// limit.
func (s *manager) limitStart(u *unit, run int, otherwise time.Duration) {
	limit := u.def.text.span("Service", "TimeoutStartSec", otherwise)
	if limit <= 0 {
		return
	}
	s.later(limit, func() {
		if u.run == run && u.active == "activating" {
			u.code, u.status = 2, sigTerm
			s.down(u, "timeout")
			s.dispatch()
		}
	})
}

// clean says whether an end counts as success.
func (o Outcome) clean(u *unit) bool {
	if o.Signal != 0 {
		return slices.Contains([]int{1, 2, 13, sigTerm}, o.Signal) && u.def.kind() != "oneshot"
	}
	return o.Status == 0 || slices.Contains(u.def.text.words("Service", "SuccessExitStatus"), strconv.Itoa(o.Status))
}

func (o Outcome) result(u *unit) string {
	switch {
	case o.clean(u):
		return "success"
	case o.Signal != 0:
		return "signal"
	}
	return "exit-code"
}

// stop ends a unit on request.
func (s *manager) stop(u *unit) {
	if u.active == "failed" {
		return
	}
	s.halt(u)
}

// halt kills the processes of a unit and lets it be inactive.
func (s *manager) halt(u *unit) {
	u.run++
	if u.pid != 0 {
		u.code, u.status = 2, sigTerm
	}
	u.pid = 0
	s.machineEnded(u)
	u.set("inactive", "dead")
}

// reloadUnit runs ExecReload.
func (s *manager) reloadUnit(j *job) {
	for _, line := range j.u.def.text.all("Service", "ExecReload") {
		if out := s.exec(j.u, line); out.Status != 0 || out.Signal != 0 {
			s.finish(j, "failed", fmt.Sprintf("ExecReload exited with %d", out.Status))
			return
		}
	}
	s.finish(j, "done", "")
}
