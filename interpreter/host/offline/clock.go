package offline

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// Clock is the kernel's of the machine the program runs on.
type Clock struct{}

var _ host.Clock = Clock{}

// Now is the wall-clock time.
func (Clock) Now() time.Time { return time.Now() }

// Monotonic is CLOCK_MONOTONIC, which units are timed with.
func (Clock) Monotonic() time.Duration {
	var ts unix.Timespec
	// It cannot fail: the clock exists and the pointer is valid.
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano())
}

// Sleep waits for d or until ctx is done.
func (Clock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
	return ctx.Err()
}
