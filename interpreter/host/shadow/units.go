package shadow

import (
	"context"
	"errors"

	"hostler/interpreter/host"
)

// units is the door to the service manager.
type units struct{ w *world }

// unit is what a shadow knows of one unit.
type unit struct {
	// text is what its files said when the manager last read them.
	text unitText
	// state is the answer to the last question.
	state host.UnitState
	// touched is set once a job was given: what runs is as in state and no
	// longer as in the base.
	touched bool
}

// Manager is the base's.
func (u *units) Manager(ctx context.Context) (host.ManagerState, error) {
	u.w.mu.Lock()
	defer u.w.mu.Unlock()
	v, err := u.w.live(ctx)
	if err != nil {
		return host.ManagerState{}, err
	}
	return v.Units.Manager(ctx)
}

// Unit describes a unit: what the base says, with what the shadow changed.
func (u *units) Unit(ctx context.Context, name string) (host.UnitState, error) {
	u.w.mu.Lock()
	defer u.w.mu.Unlock()
	known, err := u.w.unit(ctx, name)
	if err != nil {
		return host.UnitState{}, err
	}
	return known.state, nil
}

// Log is the base's; what only the shadow started has logged nothing.
func (u *units) Log(ctx context.Context, name string, lines int) ([]string, error) {
	u.w.mu.Lock()
	defer u.w.mu.Unlock()
	known, err := u.w.unit(ctx, name)
	if err != nil {
		return nil, err
	}
	v, err := u.w.live(ctx)
	if err != nil || known.touched {
		return nil, nil // it runs in the shadow only
	}
	return v.Units.Log(ctx, name, lines)
}

// Reload makes the shadow's files count.
func (u *units) Reload(ctx context.Context) error {
	u.w.mu.Lock()
	defer u.w.mu.Unlock()
	v, err := u.w.live(ctx)
	if err == nil {
		_, err = v.Units.Manager(ctx)
	}
	if err != nil && u.w.cond != started {
		return err
	}
	for name, known := range u.w.units {
		text, err := readUnit(u.w.files, name)
		if err != nil && !errors.Is(err, host.ErrUnknown) {
			return err
		}
		known.text = text
	}
	u.w.reloads++
	u.w.log.note("reload", "manager")
	return nil
}

// unit finds a unit and brings its state up to date. The caller holds mu.
func (w *world) unit(ctx context.Context, name string) (*unit, error) {
	v, err := w.live(ctx)
	if w.cond == started {
		return w.foreseen(name, err)
	}
	if err != nil {
		return nil, err
	}
	state, err := v.Units.Unit(ctx, name)
	if err != nil {
		return nil, err
	}
	before, err := readUnit(v.Files, name)
	if err != nil {
		return nil, err
	}
	now, err := readUnit(w.files, name)
	if err != nil {
		return nil, err
	}
	u := w.units[now.name]
	if u == nil {
		u = &unit{text: before}
		if w.reloads > 0 || state.LoadState == "not-found" {
			u.text = now
		}
		keep(&w.units, now.name, u)
	}
	if !u.text.same(before) || state.NeedDaemonReload && w.reloads > 0 || state.LoadState == "not-found" {
		u.text.describe(&state)
		state.After = u.text.reorder(state.After, before)
	}
	state.NeedDaemonReload = !u.text.sameText(now) || state.NeedDaemonReload && w.reloads == 0
	u.update(state)
	return u, nil
}

// update takes a new state, but keeps of the old one what a job made of it.
func (u *unit) update(s host.UnitState) {
	if u.touched {
		old := u.state
		s.ActiveState, s.SubState, s.Result = old.ActiveState, old.SubState, old.Result
		s.ExecMainCode, s.ExecMainStatus, s.MainPID = old.ExecMainCode, old.ExecMainStatus, old.MainPID
		s.ConditionResult, s.AssertResult, s.ConditionChecked = old.ConditionResult, old.AssertResult, old.ConditionChecked
		s.NRestarts, s.InvocationID, s.JobType = old.NRestarts, old.InvocationID, old.JobType
		s.ActiveEnter, s.InactiveExit = old.ActiveEnter, old.InactiveExit
	}
	u.state = s
}

// foreseen is a unit of a machine that runs in the shadow only: one is known
// if a job was given to it, else why says that it is not.
func (w *world) foreseen(name string, why error) (*unit, error) {
	text, err := readUnit(w.files, name)
	u := w.units[text.name]
	if u == nil || !u.touched {
		return nil, why
	}
	if err != nil {
		return nil, err
	}
	u.update(text.assumed())
	return u, nil
}
