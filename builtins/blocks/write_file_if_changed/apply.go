package writefileifchanged

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// Apply writes the file, or puts its mode and owner right.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	p, err := s.plan(ctx, do.Look)
	if err != nil {
		return fmt.Errorf("%s: %w", s.args.Path, err)
	}
	switch {
	case !s.change(p).Needed():
		return nil
	case !p.write:
		err = access(do.Host.Files, p)
	case !p.have && s.want.hole != nil && (s.want.hole.Keyed != "" || len(s.want.hole.Vars) > 0):
		err = block.ErrNeedsInput
	case !p.have:
		err = errors.New("its content is not stored, so it cannot be written")
	default:
		err = s.write(ctx, do, p)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.args.Path, err)
	}
	return nil
}

// access puts mode and owner right, durably.
func access(f host.Files, p plan) error {
	if err := host.SetAccess(f, p.name, p.access); err != nil {
		return err
	}
	file, err := f.Open(p.name)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

func (s *step) write(ctx context.Context, do block.Do, p plan) error {
	dirMode, err := block.ParseMode(s.args.DirectoryMode)
	if err != nil {
		return err
	}
	if err := host.MakeParents(do.Host.Files, p.name, dirMode); err != nil {
		return err
	}
	err = host.Replace(do.Host.Files, p.name, host.Content{
		Bytes: p.bytes, Mode: p.access.Mode, UID: p.access.UID, GID: p.access.GID,
		Check: func(tmp string) error { return s.validate(ctx, do, tmp) },
	})
	switch {
	case !thing.InTheWay(do.Host.Files, p.name, err):
		return err
	case !s.args.InPlace:
		return fmt.Errorf("%w; in_place = true overwrites it instead", err)
	}
	if err := thing.Overwrite(do.Host.Files, p.name, p.bytes); err != nil {
		return err
	}
	return access(do.Host.Files, p)
}

// validate runs the recipe's own check over the complete new file, where
// commands can be run at all.
func (s *step) validate(ctx context.Context, do block.Do, tmp string) error {
	if err := ctx.Err(); err != nil || len(s.args.Validate) == 0 {
		return err
	}
	if !do.Host.Identity.Live {
		s.unvalidated(do, "the host does not run")
		return nil
	}
	argv := make([]string, len(s.args.Validate))
	for i, arg := range s.args.Validate {
		argv[i] = strings.ReplaceAll(arg, "{}", tmp)
	}
	_, err := do.Host.Commands.Run(ctx, host.Command{Argv: argv})
	if errors.Is(err, host.ErrUnknown) || errors.Is(err, host.ErrNoManager) {
		s.unvalidated(do, err.Error())
		return nil
	}
	if failed, ok := errors.AsType[*host.ExitError](err); ok && s.secret {
		return fmt.Errorf("%s refused the new content with exit status %d; its output is withheld, the content is sensitive", argv[0], failed.Result.ExitCode)
	}
	if err != nil {
		return fmt.Errorf("the new content was refused and the file is as before: %w", err)
	}
	return nil
}

func (s *step) unvalidated(do block.Do, why string) {
	do.Warn(block.Warning{
		Summary: s.args.Path + " was not validated",
		Detail:  fmt.Sprintf("%s was not run over the new content: %s.", s.args.Validate[0], why),
	})
}

// Reset puts back what was there.
func (s *step) Reset(ctx context.Context, do block.Do, _ thing.Thing, o thing.Origin) error {
	err := ctx.Err()
	if err == nil {
		err = s.thing().PutBack(ctx, do.Host, o, do.Keep)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.args.Path, err)
	}
	return nil
}
