package thing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

// TestFailedUnitIsForgotten: the manager does not go on listing a unit of ours
// as failed when its file is gone; how a foreign one failed it keeps.
func TestFailedUnitIsForgotten(t *testing.T) {
	inactive := thing.Origin{Kind: thing.OriginSaved, State: &thing.State{Kind: thing.Present, Value: thing.Inactive}}
	for name, c := range map[string]struct {
		origin thing.Origin
		refuse bool
		want   string
	}{
		"ours":      {thing.Origin{Kind: thing.OriginAbsent}, false, "inactive"},
		"refused":   {thing.Origin{Kind: thing.OriginAbsent}, true, "failed"},
		"foreign":   {inactive, false, "failed"},
		"adopted":   {thing.Origin{Kind: thing.OriginAdopted}, false, "failed"},
		"untouched": {thing.Origin{}, false, "failed"},
	} {
		m := memory.New(memory.Options{
			Units:   []memory.Unit{{Name: "a.service"}},
			Scripts: map[string]memory.Script{"a.service": func(int) memory.Outcome { return memory.Outcome{Ends: true, Status: 3} }},
		})
		h := m.Host()
		if err := h.Units.Run(background, host.JobStart, "a.service"); err != nil {
			t.Fatal(err)
		}
		m.Advance(time.Second)
		if u, err := h.Units.Unit(background, "a.service"); err != nil || u.ActiveState != "failed" {
			t.Fatalf("%s: it did not fail: %+v, %v", name, u, err)
		}
		if c.refuse {
			h.Units = unforgetting{h.Units}
		}
		if err := thing.UnitActive("a.service").PutBack(background, h, c.origin, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if u, err := h.Units.Unit(background, "a.service"); err != nil || u.ActiveState != c.want {
			t.Errorf("%s: %s, want %s (%v)", name, u.ActiveState, c.want, err)
		}
	}
}

// unforgetting refuses to clear failed states.
type unforgetting struct{ host.Units }

func (unforgetting) ResetFailed(context.Context, string) error { return errors.New("denied") }
