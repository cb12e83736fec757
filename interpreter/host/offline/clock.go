package offline

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// clock is the time of the machine the program runs on.
type clock struct{}

func (clock) Now() time.Time { return time.Now() }

func (clock) Monotonic() time.Duration {
	var ts unix.Timespec
	// It cannot fail: the clock exists and the pointer is valid.
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano())
}

func (clock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return ctx.Err()
	}
}
