package nspawnmachine

import (
	"context"

	"hostler/interpreter/block"
)

// afterOthers does what is to be done after other slots have stopped. That one
// of them stopped may have been the last thing that a killed run did, so it is
// done before every start.
func (s *bootStep) afterOthers(ctx context.Context, do block.Do) error {
	if do.AfterStop == nil {
		return nil
	}
	for _, slot := range s.slots {
		if slot == s.active {
			continue
		}
		if err := do.AfterStop(ctx, slot); err != nil {
			return err
		}
	}
	return nil
}

// switched is what changes in the links of all slots where a repave builds the
// active one: until then the slot that it replaces is the one that starts at
// boot.
func (s *bootStep) switched(in block.Look) ([]linkPlan, error) {
	if in.Replaces == "" {
		return nil, nil // that is part of the tree's step
	}
	files, err := s.files(in.View.Files)
	if err != nil {
		return nil, err
	}
	return s.planLinks(in.View.Files, files)
}

// unlinked says why links have to be changed although the machine runs.
func (s *bootStep) unlinked(in block.Look) (why string, action block.Action, err error) {
	plans, err := s.switched(in)
	if err != nil {
		return "", "", err
	}
	for _, p := range plans {
		if len(p.ops) > 0 {
			return p.note, block.ActionUpdate, nil
		}
	}
	return "", "", nil
}

// link makes the active slot the one that starts at boot.
func (s *bootStep) link(do block.Do) error {
	plans, err := s.switched(do.Look)
	if err != nil {
		return err
	}
	for _, p := range plans {
		if err := p.apply(do.Host.Files); err != nil {
			return err
		}
	}
	return nil
}
