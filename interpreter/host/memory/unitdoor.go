package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hostler/interpreter/host"
)

// forever is beyond every timer.
const forever = time.Duration(1<<63 - 1)

// unitDoor is the unit door of the host ("") or of a machine.
type unitDoor struct {
	m       *Memory
	machine string
}

var _ host.Units = unitDoor{}

// ask runs a call on the manager that answers now.
func (d unitDoor) ask(ctx context.Context, call Call, do func(*manager) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	s := d.m.innerManager(d.machine)
	if s == nil {
		return host.ErrNoManager
	}
	if err := d.m.refused[call]; err != nil {
		return err
	}
	s.collect()
	return do(s)
}

// Manager describes the manager.
func (d unitDoor) Manager(ctx context.Context) (state host.ManagerState, err error) {
	err = d.ask(ctx, CallManager, func(s *manager) error {
		state = host.ManagerState{Version: d.m.opts.Systemd, State: s.state()}
		return nil
	})
	return state, err
}

// Unit describes a unit, loading it if it never was.
func (d unitDoor) Unit(ctx context.Context, name string) (state host.UnitState, err error) {
	err = d.ask(ctx, CallUnit, func(s *manager) error {
		u, err := s.get(name)
		if err == nil {
			state = s.describe(u)
		}
		return err
	})
	return state, err
}

// Log returns the newest lines of a unit since it was last started.
func (d unitDoor) Log(ctx context.Context, name string, lines int) (log []string, err error) {
	err = d.ask(ctx, CallUnit, func(s *manager) error {
		u, err := s.get(name)
		if err == nil {
			log = slices.Clone(u.log[max(0, len(u.log)-max(0, lines)):])
		}
		return err
	})
	return log, err
}

// Reload reads all unit files again.
func (d unitDoor) Reload(ctx context.Context) error {
	d.m.count("units")
	return d.ask(ctx, CallReload, func(s *manager) error {
		s.reload()
		return nil
	})
}

// ResetFailed clears a failed state.
func (d unitDoor) ResetFailed(ctx context.Context, name string) error {
	d.m.count("units")
	return d.ask(ctx, CallResetFailed, func(s *manager) error {
		u, err := s.get(name)
		if err == nil {
			u.resetFailed()
		}
		return err
	})
}

// jobTime is what the manager needs for a job that has nothing to wait for.
const jobTime = time.Millisecond

// Queue queues a job; it begins a little later.
func (d unitDoor) Queue(ctx context.Context, verb host.JobVerb, name string) error {
	d.m.count("units")
	return d.ask(ctx, "", func(s *manager) error {
		_, err := s.queue(verb, name)
		s.later(jobTime, s.dispatch)
		return err
	})
}

func (s *manager) queue(verb host.JobVerb, name string) (*job, error) {
	switch verb {
	case host.JobStart, host.JobStop, host.JobRestart, host.JobReload, host.JobTryRestart:
	default:
		return nil, fmt.Errorf("job verb %q is not known", verb)
	}
	u, err := s.get(name)
	if err != nil {
		return nil, err
	}
	return s.enqueue(verb, u)
}

// Run queues a job and waits for its end, letting time pass as it must.
func (d unitDoor) Run(ctx context.Context, verb host.JobVerb, name string) error {
	d.m.count("units")
	return d.ask(ctx, "", func(s *manager) error {
		j, err := s.queue(verb, name)
		if err != nil {
			return err
		}
		s.dispatch()
		d.m.advance(jobTime)
		if err := s.wait(ctx, j); err != nil {
			return err
		}
		if j.result != "done" {
			return &host.JobError{Unit: name, Verb: verb, Result: j.result, Detail: j.detail}
		}
		return nil
	})
}

// wait lets time pass until the job has ended. A job that no passing of time
// ends is waited for until ctx is done.
func (s *manager) wait(ctx context.Context, j *job) error {
	for !j.done {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.dead {
			return host.ErrNoManager
		}
		if s.m.next(forever) {
			continue
		}
		if ctx.Done() == nil {
			return fmt.Errorf("%s of %s never ends, and nothing bounds the wait", j.verb, j.u.def.name)
		}
		s.m.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-j.ended:
		}
		s.m.mu.Lock()
	}
	return nil
}
