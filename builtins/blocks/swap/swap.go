// Package swap is the block that turns swapping off, now and for good.
package swap

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "swap", Version: 1, Example: example, HostOnly: true,
		Doc: block.Doc{
			Summary: "Turns swapping off, now and at every boot.",
			Text:    doc,
			Checks:  "Active swap areas, lines of /etc/fstab that bring swap, and units of swap areas that are not masked. On a host that does not run, files only.",
			Owns:    "`swap:active`, the areas that are active; `path:/etc/fstab`, its swap lines; `unit-enabled:*.swap`, the masks of all swap units.",
			Resets:  "The masks go, the lines of /etc/fstab come back, and the areas that were active before are swapped on again, with their priority.",
		},
		New: newStep,
	}
}

const fstab = "/etc/fstab"

// swapLine matches the lines of fstab(5) whose third field is swap.
var swapLine = `\s*[^#\s]\S*\s+\S+\s+swap(\s.*)?`

type step struct{ lines thing.Lines }

func newStep(block.Args) (block.Step, hcl.Diagnostics) {
	edit := thing.LineEdit{Kind: thing.Comment, Match: regexp.MustCompile("^" + swapLine + "$"), Text: "# "}
	return &step{thing.Lines{Path: fstab, Edits: []thing.LineEdit{edit}}}, nil
}

// Owns names the areas, the lines and the masks: reset goes backwards, and a
// masked unit cannot bring its area back.
func (s *step) Owns() []thing.Owned {
	edited := s.lines.Edited()
	return []thing.Owned{
		{Thing: thing.Swap{}, Want: &thing.State{Kind: thing.Absent}, Foreign: true},
		{Thing: s.lines, Want: &edited, Foreign: true},
		{Thing: thing.SwapMasks{}, Foreign: true},
	}
}

// Check says what swaps, or would.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	p, err := s.plan(ctx, in.View)
	if errors.Is(err, host.ErrUnknown) {
		return block.Unknown(host.Cause(err)), nil
	}
	if err != nil {
		return block.Change{}, err
	}
	var parts []block.Change
	if len(p.areas) > 0 {
		note := strings.Join(p.areas, ", ") + " -> none"
		parts = append(parts, update("swap is active", block.Diff{Thing: string(thing.Swap{}.Key()), Note: note}))
	}
	if string(p.edited) != string(p.old) {
		d := block.Diff{Thing: string(s.lines.Key()), Old: p.old, New: p.edited, Secret: !readable(in.View.Files, p.fstab)}
		parts = append(parts, update("/etc/fstab brings swap", d))
	}
	if len(p.masks) > 0 {
		var notes []string
		for _, op := range p.masks {
			notes = append(notes, op.String())
		}
		parts = append(parts, update("swap units are not masked", block.Diff{Thing: string(thing.SwapMasks{}.Key()), Note: strings.Join(notes, ", ")}))
	}
	if !in.View.Identity.Live {
		parts = append(parts, block.Change{Deferred: []string{"swap areas that only a running host knows are turned off by the first run on it"}})
	}
	return block.Together(parts...), nil
}

func update(reason string, d block.Diff) block.Change {
	return block.Change{Action: block.ActionUpdate, Reason: reason, Diffs: []block.Diff{d}}
}

func readable(f host.FileView, name string) bool {
	info, err := host.Lstat(f, name)
	return err == nil && info.Mode().Perm()&0o004 != 0
}

// Apply masks units and edits fstab, so that nothing swaps on again, and turns
// the active areas off. Which units are masked is told by the areas, so they
// come first: a boot in between finds the same areas again.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	p, err := s.plan(ctx, do.View)
	if err != nil {
		return err
	}
	if len(p.masks) > 0 {
		if err := mask(ctx, do.Host, p.masks); err != nil {
			return fmt.Errorf("*.swap: %w", err)
		}
	}
	if string(p.edited) != string(p.old) {
		if err := rewrite(do.Host.Files, p); err != nil {
			return fmt.Errorf("%s: %w", fstab, err)
		}
	}
	for _, area := range p.areas {
		if err := off(ctx, do.Host, area); err != nil {
			return fmt.Errorf("swap:active: %s: %w", area, err)
		}
	}
	return nil
}

func rewrite(f host.Files, p plan) error {
	info, err := host.Lstat(f, p.fstab)
	if err != nil {
		return err
	}
	st := host.StatOf(info)
	return host.Replace(f, p.fstab, host.Content{Bytes: p.edited, Mode: host.ModeBits(info.Mode()), UID: st.UID, GID: st.GID})
}

func mask(ctx context.Context, h host.Host, ops []unitfile.LinkOp) error {
	if err := unitfile.Carry(h.Files, ops); err != nil {
		return err
	}
	if err := h.Units.Reload(ctx); err != nil && !errors.Is(err, host.ErrNoManager) {
		return err
	}
	return nil
}

// off stops swapping on an area, and what set a zram device up.
func off(ctx context.Context, h host.Host, area string) error {
	if err := h.Kernel.SwapOff(ctx, area); err != nil {
		return err
	}
	for _, unit := range thing.SwapUnits(area) {
		if strings.HasSuffix(unit, ".swap") {
			continue // the kernel has done it
		}
		if u, err := h.Units.Unit(ctx, unit); err != nil || thing.Stopped(u) {
			continue
		}
		if err := thing.Stop(ctx, h, unit); err != nil {
			return err
		}
	}
	return nil
}

// Reset puts one of the three back.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", t.Key().Name(), err)
	}
	switch t.Key() {
	case thing.SwapMasks{}.Key():
		if err := (thing.SwapMasks{}).PutBack(ctx, do.Host, o, do.Keep); err != nil {
			return err
		}
		if err := do.Host.Units.Reload(ctx); err != nil && !errors.Is(err, host.ErrNoManager) {
			return fmt.Errorf("*.swap: %w", err)
		}
		return nil
	case s.lines.Key():
		if err := s.lines.PutBack(ctx, do.Host, o, do.Keep); err != nil {
			return fmt.Errorf("%s: %w", fstab, err)
		}
		return nil
	}
	return thing.Swap{}.PutBack(ctx, do.Host, o, do.Keep)
}
