package thing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hostler/interpreter/host"
)

// NetLink is a network link that needs nothing but its name and kind, with its
// addresses.
type NetLink struct{ Name, Kind string }

// Key is "link:" and the name.
func (l NetLink) Key() Key { return Key("link:" + l.Name) }

// Look finds the link; Value is its kind and its addresses, sorted, parted by
// blanks.
func (l NetLink) Look(ctx context.Context, v host.View) (State, error) {
	kind, addresses, there, err := l.find(ctx, v)
	if err != nil || !there {
		return State{Kind: Absent}, err
	}
	return State{Kind: Present, Value: strings.TrimSpace(kind + " " + strings.Join(addresses, " "))}, nil
}

func (l NetLink) find(ctx context.Context, v host.View) (kind string, addresses []string, there bool, err error) {
	all, err := v.Network.Links(ctx)
	at := slices.IndexFunc(all, func(s host.LinkState) bool { return s.Name == l.Name })
	if err != nil || at < 0 {
		return "", nil, false, err
	}
	r, err := host.RoutingViewOf(v.Network)
	if err == nil {
		addresses, err = r.Addresses(ctx, l.Name)
	}
	slices.Sort(addresses)
	return all[at].Kind, addresses, true, err
}

// Down says whether the link is there and carries nothing.
func (l NetLink) Down(ctx context.Context, v host.View) (bool, error) {
	all, err := v.Network.Links(ctx)
	return slices.ContainsFunc(all, func(s host.LinkState) bool { return s.Name == l.Name && !s.Up }), err
}

// Bring makes the link if it is missing, sets it up and gives it exactly the
// addresses. A link of another kind is an error: it is not ours.
func (l NetLink) Bring(ctx context.Context, h host.Host, addresses []string) error {
	r, err := host.RoutingOf(h.Network)
	if err != nil {
		return err
	}
	kind, have, there, err := l.find(ctx, h.View())
	switch {
	case err != nil:
		return err
	case there && kind != l.Kind:
		return fmt.Errorf("the link is of kind %q and not %q: it is not ours and stays", kind, l.Kind)
	}
	down, err := l.Down(ctx, h.View())
	if err != nil {
		return err
	}
	if !there || down {
		if err := r.AddLink(ctx, host.LinkState{Name: l.Name, Kind: l.Kind}); err != nil {
			return err
		}
	}
	for _, a := range addresses {
		if !slices.Contains(have, a) {
			if err := r.AddAddress(ctx, l.Name, a); err != nil {
				return err
			}
		}
	}
	for _, a := range have {
		if !slices.Contains(addresses, a) {
			if err := r.RemoveAddress(ctx, l.Name, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// PutBack deletes the link we made, or brings the former one back with its
// addresses.
func (l NetLink) PutBack(ctx context.Context, h host.Host, o Origin, _ Keeper) error {
	if o.Kind == OriginAdopted || o.Kind == "" || !h.Identity.Live {
		return nil
	}
	if o.Kind == OriginSaved && o.State != nil {
		fields := strings.Fields(o.State.Value)
		if len(fields) == 0 || fields[0] != l.Kind {
			return fmt.Errorf("link:%s: it was %q, which cannot be made again", l.Name, o.State.Value)
		}
		if err := l.Bring(ctx, h, fields[1:]); err != nil {
			return fmt.Errorf("link:%s: %w", l.Name, err)
		}
		return nil
	}
	kind, _, there, err := l.find(ctx, h.View())
	if err == nil && there && kind != l.Kind {
		err = fmt.Errorf("the link is of kind %q and not %q: it is not ours and stays", kind, l.Kind)
	}
	if err == nil && there {
		err = h.Network.DeleteLink(ctx, l.Name)
	}
	if err != nil {
		return fmt.Errorf("link:%s: %w", l.Name, err)
	}
	return nil
}

// RuleSet is policy rules: one, or all that lead to a table.
type RuleSet struct {
	// Rule is the one; nil means all that lead to Table.
	Rule *host.PolicyRule
	// Table is for all rules; Families are those that are meant.
	Table    int
	Families []host.Family
}

// Key is "ip-rule:" with the rule, or "ip-rules:" with the table.
func (s RuleSet) Key() Key {
	if s.Rule == nil {
		return Key(fmt.Sprintf("ip-rules:%s%d", familyOnly(s.Families), s.Table))
	}
	r := s.Rule
	text := fmt.Sprintf("ip-rule:%s priority %d", r.Family, r.Priority)
	for _, part := range []struct{ name, value string }{{" from ", r.From}, {" to ", r.To}, {" in ", r.In}} {
		if part.value != "" {
			text += part.name + part.value
		}
	}
	if r.Mask != 0 {
		text += fmt.Sprintf(" mark %#x/%#x", r.Mark, r.Mask)
	}
	return Key(fmt.Sprintf("%s table %d", text, r.Table))
}

func familyOnly(families []host.Family) string {
	if len(families) == 1 {
		return string(families[0]) + "/"
	}
	return ""
}

// Find lists the rules that are meant and there.
func (s RuleSet) Find(ctx context.Context, v host.View) ([]host.PolicyRule, error) {
	r, err := host.RoutingViewOf(v.Network)
	if err != nil {
		return nil, err
	}
	all, err := r.PolicyRules(ctx)
	return slices.DeleteFunc(slices.Clone(all), func(rule host.PolicyRule) bool {
		if s.Rule != nil {
			return rule != *s.Rule
		}
		return rule.Table != s.Table || !slices.Contains(s.Families, rule.Family)
	}), err
}

// Look finds the rules; of several, Value lists them.
func (s RuleSet) Look(ctx context.Context, v host.View) (State, error) {
	found, err := s.Find(ctx, v)
	if err != nil || len(found) == 0 {
		return State{Kind: Absent}, err
	}
	if s.Rule != nil {
		return State{Kind: Present}, nil
	}
	return State{Kind: Present, Value: listed(found)}, nil
}

// PutBack removes the rule we added, or adds the rules again that were there.
func (s RuleSet) PutBack(ctx context.Context, h host.Host, o Origin, _ Keeper) error {
	if !h.Identity.Live || s.Rule == nil && o.State == nil || s.Rule != nil && o.Kind != OriginAbsent {
		return nil
	}
	r, err := host.RoutingOf(h.Network)
	switch {
	case err != nil:
	case s.Rule != nil:
		err = r.RemoveRule(ctx, *s.Rule)
	default:
		err = again(o.State.Value, func(rule host.PolicyRule) error { return r.AddRule(ctx, rule) })
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Key(), err)
	}
	return nil
}
