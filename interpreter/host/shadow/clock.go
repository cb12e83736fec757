package shadow

import (
	"context"
	"sync/atomic"
	"time"

	"hostler/interpreter/host"
)

// clock is the base's, moved on by what was slept.
type clock struct {
	base   host.Clock
	offset atomic.Int64
}

func (c *clock) ahead() time.Duration { return time.Duration(c.offset.Load()) }

// Now is the wall-clock time of the shadow.
func (c *clock) Now() time.Time { return c.base.Now().Add(c.ahead()) }

// Monotonic is the time since boot.
func (c *clock) Monotonic() time.Duration { return c.base.Monotonic() + c.ahead() }

// Sleep moves the clock and returns at once.
func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.offset.Add(int64(max(d, 0)))
	return nil
}

// tick is the time of an event, later than every earlier one.
func (c *clock) tick() time.Duration {
	c.offset.Add(int64(time.Microsecond))
	return c.Monotonic()
}
