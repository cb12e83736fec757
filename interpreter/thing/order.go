package thing

import (
	"context"
	"fmt"
	"strings"

	"hostler/interpreter/host"
)

// maxOrder bounds how many units are asked when orders are followed.
const maxOrder = 128

// holdsUp says whether units that are ordered after this one may have to wait
// for it. A target that has not been reached may be started with them.
func holdsUp(u host.UnitState) bool {
	return u.JobType != "" || strings.HasSuffix(u.Name, ".target") && u.ActiveState != "active"
}

// WaitsFor says whether a start of unit could not go on before the unit own is
// done, because it is own itself or ordered after it, directly or through
// targets that have not been reached and units that wait for their own turn.
// Whoever runs inside own must not wait for such a start.
func WaitsFor(ctx context.Context, u host.UnitView, unit host.UnitState, own string) (bool, error) {
	if own == "" {
		return false, nil
	}
	seen := map[string]bool{unit.Name: true}
	queue := []host.UnitState{unit}
	for len(queue) > 0 && len(seen) < maxOrder {
		next := queue[0]
		queue = queue[1:]
		if next.Name == own {
			return true, nil
		}
		for _, before := range next.After {
			if before == own {
				return true, nil
			}
			if seen[before] {
				continue
			}
			seen[before] = true
			earlier, err := u.Unit(ctx, before)
			if err != nil {
				return false, err
			}
			if holdsUp(earlier) {
				queue = append(queue, earlier)
			}
		}
	}
	return false, nil
}

// StartOrQueue starts a unit and waits until it has settled, or queues its start
// where that could not go on before the unit own, in which we run, is done.
func StartOrQueue(ctx context.Context, h host.Host, unit, own string) (queued bool, err error) {
	u, err := h.Units.Unit(ctx, unit)
	if err != nil {
		return false, fmt.Errorf("start of %s: %w", unit, err)
	}
	waits, err := WaitsFor(ctx, h.Units, u, own)
	if err != nil {
		return false, fmt.Errorf("start of %s: %w", unit, err)
	}
	if waits {
		return true, h.Units.Queue(ctx, host.JobStart, unit)
	}
	_, err = Start(ctx, h, unit)
	return false, err
}
