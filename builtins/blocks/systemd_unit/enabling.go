package systemdunit

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

// linkPlan is what changes in the links of enabling and in the mask.
type linkPlan struct {
	// stale go before the files change: a run that is cut short then still
	// finds by the old file which links are old. fresh come afterwards.
	stale, fresh []unitfile.LinkOp
	was, becomes string
	reason       string
	// atBoot says that the unit is enabled then.
	atBoot bool
}

func (p linkPlan) changes() bool { return len(p.stale)+len(p.fresh) > 0 }

func (p linkPlan) note() string {
	var ops []string
	for _, op := range p.stale {
		ops = append(ops, op.String())
	}
	for _, op := range p.fresh {
		ops = append(ops, op.String())
	}
	return p.was + " -> " + p.becomes + ": " + strings.Join(ops, ", ")
}

// planLinks compares the links there are with those the recipe wants. Where it
// says nothing of enabling, they stay.
func (s *step) planLinks(f host.FileView) (p linkPlan, err error) {
	now, after := unitfile.Tree{Files: f}, s.after(f)
	have, mask, err := s.links(now, after)
	if err != nil {
		return p, err
	}
	if p.fresh, err = s.planMask(now, mask); err != nil {
		return p, err
	}
	want := maps.Clone(have)
	switch {
	case s.enables():
		if is(s.args.Mask, false) && len(mask) > 0 && !s.own {
			after.Pending[unitfile.MaskPath(s.name)] = nil // it goes first
		}
		var add []unitfile.LinkOp
		if want, add, err = s.wanted(now, after, have); err != nil {
			return p, err
		}
		p.fresh = append(p.fresh, add...)
	case s.args.Enable != nil:
		want = nil
	}
	for _, op := range now.Changes(have, want) {
		if op.Target == "" {
			p.stale = append(p.stale, op)
		}
	}
	p.atBoot = len(want) > 0
	p.was = thing.LinksState(have, mask).Value
	p.becomes = s.becomes(want, mask)
	p.reason = reasonOf(p)
	return p, nil
}

// links are the links that are there now, as the old file tells them and as
// the new one will.
func (s *step) links(now, after unitfile.Tree) (have, mask unitfile.Links, err error) {
	all, err := now.EtcLinks()
	if err != nil {
		return nil, nil, err
	}
	if have, err = now.FamilyAmong(all, s.name); err != nil {
		return nil, nil, err
	}
	more, err := after.FamilyAmong(all, s.name)
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(have, more)
	mask, err = now.MaskLink(s.name)
	return have, mask, err
}

// wanted are the links to keep and those to make. Of a unit whose file is the
// recipe's the set is exact; of a foreign one only the links go that its
// drop-ins asked for before.
func (s *step) wanted(now, after unitfile.Tree, have unitfile.Links) (want unitfile.Links, add []unitfile.LinkOp, err error) {
	want, err = after.Wanted(s.name)
	if errors.Is(err, unitfile.ErrMasked) {
		return nil, nil, fmt.Errorf("%w; write mask = false to take the mask away", err)
	}
	if err != nil {
		return nil, nil, err
	}
	if add, err = after.Enable(s.name); err != nil || s.own {
		return want, add, err
	}
	want = maps.Clone(want)
	before, err := now.Wanted(s.name)
	if err != nil {
		before = nil // it could not be enabled before, so nothing of it is old
	}
	for file, target := range have {
		if _, old := before[file]; !old {
			want[file] = target
		}
	}
	return want, add, nil
}

// planMask makes or takes away the mask.
func (s *step) planMask(now unitfile.Tree, mask unitfile.Links) ([]unitfile.LinkOp, error) {
	file := unitfile.MaskPath(s.name)
	switch {
	case s.masks() && len(mask) == 0:
		found, err := thing.LookPath(now.Files, file)
		if err == nil && found.Kind != thing.Absent {
			err = fmt.Errorf("%s: a %s stands where the mask would; remove it first, for example with absent", file, found.Kind)
		}
		return []unitfile.LinkOp{{Path: file, Target: unitfile.MaskTarget}}, err
	case is(s.args.Mask, false) && len(mask) > 0 && !s.own:
		return []unitfile.LinkOp{{Path: file}}, nil
	}
	return nil, nil
}

// becomes words the enablement after the change.
func (s *step) becomes(want, mask unitfile.Links) string {
	if s.masks() {
		return thing.Masked
	}
	if s.args.Mask != nil || s.own {
		mask = nil
	}
	return thing.LinksState(want, mask).Value
}

func reasonOf(p linkPlan) string {
	if p.was == p.becomes {
		return "its links differ"
	}
	return "it is " + p.was
}
