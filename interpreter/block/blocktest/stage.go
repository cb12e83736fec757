package blocktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// Stage is a host on which a test plays the interpreter for one step at a
// time: it captures origins before a step acts, makes no directories itself,
// and undoes in reverse.
type Stage struct {
	Host host.Host
	// Warnings are what steps warned of.
	Warnings []block.Warning
	// Keyed is given to steps; nil when there is no key.
	Keyed func(digest string) string
	// Slots is given to steps.
	Slots map[string][]string

	base    host.Host // where directories are removed, whatever Host is now
	keeper  *Keeper
	origins map[thing.Key]thing.Origin
	made    []string // parent directories that were missing, outermost first
}

// NewStage returns a stage on a host.
func NewStage(h host.Host) *Stage {
	return &Stage{Host: h, base: h, keeper: NewKeeper(), origins: map[thing.Key]thing.Origin{}}
}

// Do is what a step may do.
func (s *Stage) Do() block.Do {
	look := block.Look{View: s.Host.View(), Outer: s.Host.View(), Installed: "installing", Keyed: s.Keyed, Slots: s.Slots, Cache: "/var/lib/hostler/cache"}
	return block.Do{
		Look: look, Host: s.Host, OuterHost: s.Host, Keep: s.keeper, Cache: "/var/lib/hostler/cache",
		Program:  program,
		Progress: func(block.Progress) {},
		Warn:     func(w block.Warning) { s.Warnings = append(s.Warnings, w) },
	}
}

// Program is what the interpreter that runs consists of, on a stage.
const Program = "\x7fELF the interpreter\n"

func program() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(Program)), nil }

// Check checks a step.
func (s *Stage) Check(step block.Step) (block.Change, error) {
	return step.Check(context.Background(), s.Do().Look)
}

// Apply captures origins and applies a step.
func (s *Stage) Apply(step block.Step) error {
	if err := s.capture(step); err != nil {
		return err
	}
	return step.Apply(context.Background(), s.Do())
}

// Reset undoes a step, its last thing first, and removes the parent
// directories that were missing before and are empty now.
func (s *Stage) Reset(step block.Step) error {
	return s.reset(context.Background(), step)
}

func (s *Stage) reset(ctx context.Context, step block.Step) error {
	if undoer, ok := step.(block.ResetOnly); ok {
		return undoer.Undo(ctx, s.Do())
	}
	for _, owned := range slices.Backward(step.Owns()) {
		if err := step.Reset(ctx, s.Do(), owned.Thing, s.origins[owned.Key()]); err != nil {
			return err
		}
	}
	for _, dir := range slices.Backward(s.made) {
		if err := s.base.Files.Remove(dir); err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !host.Absent(err) {
			return err
		}
	}
	return nil
}

func (s *Stage) capture(step block.Step) error {
	ctx := context.Background()
	for _, owned := range step.Owns() {
		key := owned.Key()
		if _, ok := s.origins[key]; ok {
			continue
		}
		found, err := owned.Look(ctx, s.Host.View())
		switch {
		case errors.Is(err, host.ErrUnknown) || errors.Is(err, host.ErrNoManager) || errors.Is(err, host.ErrNoMachine):
			continue
		case err != nil:
			return fmt.Errorf("look at %s: %w", key, err)
		case found.Kind == thing.Absent || owned.Delivered:
			s.origins[key] = thing.Origin{Kind: thing.OriginAbsent}
			s.parents(key)
			continue
		}
		backup, err := thing.Save(ctx, s.Host, s.keeper, owned.Thing, key, found)
		if err != nil {
			return err
		}
		s.origins[key] = thing.Origin{Kind: thing.OriginSaved, State: &found, Backup: backup}
	}
	return nil
}

func (s *Stage) parents(key thing.Key) {
	if key.Kind() != "path" {
		return
	}
	var missing []string
	for dir := path.Dir(key.Name()); dir != "/"; dir = path.Dir(dir) {
		if _, err := host.Lstat(s.Host.Files, dir); host.Absent(err) && !slices.Contains(s.made, dir) {
			missing = append(missing, dir)
		}
	}
	slices.Reverse(missing)
	s.made = append(s.made, missing...)
}

// MustApply applies a step and checks it again: nothing may be left to do.
func (s *Stage) MustApply(t testing.TB, step block.Step) {
	t.Helper()
	if err := s.Apply(step); err != nil {
		t.Fatalf("apply: %v", err)
	}
	s.MustHold(t, step)
}

// MustHold checks a step that must need nothing.
func (s *Stage) MustHold(t testing.TB, step block.Step) {
	t.Helper()
	if change := s.MustCheck(t, step); change.Needed() {
		t.Fatalf("there is still something to do: %s (%s)", change.Action, change.Reason)
	}
}

// MustCheck checks a step; an error ends the test.
func (s *Stage) MustCheck(t testing.TB, step block.Step) block.Change {
	t.Helper()
	change, err := s.Check(step)
	if err != nil {
		t.Fatalf("check: %v", err)
	}
	return change
}

// MustReset resets a step.
func (s *Stage) MustReset(t testing.TB, step block.Step) {
	t.Helper()
	if err := s.Reset(step); err != nil {
		t.Fatalf("reset: %v", err)
	}
}
