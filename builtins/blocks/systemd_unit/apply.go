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

// Apply stops the unit, takes old links away, writes files, makes links and
// starts the unit, in this order and each only where it is needed.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	p, err := s.plan(ctx, do.Look)
	if err != nil {
		return s.named(err)
	}
	if p.run.verb == host.JobStop {
		if err := s.stop(ctx, do); err != nil {
			return err
		}
	}
	if err := s.write(ctx, do.Host.Files, p); err != nil {
		return s.named(err)
	}
	if !s.starts() {
		return nil
	}
	return s.start(ctx, do)
}

// named puts the unit's name before an error that may lack it.
func (s *step) named(err error) error { return fmt.Errorf("%s: %w", s.name, err) }

func (s *step) write(ctx context.Context, f host.Files, p plan) error {
	if err := unitfile.Carry(f, p.links.stale); err != nil {
		return err
	}
	for _, fp := range p.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fp.apply(f); err != nil {
			return fmt.Errorf("%s: %w", fp.path, err)
		}
	}
	return unitfile.Carry(f, p.links.fresh)
}

// apply writes one file, or puts its mode and owner right.
func (p filePlan) apply(f host.Files) error {
	switch {
	case p.chmod:
		return setAccess(f, p.path, p.mode)
	case !p.write:
		return nil
	case !p.known && p.hole != nil && (p.hole.Keyed != "" || len(p.hole.Vars) > 0):
		return block.ErrNeedsInput
	case !p.known:
		return errors.New("its content is not stored, so it cannot be written")
	}
	if err := host.MakeParents(f, p.path, 0o755); err != nil {
		return err
	}
	return host.Replace(f, p.path, host.Content{Bytes: p.bytes, Mode: p.mode})
}

func setAccess(f host.Files, name string, mode uint32) error {
	if err := host.SetAccess(f, name, host.Access{Mode: mode}); err != nil {
		return err
	}
	file, err := f.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// stop stops the unit; whether a failure is one is the recipe's to say.
func (s *step) stop(ctx context.Context, do block.Do) error {
	if s.name == do.OwnUnit {
		do.Warn(block.Warning{Summary: s.name + " is not stopped", Detail: "This run is part of it; its stop is queued and takes place when the run lets go."})
		return do.Host.Units.Queue(ctx, host.JobStop, s.name)
	}
	err := thing.Stop(ctx, do.Host, s.name)
	if err != nil && s.args.OnStopFailure == "warn" && ctx.Err() == nil {
		do.Warn(block.Warning{Summary: s.name + " could not be stopped", Detail: err.Error()})
		return nil
	}
	return err
}

// start starts the unit if it does not run, now that its files are in place,
// and waits until it has settled.
func (s *step) start(ctx context.Context, do block.Do) error {
	u, err := do.Host.Units.Unit(ctx, s.name)
	if errors.Is(err, host.ErrNoManager) {
		return nil
	}
	var p runPlan
	if err == nil {
		p, err = s.planStart(ctx, do.Look, u)
	}
	switch {
	case err != nil:
		return s.named(err)
	case p.unknown != "":
		return s.named(errors.New("there is no such unit, so it cannot be started; write its content here, or install what brings it first"))
	case p.verb == "":
		return nil
	}
	waits, err := thing.WaitsFor(ctx, do.Host.Units, u, do.OwnUnit)
	if err != nil {
		return s.named(err)
	}
	if waits {
		do.Warn(block.Warning{Summary: "The start of " + s.name + " is queued", Detail: "It is ordered after " + do.OwnUnit + ", which this run is part of, so it is not waited for."})
		return do.Host.Units.Queue(ctx, host.JobStart, s.name)
	}
	outcome, err := thing.Start(ctx, do.Host, s.name)
	if err != nil || outcome == thing.Runs {
		return err
	}
	return thing.NoteRan(ctx, do.Host, s.name)
}
