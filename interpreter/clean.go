package interpreter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// ForeignError lists things that are in the way of a fresh installation.
type ForeignError struct{ Things []Foreign }

// Foreign is a thing that was there before us.
type Foreign struct {
	Thing thing.Key
	// Address is the step that wants it, "" for what an installation whose
	// record is gone has left.
	Address string
	Found   thing.State
}

func (e *ForeignError) Error() string {
	var lines []string
	for _, f := range e.Things {
		why := "wanted by " + f.Address
		if f.Address == "" {
			why = "left by an installation without a record"
		}
		lines = append(lines, fmt.Sprintf("%s (%s, %s)", f.Thing, f.Found.Kind, why))
	}
	return fmt.Sprintf("the host is not clean, these are in the way: %s; nothing was changed: run hostler reset if they are left from an installation, take them over with hostler adopt, say replaces_foreign in the recipe, or remove them",
		strings.Join(lines, ", "))
}

// clean refuses a host on which something that the recipe claims is there
// already, unless it is the same, or the step says that it may be, or on which
// the same recipe has left something below another prefix. A look that fails
// refuses too.
func (r *run) clean(ctx context.Context, steps []block.Placed, others []layout) error {
	foreign, err := r.leftovers(ctx)
	if err != nil {
		return err
	}
	strays, err := r.strays(ctx, others)
	if err != nil {
		return fmt.Errorf("whether the host is clean cannot be told: %w", err)
	}
	for _, s := range strays {
		if !slices.ContainsFunc(foreign, func(f Foreign) bool { return f.Thing == s.Thing }) {
			foreign = append(foreign, s)
		}
	}
	return r.unclean(ctx, steps, foreign, func(thing.Key) bool { return false })
}

// foreign is clean for things that are not ours already, on a host that is
// installed.
func (r *run) foreign(ctx context.Context, steps []block.Placed, ours func(thing.Key) bool) error {
	return r.unclean(ctx, steps, nil, ours)
}

func (r *run) unclean(ctx context.Context, steps []block.Placed, foreign []Foreign, ours func(thing.Key) bool) error {
	view := r.host.View()
	for _, want := range record.WantedOf(steps) {
		if want.Placed.Machine != "" || want.Owned.Foreign || !testedForForeign(want.Key) || ours(want.Key) ||
			want.Owned.Delivered || r.mayBeDelivered(want.Key) {
			continue
		}
		st, err := want.Owned.Look(ctx, view)
		if errors.Is(err, host.ErrUnknown) {
			continue
		}
		if err != nil {
			return fmt.Errorf("whether the host is clean cannot be told: look at %s: %w", want.Key, err)
		}
		if st.Kind == thing.Absent || want.Owned.Want != nil && st.SameContent(*want.Owned.Want) {
			continue
		}
		foreign = append(foreign, Foreign{Thing: want.Key, Address: want.Placed.Address, Found: st})
	}
	if len(foreign) > 0 {
		return &ForeignError{foreign}
	}
	return nil
}

// testedForForeign says which kinds of things count: paths and machines. The
// state of units is not tested.
func testedForForeign(key thing.Key) bool {
	return key.Kind() == "path" || key.Kind() == "machine"
}

// UnmetError lists the requirements that the host does not meet.
type UnmetError struct{ Findings []walk.Finding }

func (e *UnmetError) Error() string {
	var lines []string
	for _, f := range e.Findings {
		lines = append(lines, f.Address+": "+f.Err.Error())
	}
	return "the host does not meet the recipe's requirements; nothing was changed:\n" + strings.Join(lines, "\n")
}

// held are requirements that are known to hold, by their arguments.
type held map[string]bool

// requirements are those among steps that were driven to.
func requirements(steps []block.Placed) held {
	h := held{}
	for _, p := range steps {
		if p.Type.Preflight {
			h[string(p.Data)] = true
		}
	}
	return h
}

func (h held) has(p *block.Placed) bool { return p.Type.Preflight && h[string(p.Data)] }

// without leaves out the steps that are known to hold.
func (h held) without(steps []block.Placed) []block.Placed {
	return slices.DeleteFunc(slices.Clone(steps), func(p block.Placed) bool { return h.has(&p) })
}

// preflight checks all requirements, wherever they stand, and the directories
// that will be written to below the prefix, before anything is changed. Those
// that are known to hold are not asked again.
func (r *run) preflight(ctx context.Context, steps []block.Placed, known held) error {
	findings, err := r.findings(ctx, steps, known)
	if err != nil {
		return err
	}
	for _, f := range findings {
		switch u, ok := errors.AsType[*block.Unmet](f.Err); {
		case ok && u.Warning:
			r.warn(block.Warning{Summary: u.Summary, Detail: u.Advice})
		case f.Err == nil && f.Change.Action == block.ActionRun:
			r.warn(block.Warning{Summary: "Will be installed", Detail: f.Address + ": " + f.Change.Reason})
		}
	}
	return unmet(findings)
}

func (r *run) findings(ctx context.Context, steps []block.Placed, known held) ([]walk.Finding, error) {
	findings := walk.Preflight(ctx, r.input(steps, nil), known.has)
	dirs, err := r.probeInstall(ctx, steps)
	return append(findings, dirs...), err
}

// unmet is an *UnmetError with the findings that are faults, nil if there are
// none.
func unmet(findings []walk.Finding) error {
	failed := &UnmetError{}
	for _, f := range findings {
		u, ok := errors.AsType[*block.Unmet](f.Err)
		if f.Err != nil && !errors.Is(f.Err, host.ErrUnknown) && !(ok && u.Warning) {
			failed.Findings = append(failed.Findings, f)
		}
	}
	if len(failed.Findings) > 0 {
		return failed
	}
	return nil
}

func exists(f host.FileView, name string) (bool, error) {
	_, err := host.Lstat(f, name)
	if host.Absent(err) {
		return false, nil
	}
	return err == nil, err
}
