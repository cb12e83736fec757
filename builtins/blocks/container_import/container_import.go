// Package containerimport is the block that brings container images from an
// archive into containerd.
package containerimport

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

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
		Name: "container_import", Version: 1, Example: example, Retryable: []block.FaultClass{block.FaultExit},
		Doc: block.Doc{
			Summary: "Imports container images from an archive into containerd.",
			Text:    doc,
			Checks:  "Nothing in a plan. On a running host containerd is asked at the step, and nothing is imported when it has all the images.",
			Owns:    "Nothing: images belong to containerd, and inside a machine they go with it.",
			Resets:  "Does nothing.",
		},
		Schema: block.Schema{Attrs: []block.Attr{
			block.AbsPath("path").Must().Says("The archive, as `ctr images export` writes it, where the step runs: inside the machine."),
			images(),
			namespace(),
		}},
		New: newStep,
	}
}

func images() block.Attr {
	a := block.Texts("images").Must().Says("The images that must be there afterwards, by their full names: `\"registry.example.com/pause:3.9\"`.")
	check := a.Check
	a.Check = func(v cty.Value) error {
		if v.LengthInt() == 0 {
			return block.Advicef("Name at least one image that the archive brings.")
		}
		for _, name := range v.AsValueSlice() {
			if !name.IsNull() && name.IsKnown() && (strings.ContainsAny(name.AsString(), " \t\n") || strings.HasPrefix(name.AsString(), "-")) {
				return block.Advicef("%q is no name of an image.", name.AsString())
			}
		}
		return check(v)
	}
	return a
}

var namespaceName = regexp.MustCompile(`^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$`)

func namespace() block.Attr {
	a := block.Text("namespace").Says("containerd's namespace.")
	a.Default = cty.StringVal("k8s.io")
	a.Check = func(v cty.Value) error {
		if !namespaceName.MatchString(v.AsString()) {
			return block.Advicef("%q is no namespace of containerd; write one such as \"k8s.io\".", v.AsString())
		}
		return nil
	}
	return a
}

type step struct {
	Path      string   `cty:"path"`
	Images    []string `cty:"images"`
	Namespace string   `cty:"namespace"`
	there     bool     // all images were there in this run
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	s := &step{}
	var a struct {
		Path      string   `cty:"path"`
		Images    []string `cty:"images"`
		Namespace string   `cty:"namespace"`
	}
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	s.Path, s.Images, s.Namespace = a.Path, a.Images, a.Namespace
	return s, nil
}

// Owns names nothing.
func (s *step) Owns() []thing.Owned { return nil }

// Check cannot ask containerd: looking runs no programs.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	switch {
	case ctx.Err() != nil:
		return block.Change{}, s.named(ctx.Err())
	case s.there:
		return block.NoChange(), nil
	case !in.View.Identity.Live:
		return block.Change{Action: block.ActionNone, Deferred: []string{"the images of " + s.Path + " are imported when containerd runs"}}, nil
	}
	return block.Unknown("whether containerd has the images of " + s.Path + " is asked when the step runs"), nil
}

// Ask asks containerd, so that a step with nothing to do is known as such. One
// that does not answer yet is left to Apply, which is tried again.
func (s *step) Ask(ctx context.Context, do block.Do) (block.Change, error) {
	if s.there {
		return s.Check(ctx, do.Look)
	}
	missing, err := s.missing(ctx, do.Host)
	switch {
	case block.Passing(err) != "":
		return s.Check(ctx, do.Look)
	case err != nil:
		return block.Change{}, s.named(err)
	case len(missing) == 0:
		return block.NoChange(), nil
	}
	return block.Change{Action: block.ActionRun, Reason: "containerd has no " + strings.Join(missing, ", ")}, nil
}

// Apply imports the archive unless containerd has all the images.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	if err := ctx.Err(); err != nil || !do.Host.Identity.Live {
		return s.named(err)
	}
	missing, err := s.missing(ctx, do.Host)
	if err == nil && len(missing) > 0 {
		if err = s.load(ctx, do.Host); err == nil {
			missing, err = s.missing(ctx, do.Host)
		}
		if err == nil && len(missing) > 0 {
			err = fmt.Errorf("after the import containerd still has no %s: the archive does not hold it, or under another name", strings.Join(missing, ", "))
		}
	}
	if err != nil {
		return s.named(err)
	}
	s.there = true
	return nil
}

func (s *step) load(ctx context.Context, h host.Host) error {
	if _, err := h.Files.Stat(s.Path); err != nil {
		return err
	}
	_, err := s.ctr(ctx, h, "import", s.Path)
	return err
}

// missing lists the images that containerd does not have.
func (s *step) missing(ctx context.Context, h host.Host) ([]string, error) {
	out, err := s.ctr(ctx, h, "ls", "-q")
	if err != nil {
		return nil, err
	}
	have := strings.Fields(string(out))
	return slices.DeleteFunc(slices.Clone(s.Images), func(name string) bool { return slices.Contains(have, name) }), nil
}

func (s *step) ctr(ctx context.Context, h host.Host, args ...string) ([]byte, error) {
	argv := append([]string{"ctr", "--namespace", s.Namespace, "images"}, args...)
	res, err := h.Commands.Run(ctx, host.Command{Argv: argv, MaxOutput: 16 << 20})
	if _, failed := errors.AsType[*host.ExitError](err); failed {
		return nil, &block.PassingError{Class: block.FaultExit, Err: fmt.Errorf("images %s: %w", args[0], err)}
	}
	return res.Stdout, err
}

// named adds the archive to an error, which keeps its class.
func (s *step) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("container images of %s: %w", s.Path, err)
}

// Reset does nothing: the images are containerd's.
func (s *step) Reset(ctx context.Context, _ block.Do, _ thing.Thing, _ thing.Origin) error {
	return ctx.Err()
}
