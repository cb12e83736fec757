package memory

import (
	"fmt"
	"slices"

	"hostler/interpreter/host"
)

// dispatch runs every job that need not wait.
func (s *manager) dispatch() {
	for s.runNext() {
	}
	// Jobs that wait in a circle are taken in the order they came, as the
	// manager breaks a cycle by giving up one of its jobs.
	if i := slices.IndexFunc(s.jobs, func(j *job) bool { return !j.running }); i >= 0 &&
		!slices.ContainsFunc(s.jobs, func(j *job) bool { return j.running }) {
		s.begin(s.jobs[i])
		s.dispatch()
	}
}

func (s *manager) runNext() bool {
	for _, j := range s.jobs {
		if !j.running && !s.waits(j) {
			s.begin(j)
			return true
		}
	}
	return false
}

// waits says whether a job is ordered after another that has not ended.
func (s *manager) waits(j *job) bool {
	return slices.ContainsFunc(s.jobs, func(o *job) bool { return o != j && mustWait(j, o) })
}

func mustWait(j, other *job) bool {
	after, before := ordered(j.u, other.u), ordered(other.u, j.u)
	switch {
	case other.verb == host.JobStop && j.verb != host.JobStop:
		return after || before || slices.Contains(j.u.def.conflicts, other.u.def.name) ||
			slices.Contains(other.u.def.conflicts, j.u.def.name)
	case j.verb == host.JobStop:
		return other.verb == host.JobStop && before
	}
	return after
}

// ordered says whether a comes after b.
func ordered(a, b *unit) bool {
	return slices.Contains(a.def.after, b.def.name) || slices.Contains(b.def.before, a.def.name)
}

func (s *manager) begin(j *job) {
	j.running = true
	if result := s.m.jobFault[jobKey{j.verb, s.key(j.u.def.name)}]; result != "" {
		s.finish(j, result, "")
		return
	}
	switch j.verb {
	case host.JobStop:
		s.stop(j.u)
		s.finish(j, "done", "")
	case host.JobReload:
		s.reloadUnit(j)
	case host.JobRestart:
		s.halt(j.u)
		s.start(j.u)
	default:
		s.start(j.u)
	}
}

// finish ends a job, and with it the start jobs that needed its success.
func (s *manager) finish(j *job, result host.JobResult, detail string) {
	if j.done {
		return
	}
	j.done, j.result, j.detail = true, result, detail
	s.jobs = slices.DeleteFunc(s.jobs, func(o *job) bool { return o == j })
	close(j.ended)
	if j.verb != host.JobStop && result != "done" {
		s.failDependents(j)
	}
	if j.then != nil {
		j.then()
	}
}

func (s *manager) failDependents(j *job) {
	for _, o := range slices.Clone(s.jobs) {
		needs := slices.Contains(o.u.def.requires, j.u.def.name)
		if needs && !o.running && o.verb != host.JobStop && ordered(o.u, j.u) {
			s.finish(o, "dependency", fmt.Sprintf("it requires %s, whose job ended with %q", j.u.def.name, j.result))
		}
	}
}

// startEnded ends the unit's running start job, if it has one.
func (s *manager) startEnded(u *unit, result host.JobResult, detail string) {
	if j := s.jobOf(u); j != nil && j.running && j.verb != host.JobStop {
		s.finish(j, result, detail)
	}
}
