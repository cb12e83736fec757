package thing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hostler/interpreter/host"
)

// Residue is what a running system leaves behind and a reset_step removes: a
// link, a route, a mount, … . It is named so that the proof after a reset can
// look for it. It is nobody's to put back: what removes it is the step.
type Residue struct {
	// Subject is one of the Residue… constants.
	Subject string
	// Name is the path, unit, link or tables ("51820-51899").
	Name string
	// Range says that the name of a link is a range, "wg51820-51899".
	Range bool
	// Kind is that of a link; "" is any.
	Kind string
}

// The subjects of a Residue.
const (
	ResiduePath    = "path"    // a file, link or directory
	ResidueMount   = "mount"   // something mounted at a path
	ResidueRunning = "running" // a unit that runs
	ResidueEnabled = "enabled" // a unit that starts at boot
	ResidueLink    = "link"    // network links
	ResidueRoutes  = "routes"  // routes in tables
	ResidueRules   = "rules"   // policy rules for tables
	// ResidueOther cannot be looked for through a View: an nft table, the
	// effect of a command. The step itself proves that it is gone.
	ResidueOther = "other"
)

// Key is "residue:", the subject and the name.
func (r Residue) Key() Key { return Key("residue:" + r.Subject + ":" + r.Name) }

// PutBack does nothing; the step's own actions remove it.
func (r Residue) PutBack(context.Context, host.Host, Origin, Keeper) error { return nil }

// Look says whether any of it is there; Value names what.
func (r Residue) Look(ctx context.Context, v host.View) (State, error) {
	found, err := r.find(ctx, v)
	if !v.Identity.Live && errors.Is(err, host.ErrUnknown) {
		err = nil // nothing of a running system is there while it does not run
	}
	if err != nil {
		return State{}, fmt.Errorf("%s: %w", r.Key(), err)
	}
	if len(found) == 0 {
		return State{Kind: Absent}, nil
	}
	slices.Sort(found)
	return State{Kind: Present, Value: strings.Join(slices.Compact(found), " ")}, nil
}

func (r Residue) find(ctx context.Context, v host.View) ([]string, error) {
	switch r.Subject {
	case ResiduePath:
		_, err := host.Lstat(v.Files, r.Name)
		if host.Absent(err) {
			return nil, nil
		}
		return []string{r.Name}, err
	case ResidueMount:
		return r.mounts(ctx, v)
	case ResidueRunning:
		return r.running(ctx, v)
	case ResidueEnabled:
		return EnablingLinks(v.Files, r.Name)
	case ResidueLink:
		links, err := r.Links(ctx, v)
		var names []string
		for _, l := range links {
			names = append(names, l.Name)
		}
		return names, err
	case ResidueRoutes:
		tables, err := r.Tables(ctx, v)
		var names []string
		for _, t := range tables {
			names = append(names, fmt.Sprintf("%s/%d", t.Family, t.Table))
		}
		return names, err
	case ResidueRules:
		rules, err := r.Rules(ctx, v)
		var names []string
		for _, rule := range rules {
			names = append(names, fmt.Sprintf("%s/%d", rule.Family, rule.Table))
		}
		return names, err
	}
	return nil, nil
}

func (r Residue) mounts(ctx context.Context, v host.View) ([]string, error) {
	mounts, err := v.Storage.Mounts(ctx)
	for _, m := range mounts {
		if m.Point == r.Name {
			return []string{r.Name}, err
		}
	}
	return nil, err
}

func (r Residue) running(ctx context.Context, v host.View) ([]string, error) {
	u, err := v.Units.Unit(ctx, r.Name)
	if err != nil || !u.Running() {
		if errors.Is(err, host.ErrNoManager) {
			err = nil
		}
		return nil, err
	}
	return []string{r.Name}, nil
}

// Links lists the links that are meant; one of another kind is not among them.
func (r Residue) Links(ctx context.Context, v host.View) ([]host.LinkState, error) {
	all, err := v.Network.Links(ctx)
	if err != nil {
		return nil, err
	}
	var span Span
	if r.Range {
		if span, err = ParseSpan(r.Name); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(all, func(l host.LinkState) bool {
		named := l.Name == r.Name
		if r.Range {
			named = span.HasName(l.Name)
		}
		return !named || (r.Kind != "" && l.Kind != r.Kind)
	}), nil
}

// Tables lists the routing tables that are meant and hold routes.
func (r Residue) Tables(ctx context.Context, v host.View) ([]host.TableState, error) {
	span, err := ParseSpan(r.Name)
	if err != nil {
		return nil, err
	}
	all, err := v.Network.RouteTables(ctx)
	return slices.DeleteFunc(all, func(t host.TableState) bool { return !span.Has(t.Table) }), err
}

// Rules lists the policy rules that lead to the tables that are meant.
func (r Residue) Rules(ctx context.Context, v host.View) ([]host.RuleState, error) {
	span, err := ParseSpan(r.Name)
	if err != nil {
		return nil, err
	}
	all, err := v.Network.Rules(ctx)
	return slices.DeleteFunc(all, func(rule host.RuleState) bool { return !span.Has(rule.Table) }), err
}
