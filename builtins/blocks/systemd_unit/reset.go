package systemdunit

import (
	"context"
	"errors"
	"fmt"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

// Reset puts one thing back: the state, the links, or a file. A unit whose own
// file goes is stopped first; a foreign unit that runs is restarted when the
// last of its drop-ins is back.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	if err := ctx.Err(); err != nil {
		return s.named(err)
	}
	key := t.Key()
	switch key.Kind() {
	case "unit-enabled":
		return s.enabled().PutBack(ctx, do.Host, o, do.Keep)
	case "unit-active":
		return s.resetActive(ctx, do, o)
	}
	if key.Name() == unitfile.EtcDir+"/"+s.name && o.Kind == thing.OriginAbsent {
		if err := s.stopOwn(ctx, do); err != nil {
			return err
		}
	}
	return s.resetFile(ctx, do, thing.Path(key.Name()), o)
}

func (s *step) resetActive(ctx context.Context, do block.Do, o thing.Origin) error {
	if s.name == do.OwnUnit && o.Kind == thing.OriginAbsent {
		return s.queueStop(ctx, do)
	}
	if err := thing.UnitActive(s.name).PutBack(ctx, do.Host, o, do.Keep); err != nil {
		return err
	}
	return thing.ForgetRan(ctx, do.Host, s.name)
}

// queueStop lets the unit that we run in stop when we are done.
func (s *step) queueStop(ctx context.Context, do block.Do) error {
	err := do.Host.Units.Queue(ctx, host.JobStop, s.name)
	if errors.Is(err, host.ErrNoManager) || errors.Is(err, host.ErrNoUnit) {
		return nil
	}
	return err
}

// stopOwn stops the unit before its file goes: without it the manager would
// keep a unit that nothing describes.
func (s *step) stopOwn(ctx context.Context, do block.Do) error {
	if s.unit.Template || s.name == do.OwnUnit {
		return nil
	}
	return thing.UnitActive(s.name).PutBack(ctx, do.Host, thing.Origin{Kind: thing.OriginAbsent}, do.Keep)
}

func (s *step) resetFile(ctx context.Context, do block.Do, p thing.Path, o thing.Origin) error {
	before, err := p.Look(ctx, do.Host.View())
	if err == nil {
		err = p.PutBack(ctx, do.Host, o, do.Keep)
	}
	var after thing.State
	if err == nil {
		after, err = p.Look(ctx, do.Host.View())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	if before.SameContent(after) || s.ours(do, p) {
		return nil
	}
	return s.restartForeign(ctx, do)
}

// ours says whether another file of the step is still as the step wrote it.
func (s *step) ours(do block.Do, but thing.Path) bool {
	for _, f := range s.files {
		if f.path == string(but) {
			continue
		}
		found, err := thing.LookPath(do.Host.Files, f.path)
		if err != nil || found.Kind != thing.File {
			continue
		}
		if same, err := f.same(do.Look, found); err == nil && same {
			return true
		}
	}
	return false
}

// restartForeign lets a unit that runs read its former files. One that was
// ours does not run any more.
func (s *step) restartForeign(ctx context.Context, do block.Do) error {
	if s.unit.Template {
		return nil
	}
	u, err := do.Host.Units.Unit(ctx, s.name)
	switch {
	case errors.Is(err, host.ErrNoManager):
		return nil
	case err != nil:
		return s.named(err)
	case !u.Running() || u.LoadState == "not-found" || u.Name == do.OwnUnit:
		return nil
	}
	if err := thing.ResetFailed(ctx, do.Host.Units, s.name); err != nil {
		return s.named(err)
	}
	_, err = thing.Job(ctx, do.Host, host.JobRestart, s.name)
	return err
}
