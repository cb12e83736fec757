package interpreterinstall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"syscall"

	"hostler/interpreter/block"
	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// complete is the phase of an installation that is.
const complete = "complete"

// plan is everything that has to be done.
type plan struct {
	program delivery.Installation
	units   []unitPlan
	// start says that the daemon is to be started.
	start bool
}

func (s *step) plan(ctx context.Context, in block.Look) (p plan, err error) {
	if err := ctx.Err(); err != nil {
		return p, s.named(err)
	}
	if p.program, err = delivery.Survey(in.View.Files, s.prefix); err != nil {
		return p, s.named(err)
	}
	for _, u := range s.units {
		up, err := u.plan(in.View.Files)
		if err != nil {
			return p, err
		}
		p.units = append(p.units, up)
	}
	p.start, err = s.stopped(ctx, in)
	return p, err
}

// named puts the place before an error that may lack it.
func (s *step) named(err error) error {
	return fmt.Errorf("interpreter at %s: %w", delivery.Current(s.prefix), err)
}

// stopped says whether the daemon ought to run and does not. Before the
// installation is complete it would stand down.
func (s *step) stopped(ctx context.Context, in block.Look) (bool, error) {
	if !s.daemon || in.Installed != complete || in.OwnUnit == delivery.DaemonUnit {
		return false, nil
	}
	u, err := in.View.Units.Unit(ctx, delivery.DaemonUnit)
	if errors.Is(err, host.ErrNoManager) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", delivery.DaemonUnit, err)
	}
	return !u.Running(), nil
}

// Check compares links, unit files, enablement and the daemon with what they
// should be.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	p, err := s.plan(ctx, in)
	if err != nil {
		return block.OrUnknown("interpreter", err)
	}
	if p.program.Needed() {
		if err := s.executable(ctx, in.View); err != nil {
			return block.Change{}, err
		}
	}
	parts := []block.Change{p.programWords()}
	for _, u := range p.units {
		if u.needed() {
			parts = append(parts, u.words())
		}
	}
	if p.start {
		parts = append(parts, block.Change{Action: block.ActionRun, Reason: "the daemon does not run", Diffs: []block.Diff{{
			Thing: string(thing.UnitActive(delivery.DaemonUnit).Key()), Note: "inactive -> active",
		}}})
	}
	return block.Together(parts...), nil
}

// executable foresees what a mount would refuse.
func (s *step) executable(ctx context.Context, v host.View) error {
	m, err := v.Storage.Mount(ctx, delivery.Bin(s.prefix))
	switch {
	case err != nil:
		return nil // what cannot be foreseen, the write itself tells
	case m.ReadOnly:
		return s.named(fmt.Errorf("%w (mounted at %s); choose a prefix on a writable mount", syscall.EROFS, m.Point))
	case m.NoExec:
		return s.named(fmt.Errorf("the mount at %s is noexec, so nothing installed there would run; choose another prefix", m.Point))
	}
	return nil
}

func (p plan) programWords() block.Change {
	i := p.program
	if !i.Needed() {
		return block.NoChange()
	}
	c := block.Change{Action: block.ActionUpdate, Reason: "a link of the interpreter leads to no program", Bytes: true}
	if i.Seed != "" {
		c.Action, c.Reason = block.ActionCreate, "the interpreter is not installed"
		note := "the program that runs"
		if i.From != "" {
			note = "a copy of " + i.From
		}
		c.Diffs = append(c.Diffs, block.Diff{Thing: string(thing.Path(i.Seed).Key()), Note: note})
	}
	for _, link := range i.Links {
		c.Diffs = append(c.Diffs, block.Diff{Thing: string(thing.Path(link[0]).Key()), Note: "link to " + path.Base(link[1])})
	}
	return c
}

// Apply installs the program, makes the links, writes and enables the units,
// and starts the daemon of a complete installation.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	p, err := s.plan(ctx, do.Look)
	if err != nil {
		return err
	}
	if err := s.install(do, p.program); err != nil {
		return s.named(err)
	}
	for _, u := range p.units {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := u.apply(do.Host.Files); err != nil {
			return err
		}
	}
	if !p.start {
		return nil
	}
	_, err = thing.StartOrQueue(ctx, do.Host, delivery.DaemonUnit, do.OwnUnit)
	return err
}

func (s *step) install(do block.Do, i delivery.Installation) error {
	if !i.Needed() {
		return nil
	}
	f := do.Host.Files
	if err := host.MakeParents(f, delivery.Current(s.prefix), 0o755); err != nil {
		return err
	}
	if i.Seed != "" {
		program, err := read(do, i.From)
		if err != nil {
			return err
		}
		if err := host.Replace(f, i.Seed, host.Content{Bytes: program, Mode: delivery.Mode}); err != nil {
			return fmt.Errorf("%s: %w", i.Seed, err)
		}
	}
	for _, link := range i.Links {
		if err := delivery.Point(f, link[0], link[1]); err != nil {
			return fmt.Errorf("%s: %w", link[0], err)
		}
	}
	return nil
}

// read reads the program to install: a delivered one, or the one that runs.
func read(do block.Do, from string) ([]byte, error) {
	if from != "" {
		return thing.ReadAll(do.Host.Files, from)
	}
	if do.Program == nil {
		return nil, errors.New("there is no program to install: this run has none of its own")
	}
	src, err := do.Program()
	if err != nil {
		return nil, fmt.Errorf("read the program that runs: %w", err)
	}
	program, err := io.ReadAll(src)
	return program, errors.Join(err, src.Close())
}

// Reset removes one thing. A unit is stopped before its file goes, unless it is
// the one that hostler runs in.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	err := ctx.Err()
	if err == nil && s.stopsFirst(t.Key(), do.OwnUnit) && o.Kind == thing.OriginAbsent {
		err = thing.UnitActive(path.Base(t.Key().Name())).PutBack(ctx, do.Host, o, do.Keep)
	}
	if err == nil {
		err = t.PutBack(ctx, do.Host, o, do.Keep)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.Key(), err)
	}
	return nil
}

func (s *step) stopsFirst(key thing.Key, own string) bool {
	for _, u := range s.units {
		if key == thing.Path(u.path()).Key() {
			return u.name != own
		}
	}
	return false
}
