package shadow

import (
	"context"
	"errors"
	"fmt"
	"path"

	"hostler/interpreter/host"
)

// Run gives a job, which succeeds where that can be foreseen.
func (u *units) Run(ctx context.Context, verb host.JobVerb, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	u.w.mu.Lock()
	defer u.w.mu.Unlock()
	known, err := u.w.addressed(ctx, name)
	if err != nil {
		return err
	}
	if err := u.w.job(verb, known); err != nil {
		return err
	}
	u.w.log.note(string(verb), name)
	return nil
}

// Queue does what Run does: in a shadow no job takes time.
func (u *units) Queue(ctx context.Context, verb host.JobVerb, name string) error {
	err := u.Run(ctx, verb, name)
	if _, failed := errors.AsType[*host.JobError](err); failed {
		return nil // nobody waits for it
	}
	return err
}

// ResetFailed makes a failed unit inactive.
func (u *units) ResetFailed(ctx context.Context, name string) error {
	u.w.mu.Lock()
	defer u.w.mu.Unlock()
	known, err := u.w.addressed(ctx, name)
	if err != nil {
		return err
	}
	if s := &known.state; s.ActiveState == "failed" {
		s.ActiveState, s.SubState, s.Result, s.NRestarts = "inactive", "dead", "success", 0
		known.touched = true
	}
	u.w.log.note("reset-failed", name)
	return nil
}

// addressed is the unit that gets a job. In a machine that runs in the shadow
// only, any may be there.
func (w *world) addressed(ctx context.Context, name string) (*unit, error) {
	u, err := w.unit(ctx, name)
	if err == nil || w.cond != started {
		return u, err
	}
	text, err := readUnit(w.files, name)
	if err != nil && !errors.Is(err, host.ErrUnknown) {
		return nil, err
	}
	u = &unit{text: text, state: text.assumed()}
	u.state.ActiveState, u.state.SubState = "inactive", "dead"
	keep(&w.units, text.name, u)
	return u, nil
}

func (w *world) job(verb host.JobVerb, u *unit) error {
	switch verb {
	case host.JobStop:
		return w.stopUnit(u)
	case host.JobStart, host.JobRestart:
		if verb == host.JobStart && up(u.state) {
			return nil
		}
		return w.startUnit(verb, u)
	case host.JobTryRestart:
		if !u.state.Running() {
			return missing(u.state)
		}
		return w.startUnit(verb, u)
	case host.JobReload:
		if !up(u.state) {
			return &host.JobError{Unit: u.state.Name, Verb: verb, Result: "invalid", Detail: "the unit is not active"}
		}
		if u.text.load == "loaded" && !u.text.reload && path.Ext(u.state.Name) == ".service" {
			return fmt.Errorf("%s of %s: the unit has no ExecReload=", verb, u.state.Name)
		}
		return nil
	}
	return fmt.Errorf("%s: %q is no job", u.state.Name, verb)
}

// up says whether the unit is where a start leads.
func up(s host.UnitState) bool { return s.Running() && s.ActiveState != "activating" }

func missing(s host.UnitState) error {
	if s.LoadState == "not-found" {
		return fmt.Errorf("%s: %w", s.Name, host.ErrNoUnit)
	}
	return nil
}

// startable says why the manager would refuse to start a unit.
func startable(verb host.JobVerb, s host.UnitState) error {
	switch s.LoadState {
	case "not-found":
		return missing(s)
	case "masked":
		return fmt.Errorf("%s of %s: the unit is masked", verb, s.Name)
	case "error", "bad-setting":
		return fmt.Errorf("%s of %s: the unit cannot be loaded: %s", verb, s.Name, s.LoadError)
	}
	return nil
}

func (w *world) startUnit(verb host.JobVerb, u *unit) error {
	if err := startable(verb, u.state); err != nil {
		return err
	}
	name := machineOf(u.state.Name)
	if name != "" {
		if _, err := w.files.Stat(host.MachineRoot(name)); host.Absent(err) {
			u.fail(w)
			return &host.JobError{Unit: u.state.Name, Verb: verb, Result: "failed", Detail: "there is no tree at " + host.MachineRoot(name)}
		}
		w.guest(name).become(started)
	}
	u.start(w)
	return nil
}

func (w *world) stopUnit(u *unit) error {
	if !u.state.Running() {
		return missing(u.state)
	}
	if name := machineOf(u.state.Name); name != "" {
		w.guest(name).become(stopped)
	}
	u.stop()
	return nil
}

// invoke begins a new invocation.
func (u *unit) invoke(w *world) {
	u.touched = true
	s := &u.state
	if s.ActiveState != "activating" {
		w.root().jobs++
		s.InvocationID = fmt.Sprintf("5add0%027x", w.root().jobs)
		s.InactiveExit = w.clock.tick()
	}
	s.ActiveEnter, s.MainPID, s.NRestarts = 0, 0, 0
	s.ExecMainCode, s.ExecMainStatus, s.JobType = 0, 0, ""
	s.ConditionResult, s.AssertResult, s.ConditionChecked = true, true, w.clock.Monotonic()
}

// root is the outermost host.
func (w *world) root() *world {
	for w.up != nil {
		w = w.up
	}
	return w
}

func (u *unit) start(w *world) {
	u.invoke(w)
	s := &u.state
	if path.Ext(s.Name) == ".service" {
		s.Result = "success"
	}
	if s.Type == "oneshot" && !s.RemainAfterExit {
		s.ActiveState, s.SubState, s.ExecMainCode = "inactive", "dead", 1
		return
	}
	s.ActiveState, s.SubState, s.ActiveEnter = "active", subState(*s), w.clock.tick()
	if s.SubState == "running" {
		s.MainPID = noPID + w.root().jobs
	}
}

// noPID is above every process id: that of a service which runs only here
// belongs to nobody.
const noPID = 1 << 22

// subState is that of an active unit.
func subState(s host.UnitState) string {
	switch path.Ext(s.Name) {
	case ".service", ".scope":
		if s.Type == "oneshot" {
			return "exited"
		}
		return "running"
	case ".socket":
		return "listening"
	case ".timer", ".path", ".automount":
		return "waiting"
	case ".mount":
		return "mounted"
	}
	return "active"
}

func (u *unit) fail(w *world) {
	u.invoke(w)
	u.state.ActiveState, u.state.SubState, u.state.Result = "failed", "failed", "exit-code"
	u.state.ExecMainCode, u.state.ExecMainStatus = 1, 1
}

func (u *unit) stop() {
	u.touched = true
	s := &u.state
	s.ActiveState, s.SubState, s.MainPID, s.JobType = "inactive", "dead", 0, ""
	if path.Ext(s.Name) == ".service" {
		s.Result = "success"
	}
}
