package walk_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// TestWhatIsAboutToStartIsNotRepaired: a host that is on its way is looked at
// again, and nothing is done, counted or recorded when it gets there; when it
// does not, its time is over and the step is applied.
func TestWhatIsAboutToStartIsNotRepaired(t *testing.T) {
	for name, c := range map[string]struct {
		looks   int // after which it is there by itself
		applied int
	}{
		"gets there": {looks: 3, applied: 0},
		"in time":    {looks: 4, applied: 0},
		"too late":   {looks: 9, applied: 1},
	} {
		t.Run(name, func(t *testing.T) {
			looks, applied := 0, 0
			a := &acts{check: func(string) (block.Change, error) {
				if looks++; looks > c.looks || applied > 0 {
					return block.NoChange(), nil
				}
				return block.Change{Action: block.ActionRun, Reason: "a start is queued", Wait: time.Second}, nil
			}}
			a.apply = func(ctx context.Context, _ string, _ block.Do) error { applied++; return nil }
			s := newScene(t, memory.Options{})
			s.extra = []*block.Type{a.blockType()}
			var waits []time.Duration
			s.wrap = func(h host.Host) host.Host { h.Clock = slept{h.Clock, &waits}; return h }
			result, err := s.try("act \"a\" {}\n")
			if err != nil || applied != c.applied || result.Changed != c.applied || result.Unchanged != 1-c.applied {
				t.Errorf("applied %d times, %+v: %v", applied, result, err)
			}
			if want := slices.Repeat([]time.Duration{250 * time.Millisecond}, min(c.looks, 4)); !slices.Equal(waits, want) {
				t.Errorf("waited %v, want %v", waits, want)
			}
		})
	}
}

// TestAWaitEnds: with a fault, and with the run.
func TestAWaitEnds(t *testing.T) {
	fault, looks := errors.New("fault"), 0
	a := &acts{check: func(string) (block.Change, error) {
		if looks++; looks == 2 {
			return block.Change{}, fault
		}
		return block.Change{Action: block.ActionRun, Wait: time.Hour}, nil
	}}
	s := newScene(t, memory.Options{})
	s.extra = []*block.Type{a.blockType()}
	if _, err := s.try("act \"a\" {}\n"); !errors.Is(err, fault) {
		t.Errorf("a look that fails: %v", err)
	}
	looks = 2
	s.wrap = func(h host.Host) host.Host { h.Clock = stopped{h.Clock}; return h }
	if _, err := s.try("act \"a\" {}\n"); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that is interrupted: %v", err)
	}
}

// stopped is a clock on which the run is interrupted.
type stopped struct{ host.Clock }

func (stopped) Sleep(context.Context, time.Duration) error { return context.Canceled }
