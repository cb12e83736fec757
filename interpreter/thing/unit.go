package thing

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"hostler/interpreter/host"
	"hostler/interpreter/unitfile"
)

// The values of the states of units.
const (
	Enabled  = "enabled"
	Disabled = "disabled"
	Masked   = "masked"
	Active   = "active"
	Inactive = "inactive"
)

// UnitEnabled is the enablement of a unit: the links in /etc/systemd/system
// that start it with others, its aliases, and its mask.
type UnitEnabled struct {
	Unit string
	// With are units that are enabled and disabled together with it (Also= in
	// its file), for when the file cannot be read; those that the file names
	// belong to it in any case.
	With []string
}

// Key is "unit-enabled:" and the unit's name.
func (u UnitEnabled) Key() Key { return Key("unit-enabled:" + u.Unit) }

// Look finds the links. Value is "masked" or "enabled" and Kind Present where
// there are any; else Kind is Absent and Value "disabled", whether the unit
// could be enabled or not.
func (u UnitEnabled) Look(_ context.Context, v host.View) (State, error) {
	return EnabledState(unitfile.Tree{Files: v.Files}, u)
}

// EnabledState is what [UnitEnabled.Look] finds in a tree.
func EnabledState(t unitfile.Tree, u UnitEnabled) (State, error) {
	links, mask, err := u.links(t)
	if err != nil {
		return State{}, fmt.Errorf("enablement of %s: %w", u.Unit, err)
	}
	return LinksState(links, mask), nil
}

// LinksState is the state of a unit with these enabling links and this mask.
func LinksState(links, mask unitfile.Links) State {
	s := State{Kind: Present, Value: Enabled, Links: map[string]string{}}
	maps.Copy(s.Links, links)
	maps.Copy(s.Links, mask)
	switch {
	case len(mask) > 0:
		s.Value = Masked
	case len(links) == 0:
		return State{Kind: Absent, Value: Disabled}
	}
	return s
}

func (u UnitEnabled) links(t unitfile.Tree) (links, mask unitfile.Links, err error) {
	if links, err = t.FamilyLinks(u.Unit, u.With...); err != nil {
		return nil, nil, err
	}
	mask, err = t.MaskLink(u.Unit)
	return links, mask, err
}

// PutBack makes the links those that were there: ours go, former ones come
// back, even when what they point to is not there any more.
func (u UnitEnabled) PutBack(_ context.Context, h host.Host, o Origin, _ Keeper) error {
	saved := unitfile.Links{}
	switch o.Kind {
	case OriginAdopted, "":
		return nil
	case OriginAbsent:
	case OriginSaved:
		if o.State != nil {
			saved = o.State.Links
		}
	default:
		return fmt.Errorf("enablement of %s: origin %q is not known to this version", u.Unit, o.Kind)
	}
	tree := unitfile.Tree{Files: h.Files}
	links, mask, err := u.links(tree)
	if err == nil {
		maps.Copy(links, mask)
		err = unitfile.Carry(h.Files, tree.Changes(links, saved))
	}
	if err != nil {
		return fmt.Errorf("enablement of %s: %w", u.Unit, err)
	}
	return nil
}

// UnitActive is whether a unit runs.
type UnitActive string

// Key is "unit-active:" and the unit's name.
func (u UnitActive) Key() Key { return Key("unit-active:" + string(u)) }

// Look asks the manager: Kind is Present and Value "active" for a unit that
// runs, else Kind is Absent and Value "inactive", also for a unit that does
// not exist. Where no manager runs it is what the next boot would make of it:
// active when it is enabled.
func (u UnitActive) Look(ctx context.Context, v host.View) (State, error) {
	running, err := u.running(ctx, v)
	if err != nil {
		return State{}, fmt.Errorf("state of %s: %w", string(u), err)
	}
	if running {
		return State{Kind: Present, Value: Active}, nil
	}
	return State{Kind: Absent, Value: Inactive}, nil
}

func (u UnitActive) running(ctx context.Context, v host.View) (bool, error) {
	state, err := v.Units.Unit(ctx, string(u))
	if !errors.Is(err, host.ErrNoManager) {
		return state.Running(), err
	}
	return enabledAtBoot(unitfile.Tree{Files: v.Files}, string(u))
}

// enabledAtBoot says whether links will start the unit.
func enabledAtBoot(t unitfile.Tree, unit string) (bool, error) {
	found, err := t.Find(unit)
	if err != nil || found.Path == "" {
		return false, err
	}
	links, err := t.EnabledLinks(found.Name.String())
	return len(links) > 0, err
}

// PutBack starts or stops the unit where it does not do what it did before;
// where no manager runs there is nothing to do. A unit that does not exist is
// stopped. One of ours, and one that fails while it is stopped, leaves no failed
// state behind.
func (u UnitActive) PutBack(ctx context.Context, h host.Host, o Origin, _ Keeper) error {
	was := o.Kind == OriginSaved && o.State != nil && o.State.Value == Active
	switch o.Kind {
	case OriginAdopted, "":
		return nil
	case OriginAbsent, OriginSaved:
	default:
		return fmt.Errorf("state of %s: origin %q is not known to this version", string(u), o.Kind)
	}
	state, err := h.Units.Unit(ctx, string(u))
	switch {
	case errors.Is(err, host.ErrNoManager):
		return nil
	case err != nil:
		return fmt.Errorf("state of %s: %w", string(u), err)
	case was && !state.Running():
		_, err = Start(ctx, h, string(u))
		return err
	case was:
		return nil
	case !Stopped(state):
		if err := Stop(ctx, h, string(u)); err != nil {
			return err
		}
	case o.Kind == OriginSaved:
		return nil // how it failed, if it did, is not ours to forget
	}
	if err := ForgetFailure(ctx, h.Units, string(u)); err != nil {
		return fmt.Errorf("state of %s: %w", string(u), err)
	}
	return nil
}
