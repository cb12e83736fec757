package walk_test

import (
	"context"
	"errors"
	"io/fs"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// lstats is a file door on which looking fails as a test wants.
type lstats struct {
	host.Files
	fault func(name string) error
}

func (l lstats) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	if err := l.fault(name); err != nil {
		return nil, true, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return l.Files.LstatIfPossible(name)
}

// acts is a block type whose steps do what a test says, by label.
type acts struct {
	check func(label string) (block.Change, error)
	apply func(ctx context.Context, label string, in block.Do) error
	// retryable are the fault classes that a retry covers.
	retryable []block.FaultClass
}

func (a *acts) blockType() *block.Type {
	return &block.Type{
		Name: "act", Version: 1, Retryable: a.retryable,
		Schema: block.Schema{Attrs: []block.Attr{block.Text("note").Says("Nothing.")}},
		New: func(args block.Args) (block.Step, hcl.Diagnostics) {
			return act{a, args.Label}, nil
		},
		Exports: func(block.Args) (map[string]block.Export, error) { return map[string]block.Export{}, nil },
	}
}

type act struct {
	acts  *acts
	label string
}

func (a act) Owns() []thing.Owned { return nil }

func (a act) Check(context.Context, block.Look) (block.Change, error) { return a.acts.check(a.label) }

func (a act) Apply(ctx context.Context, in block.Do) error { return a.acts.apply(ctx, a.label, in) }

func (a act) Reset(context.Context, block.Do, thing.Thing, thing.Origin) error { return nil }

// once needs a change until it was made.
func once() (*acts, *int) {
	tries, done := 0, false
	a := &acts{check: func(string) (block.Change, error) {
		if done {
			return block.NoChange(), nil
		}
		return block.Change{Action: block.ActionRun, Reason: "not done"}, nil
	}}
	a.apply = func(context.Context, string, block.Do) error {
		tries++
		done = true
		return nil
	}
	return a, &tries
}

var errBusy = &block.PassingError{Class: block.FaultBusy, Err: errors.New("it is busy")}

// lookingAt makes steps that keep what they may look at.
func lookingAt(a *acts, look *block.Look) func(block.Args) (block.Step, hcl.Diagnostics) {
	return func(args block.Args) (block.Step, hcl.Diagnostics) { return looker{act{a, args.Label}, look}, nil }
}

type looker struct {
	act
	look *block.Look
}

func (l looker) Check(ctx context.Context, in block.Look) (block.Change, error) {
	*l.look = in
	return l.act.Check(ctx, in)
}

// needing is a step that must write a sensitive value which is not there.
type needing struct{}

func (needing) Owns() []thing.Owned { return nil }

func (needing) Check(context.Context, block.Look) (block.Change, error) {
	return block.Change{Action: block.ActionCreate, Reason: "it is not there", Bytes: true}, nil
}

func (needing) Apply(context.Context, block.Do) error { return block.ErrNeedsInput }

func (needing) Reset(context.Context, block.Do, thing.Thing, thing.Origin) error { return nil }
