package memory

import (
	"context"
	"slices"
	"sync"
	"time"
)

// clock is the fake time: it moves when someone sleeps or waits.
type clock struct {
	mu   sync.Mutex
	wall time.Time
	mono time.Duration
}

// bootTime is what the kernel needs before the service manager starts.
const bootTime = 3 * time.Second

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

func (c *clock) since() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mono
}

// to moves the time since boot forward to t, never back.
func (c *clock) to(t time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t > c.mono {
		c.wall = c.wall.Add(t - c.mono)
		c.mono = t
	}
}

func (c *clock) boot() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(bootTime)
	c.mono = bootTime
}

// timer is something that happens at a time since boot.
type timer struct {
	at time.Duration
	do func()
}

// after lets do happen in d. The lock must be held, then and now.
func (m *Memory) after(d time.Duration, do func()) {
	t := timer{m.clock.since() + d, do}
	i, _ := slices.BinarySearchFunc(m.timers, t, func(a, b timer) int {
		if a.at <= b.at {
			return -1
		}
		return 1
	})
	m.timers = slices.Insert(m.timers, i, t)
}

// next lets the next timer happen, if there is one until then.
func (m *Memory) next(until time.Duration) bool {
	if len(m.timers) == 0 || m.timers[0].at > until {
		return false
	}
	t := m.timers[0]
	m.timers = m.timers[1:]
	m.clock.to(t.at)
	t.do()
	return true
}

// advance moves the time and lets happen what is due. The lock must be held.
func (m *Memory) advance(d time.Duration) {
	end := m.clock.since() + d
	for m.next(end) {
	}
	m.clock.to(end)
}

// Advance lets time pass on the host.
func (m *Memory) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advance(d)
}

type clockDoor struct{ m *Memory }

func (c clockDoor) Now() time.Time           { return c.m.clock.now() }
func (c clockDoor) Monotonic() time.Duration { return c.m.clock.since() }

// Sleep advances the clock and returns at once.
func (c clockDoor) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.m.Advance(d)
	return ctx.Err()
}
