// Package command is the block that runs a program.
package command

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "command", Version: 1, Example: example, Runs: true,
		Retryable: []block.FaultClass{block.FaultExit},
		Doc: block.Doc{
			Summary: "Runs a program, guarded by what it creates or by another program.",
			Text:    doc,
			Checks:  "With `creates`, that the path is there. Whatever else cannot be known before it is run.",
			Owns:    "Nothing: what the program does is its own.",
			Resets:  "Nothing; write a `reset_step` for what has to be undone.",
		},
		Schema: block.Schema{Attrs: []block.Attr{
			block.Argv("argv").Must().Says("The command line. No shell is involved."),
			block.AbsPath("creates").Says("The program is not run when this path is there, and it must be there afterwards."),
			block.Argv("unless").Says("The program is not run when this command exits 0."),
		}},
		New: newStep,
	}
}

// step is one command. ran is true once it has been run, or was found not to
// be needed, in this walk.
type step struct {
	Argv    []string `cty:"argv"`
	Creates *string  `cty:"creates"`
	Unless  []string `cty:"unless"`
	ran     bool
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a struct {
		Argv    []string `cty:"argv"`
		Creates *string  `cty:"creates"`
		Unless  []string `cty:"unless"`
	}
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	if a.Creates != nil && len(a.Unless) > 0 {
		return nil, hcl.Diagnostics{args.Fault("unless", "Two guards", "Write creates or unless, not both.")}
	}
	return &step{Argv: a.Argv, Creates: a.Creates, Unless: a.Unless}, nil
}

// Owns names nothing.
func (s *step) Owns() []thing.Owned { return nil }

// Check looks at the guard as far as looking can tell.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	if err := ctx.Err(); err != nil {
		return block.Change{}, s.named(err)
	}
	switch {
	case s.Creates != nil:
		there, err := exists(in.View, *s.Creates)
		if err != nil {
			return block.OrUnknown(s.Argv[0], err)
		}
		if there {
			return block.NoChange(), nil
		}
		return block.Change{Action: block.ActionRun, Reason: *s.Creates + " is not there", Bytes: true}, nil
	case s.ran:
		return block.NoChange(), nil
	case len(s.Unless) > 0:
		return block.Unknown(fmt.Sprintf("whether %s exits 0 is asked when the step runs", s.Unless[0])), nil
	}
	return block.Unknown(fmt.Sprintf("%s is run every time: it has no guard", s.Argv[0])), nil
}

// Ask runs the guard, so that a step with nothing to do is known as such.
func (s *step) Ask(ctx context.Context, do block.Do) (block.Change, error) {
	if len(s.Unless) == 0 || s.Creates != nil || s.ran {
		return s.Check(ctx, do.Look)
	}
	needed, err := s.needed(ctx, do)
	if err != nil {
		return block.OrUnknown(s.Argv[0], err)
	}
	if !needed {
		return block.NoChange(), nil
	}
	return block.Change{Action: block.ActionRun, Reason: s.Unless[0] + " does not exit 0", Bytes: true}, nil
}

func exists(v host.View, name string) (bool, error) {
	_, err := v.Files.Stat(name)
	if host.Absent(err) {
		return false, nil
	}
	return err == nil, err
}

// Apply runs the program, unless its guard says that there is no need.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	needed, err := s.needed(ctx, do)
	if err != nil || !needed {
		return s.named(err)
	}
	if err := run(ctx, do.Host, s.Argv); err != nil {
		return s.named(err)
	}
	s.ran = true
	if s.Creates == nil {
		return nil
	}
	there, err := exists(do.View, *s.Creates)
	if err == nil && !there {
		err = fmt.Errorf("it ended well and %s is not there", *s.Creates)
	}
	return s.named(err)
}

func (s *step) needed(ctx context.Context, do block.Do) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if s.Creates != nil {
		there, err := exists(do.View, *s.Creates)
		return !there, err
	}
	if len(s.Unless) == 0 {
		return true, nil
	}
	_, err := do.Host.Commands.Run(ctx, host.Command{Argv: s.Unless})
	if _, failed := errors.AsType[*host.ExitError](err); failed {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("unless: %w", err)
	}
	s.ran = true
	return false, nil
}

func run(ctx context.Context, h host.Host, argv []string) error {
	_, err := h.Commands.Run(ctx, host.Command{Argv: argv})
	if _, failed := errors.AsType[*host.ExitError](err); failed {
		return &block.PassingError{Class: block.FaultExit, Err: err}
	}
	return err
}

// named adds the program to an error, which keeps its class.
func (s *step) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("command %s: %w", s.Argv[0], err)
}

// Reset does nothing: what the program did is not known.
func (s *step) Reset(ctx context.Context, _ block.Do, _ thing.Thing, _ thing.Origin) error {
	return ctx.Err()
}
