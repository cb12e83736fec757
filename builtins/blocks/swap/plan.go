package swap

import (
	"context"
	"fmt"
	"slices"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

// plan is what has to be done.
type plan struct {
	areas  []string // active ones
	masks  []unitfile.LinkOp
	fstab  string // the file itself
	old    []byte
	edited []byte
}

func (s *step) plan(ctx context.Context, v host.View) (p plan, err error) {
	if err := ctx.Err(); err != nil {
		return p, fmt.Errorf("%s: %w", fstab, err)
	}
	if v.Identity.Live {
		areas, err := v.Kernel.Swaps(ctx)
		if err != nil {
			return p, fmt.Errorf("swap:active: %w", err)
		}
		p.areas = host.SwapNames(areas)
	}
	if err := s.planFstab(v.Files, &p); err != nil {
		return p, fmt.Errorf("%s: %w", fstab, err)
	}
	p.masks, err = planMasks(v.Files, p.areas)
	return p, err
}

func (s *step) planFstab(f host.FileView, p *plan) (err error) {
	if p.fstab, err = s.lines.File(f); err != nil {
		return err
	}
	p.old, err = thing.ReadAll(f, p.fstab)
	if host.Absent(err) {
		return nil
	}
	if err == nil {
		p.edited, err = s.lines.Edit(p.old)
	}
	return err
}

// planMasks are the masks that are missing, of units that have a file and of
// those that stand for active areas.
func planMasks(f host.FileView, areas []string) ([]unitfile.LinkOp, error) {
	units, err := thing.FoundSwapUnits(f)
	if err != nil {
		return nil, fmt.Errorf("*.swap: %w", err)
	}
	for _, area := range areas {
		units = append(units, thing.SwapUnits(area)...)
	}
	slices.Sort(units)
	var ops []unitfile.LinkOp
	for _, unit := range slices.Compact(units) {
		file := unitfile.MaskPath(unit)
		found, err := thing.LookPath(f, file)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case found.Kind == thing.Absent:
			ops = append(ops, unitfile.LinkOp{Path: file, Target: unitfile.MaskTarget})
		case found.Kind != thing.Link || found.Target != unitfile.MaskTarget:
			return nil, fmt.Errorf("%s: a %s is in the place of the mask, and would swap on at boot; take it away first, for example with absent", file, found.Kind)
		}
	}
	return ops, nil
}
