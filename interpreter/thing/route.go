package thing

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hostler/interpreter/host"
)

// RouteSet is routes: one, or all of a table.
type RouteSet struct {
	// Route is the one; nil means all of Table.
	Route    *host.Route
	Table    int
	Families []host.Family
}

// Key is "ip-route:" with the route, or "ip-routes:" with the table.
func (s RouteSet) Key() Key {
	if s.Route == nil {
		return Key(fmt.Sprintf("ip-routes:%s%d", familyOnly(s.Families), s.Table))
	}
	text := fmt.Sprintf("ip-route:%s", s.Route.To)
	if s.Route.Metric != 0 {
		text += fmt.Sprintf(" metric %d", s.Route.Metric)
	}
	return Key(fmt.Sprintf("%s table %d", text, s.Route.Table))
}

// Find lists the routes that are meant and there.
func (s RouteSet) Find(ctx context.Context, v host.View) ([]host.Route, error) {
	r, err := host.RoutingViewOf(v.Network)
	if err != nil {
		return nil, err
	}
	table := s.Table
	if s.Route != nil {
		table = s.Route.Table
	}
	all, err := r.Routes(ctx, table)
	return slices.DeleteFunc(slices.Clone(all), func(route host.Route) bool {
		if s.Route != nil {
			return !route.Same(*s.Route)
		}
		return !slices.Contains(s.Families, route.Family)
	}), err
}

// Look finds the routes, which Value lists.
func (s RouteSet) Look(ctx context.Context, v host.View) (State, error) {
	found, err := s.Find(ctx, v)
	if err != nil || len(found) == 0 {
		return State{Kind: Absent}, err
	}
	return State{Kind: Present, Value: listed(found)}, nil
}

// Wanted is the state of one route that is there.
func (s RouteSet) Wanted() State { return State{Kind: Present, Value: listed([]host.Route{*s.Route})} }

// PutBack removes the route we added, or adds those again that were there.
func (s RouteSet) PutBack(ctx context.Context, h host.Host, o Origin, _ Keeper) error {
	if !h.Identity.Live || o.Kind == OriginAdopted || o.Kind == "" || s.Route == nil && o.State == nil {
		return nil
	}
	r, err := host.RoutingOf(h.Network)
	switch {
	case err != nil:
	case o.State != nil:
		err = again(o.State.Value, func(route host.Route) error { return r.AddRoute(ctx, route) })
	case s.Route != nil:
		err = r.RemoveRoute(ctx, *s.Route)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Key(), err)
	}
	return nil
}

// listed is things as JSON, one a line, sorted.
func listed[T any](all []T) string {
	var lines []string
	for _, one := range all {
		// Structs of strings and numbers always are JSON.
		b, _ := json.Marshal(one)
		lines = append(lines, string(b))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// again does something with each of the listed things.
func again[T any](list string, do func(T) error) error {
	for _, line := range strings.Split(list, "\n") {
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return fmt.Errorf("the recorded former state: %w", err)
		}
		if err := do(one); err != nil {
			return err
		}
	}
	return nil
}
