// Package statussink is the block that says where the status of runs is told.
package statussink

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/thing"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "status_sink", Version: 1, Example: example, HostOnly: true,
		Doc: block.Doc{
			Summary: "A place where the status of runs is told: stage, step, reason, cause and what to do.",
			Text:    doc,
			Checks:  "Nothing.",
			Owns:    "Nothing.",
			Resets:  "Nothing: a reset is told like any run.",
		},
		Schema: block.Schema{
			Attrs: []block.Attr{
				block.Duration("timeout", "5s").Says("The most that telling may delay the end of a run. Until then what failed is tried again in the background."),
			},
			Blocks: nested(),
		},
		New: newStep,
	}
}

// Step is a sink. It has nothing to do.
type Step struct{ sink block.Sink }

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	s := block.Sink{Label: args.Label}
	var written []string
	for _, kind := range nested() {
		list := args.Value.GetAttr(kind.Name).AsValueSlice()
		if len(list) == 0 {
			continue
		}
		written = append(written, kind.Name)
		a := &reading{Args: args, at: kind.Name + "[0]", value: list[0]}
		a.kind(kind.Name, &s)
		if len(a.faults) > 0 {
			return nil, a.faults
		}
	}
	if len(written) != 1 {
		return nil, hcl.Diagnostics{args.Fault("", "One place to tell",
			fmt.Sprintf("Write exactly one of the blocks %s; %d are written.", strings.Join(names(), ", "), len(written)))}
	}
	timeout := args.Value.GetAttr("timeout").AsString()
	var err error
	if s.Timeout, err = block.ParseDuration(timeout); err != nil {
		return nil, hcl.Diagnostics{args.Fault("timeout", "Invalid duration", err.Error())}
	}
	if s.Timeout <= 0 {
		return nil, hcl.Diagnostics{args.Fault("timeout", "Invalid duration", "Within no time nobody can be told; write for example timeout = \"5s\", or when = false for a sink that is not told.")}
	}
	return &Step{s}, nil
}

// Tells says where.
func (s *Step) Tells() block.Sink { return s.sink }

// Owns names nothing.
func (s *Step) Owns() []thing.Owned { return nil }

// Check finds nothing to do.
func (s *Step) Check(ctx context.Context, _ block.Look) (block.Change, error) {
	return block.NoChange(), s.alive(ctx)
}

// Apply does nothing.
func (s *Step) Apply(ctx context.Context, _ block.Do) error { return s.alive(ctx) }

// Reset does nothing, as nothing is owned.
func (s *Step) Reset(ctx context.Context, _ block.Do, _ thing.Thing, _ thing.Origin) error {
	return s.alive(ctx)
}

func (s *Step) alive(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("status sink %s: %w", s.sink.Label, err)
	}
	return nil
}
