package resident

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// budget bounds how often each step is repaired: what something else changes
// back again and again is left to people after a while.
type budget struct {
	// Spent are the times of repairs within the last hour, by step.
	Spent map[string][]time.Time
	// held are the steps that were left in the look at hand, said those that
	// were told of.
	held, said map[string]bool
}

// begin forgets repairs of more than an hour ago.
func (b *budget) begin(now time.Time) {
	b.held = map[string]bool{}
	for address, times := range b.Spent {
		times = slices.DeleteFunc(times, func(t time.Time) bool { return now.Sub(t) >= time.Hour || t.After(now) })
		if b.Spent[address] = times; len(times) == 0 {
			delete(b.Spent, address)
		}
	}
	maps.DeleteFunc(b.said, func(address string, _ bool) bool { return len(b.Spent[address]) < Budget })
}

// spend notes a repair, or a try.
func (b *budget) spend(address string, now time.Time) {
	if b.Spent == nil {
		b.Spent = map[string][]time.Time{}
	}
	b.Spent[address] = append(b.Spent[address], now)
}

// leave says why a step is left as it is, "" if it is repaired.
func (b *budget) leave(address string) string {
	if len(b.Spent[address]) < Budget {
		return ""
	}
	b.held[address] = true
	return fmt.Sprintf("it was repaired %d times within an hour", Budget)
}

// newlyHeld are the steps that were left and not told of yet, in order.
func (b *budget) newlyHeld() (addresses []string) {
	for _, address := range slices.Sorted(maps.Keys(b.held)) {
		if !b.said[address] {
			addresses = append(addresses, address)
		}
	}
	if b.said == nil {
		b.said = map[string]bool{}
	}
	maps.Copy(b.said, b.held)
	return addresses
}
