package memory

import (
	"fmt"
	"slices"
	"strings"

	"hostler/interpreter/host"
)

// job is a queued change of a unit's state.
type job struct {
	verb    host.JobVerb
	u       *unit
	running bool
	done    bool
	ended   chan struct{} // closed when done
	result  host.JobResult
	detail  string
	then    func() // run when done
}

func hasAt(name string) bool { return strings.Contains(name, "@.") }

// jobOf is the unit's queued or running job.
func (s *manager) jobOf(u *unit) *job {
	for _, j := range s.jobs {
		if j.u == u {
			return j
		}
	}
	return nil
}

// enqueue queues a job with everything it pulls in, as mode "replace" does.
func (s *manager) enqueue(verb host.JobVerb, u *unit) (*job, error) {
	up := !isDown(u.active)
	switch {
	case verb == host.JobStop:
		if u.def.loadState == "not-found" && isDown(u.active) {
			return nil, u.loadable()
		}
		return s.addStop(u), nil
	case verb == host.JobTryRestart && !up:
		if err := u.loadable(); err != nil {
			return nil, err
		}
		return endedJob(verb, u), nil
	case verb == host.JobReload:
		return s.addReload(u)
	}
	if err := s.startable(u, map[*unit]bool{}); err != nil {
		return nil, err
	}
	s.addStart(u, map[*unit]bool{})
	if up && verb != host.JobStart {
		s.add(host.JobRestart, u)
		for _, other := range s.dependents(u) {
			s.add(host.JobRestart, other)
		}
	}
	return s.jobOf(u), nil
}

func endedJob(verb host.JobVerb, u *unit) *job {
	j := &job{verb: verb, u: u, done: true, result: "done", ended: make(chan struct{})}
	close(j.ended)
	return j
}

// startable says why a unit, or one that it requires, cannot be started. It
// is asked before any job is queued: a transaction is queued whole or not.
func (s *manager) startable(u *unit, seen map[*unit]bool) error {
	if seen[u] {
		return nil
	}
	seen[u] = true
	if err := u.loadable(); err != nil {
		return err
	}
	for _, name := range u.def.requires {
		dep, err := s.get(name)
		if err == nil && isDown(dep.active) {
			err = s.startable(dep, seen)
		}
		if err != nil {
			return fmt.Errorf("%s requires %s: %w", u.def.name, name, err)
		}
	}
	return nil
}

// addStart adds start jobs for a startable unit and what it requires and
// wants, and stop jobs for what it conflicts with. What is only wanted may be
// missing.
func (s *manager) addStart(u *unit, seen map[*unit]bool) {
	if seen[u] {
		return
	}
	seen[u] = true
	for _, name := range slices.Concat(u.def.requires, u.def.wants) {
		dep, err := s.get(name)
		if err == nil && isDown(dep.active) && s.startable(dep, map[*unit]bool{}) == nil {
			s.addStart(dep, seen)
		}
	}
	for _, other := range s.conflicting(u) {
		s.addStop(other)
	}
	s.add(host.JobStart, u)
}

// conflicting are the running units that cannot run beside u.
func (s *manager) conflicting(u *unit) (list []*unit) {
	for _, name := range sortedKeys(s.units) {
		other := s.units[name]
		clash := slices.Contains(u.def.conflicts, name) || slices.Contains(other.def.conflicts, u.def.name)
		if clash && other != u && !isDown(other.active) {
			list = append(list, other)
		}
	}
	return list
}

// dependents are the running units that go down or restart with u.
func (s *manager) dependents(u *unit) (list []*unit) {
	for _, name := range sortedKeys(s.units) {
		other := s.units[name]
		tied := slices.Contains(other.def.requires, u.def.name) || slices.Contains(other.def.partOf, u.def.name)
		if tied && other != u && !isDown(other.active) {
			list = append(list, other)
		}
	}
	return list
}

func (s *manager) addStop(u *unit) *job {
	j := s.add(host.JobStop, u)
	for _, other := range s.dependents(u) {
		if old := s.jobOf(other); old == nil || old.verb != host.JobStop {
			s.addStop(other)
		}
	}
	return j
}

func (s *manager) addReload(u *unit) (*job, error) {
	switch {
	case u.loadable() != nil:
		return nil, u.loadable()
	case len(u.def.text.all("Service", "ExecReload")) == 0:
		return nil, fmt.Errorf("job type reload is not applicable for unit %s", u.def.name)
	case u.active != "active":
		return nil, fmt.Errorf("unit %s cannot be reloaded because it is inactive", u.def.name)
	}
	return s.add(host.JobReload, u), nil
}

// add queues a job. One of the same kind is shared; another is replaced.
func (s *manager) add(verb host.JobVerb, u *unit) *job {
	if old := s.jobOf(u); old != nil {
		if old.verb == verb || old.verb == host.JobRestart && verb == host.JobStart && !old.running {
			return old
		}
		if old.verb == host.JobStart && verb == host.JobRestart && !old.running {
			old.verb = verb
			return old
		}
		s.finish(old, "canceled", "another job replaced it")
	}
	j := &job{verb: verb, u: u, ended: make(chan struct{})}
	s.jobs = append(s.jobs, j)
	return j
}
