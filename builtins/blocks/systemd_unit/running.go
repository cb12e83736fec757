package systemdunit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// runPlan is what has to be done about the unit's state.
type runPlan struct {
	verb     host.JobVerb // "" is nothing
	reason   string
	note     string
	deferred []string
	unknown  string // why it cannot be known
	// wait is how long a start that is queued already may take.
	wait time.Duration
}

// startTime is how long a start may take that somebody else has queued: what
// systemd gives a service by default.
const startTime = 90 * time.Second

// planRun compares the state of the unit with what it should be.
func (s *step) planRun(ctx context.Context, in block.Look, p plan) (runPlan, error) {
	if s.args.State == nil {
		return runPlan{}, nil
	}
	u, err := in.View.Units.Unit(ctx, s.name)
	switch {
	case errors.Is(err, host.ErrNoManager):
		return s.atRest(p)
	case err != nil:
		return runPlan{}, err
	case s.stops():
		return planStop(u), nil
	}
	return s.planStart(ctx, in, u)
}

// errMasked says what to do about a unit that cannot be started.
var errMasked = errors.New("it is masked and cannot be started; write mask = false to take the mask away")

// masked says that a mask is there, and stays.
func (s *step) masked() bool { return !s.own && !is(s.args.Mask, false) }

// atRest is the plan where no manager runs: nothing can be started now.
func (s *step) atRest(p plan) (runPlan, error) {
	switch {
	case s.stops():
		return runPlan{}, nil
	case p.links.was == thing.Masked && s.masked():
		return runPlan{}, errMasked
	case p.links.atBoot:
		return runPlan{deferred: []string{s.name + " is started at boot"}}, nil
	}
	return runPlan{deferred: []string{s.name + " is started by the first run on the running host; nothing enables it at boot"}}, nil
}

func planStop(u host.UnitState) runPlan {
	if thing.Stopped(u) {
		return runPlan{}
	}
	return runPlan{verb: host.JobStop, reason: "it runs", note: u.ActiveState + " -> inactive"}
}

func (s *step) planStart(ctx context.Context, in block.Look, u host.UnitState) (runPlan, error) {
	if why, err := s.barred(ctx, in.View.Machines); err != nil || why {
		return runPlan{}, err
	}
	if thing.Started(u) && u.LoadState != "masked" {
		return runPlan{}, nil
	}
	switch u.LoadState {
	case "masked":
		if s.masked() {
			return runPlan{}, errMasked
		}
	case "not-found":
		if !s.own {
			return runPlan{unknown: fmt.Sprintf("there is no unit %s yet", s.name)}, nil
		}
	case "error", "bad-setting":
		if len(s.files) == 0 {
			return runPlan{}, fmt.Errorf("it cannot be loaded and so not be started: %s", u.LoadError)
		}
	}
	if queued, err := s.queued(ctx, in, u); err != nil || queued {
		return runPlan{}, err
	}
	if thing.Forgotten(u) {
		if ran, err := thing.NotedRan(ctx, in.View, s.name); err != nil || ran {
			return runPlan{}, err
		}
	}
	p := runPlan{verb: host.JobStart, reason: whyStart(u), note: u.ActiveState + " -> active"}
	if starting(u) {
		p.wait = startTime
	}
	return p, nil
}

// starting says that a start is queued.
func starting(u host.UnitState) bool {
	return u.JobType == string(host.JobStart) || u.JobType == string(host.JobRestart)
}

// queued says that a start is queued that waits for the unit we run in.
func (s *step) queued(ctx context.Context, in block.Look, u host.UnitState) (bool, error) {
	if !starting(u) {
		return false, nil
	}
	return thing.WaitsFor(ctx, in.View.Units, u, in.OwnUnit)
}

func whyStart(u host.UnitState) string {
	switch {
	case u.ActiveState == "failed":
		return fmt.Sprintf("it has failed (result %q)", u.Result)
	case u.Running():
		return fmt.Sprintf("it fails and is started over (result %q)", u.Result)
	}
	return "it does not run"
}

// barred says that a machine is registered while which the unit is not to be
// started. Machines that cannot be listed are an error, never none.
func (s *step) barred(ctx context.Context, m host.MachineView) (bool, error) {
	if len(s.args.StartUnless) == 0 {
		return false, nil
	}
	registered, err := m.Registered(ctx)
	if err != nil {
		return false, fmt.Errorf("start_unless: the machines cannot be listed: %w", err)
	}
	return slices.ContainsFunc(registered, func(found host.MachineState) bool {
		return slices.Contains(s.args.StartUnless[0].Machines, found.Name)
	}), nil
}
