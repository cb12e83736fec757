package host_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// asked counts how often the inventory is asked for.
type asked struct {
	host.Machines
	times int
}

func (a *asked) Registered(ctx context.Context) ([]host.MachineState, error) {
	a.times++
	return a.Machines.Registered(ctx)
}

// TestAskOnce: the inventory is remembered until something may have changed it,
// and a failure never is.
func TestAskOnce(t *testing.T) {
	const unit = "systemd-nspawn@m.service"
	ctx := t.Context()
	m := memory.New(memory.Options{Machines: []memory.Machine{{Name: "m"}}})
	h := m.Host()
	counted := &asked{Machines: h.Machines}
	h.Machines = counted
	h = host.AskOnce(h)
	list := func(what string, times, found int) {
		t.Helper()
		for range 3 {
			all, err := h.View().Machines.Registered(ctx)
			if err != nil || len(all) != found || counted.times != times {
				t.Fatalf("%s: %v %v, asked %d times, want %d", what, all, err, counted.times, times)
			}
			if found > 0 {
				all[0].Name = "scribbled" // the answer is the caller's own
			}
		}
	}
	list("none", 1, 0)
	for i, c := range []struct {
		what  string
		found int
		do    func() error
	}{
		{"start", 1, func() error { return h.Units.Run(ctx, host.JobStart, unit) }},
		{"asked again", 1, func() error { host.AskAgain(h.Machines); return nil }},
		{"time passes", 1, func() error { return h.Clock.Sleep(ctx, time.Second) }},
		{"terminate", 1, func() error { return h.Machines.Terminate(ctx, "m") }},
		{"gone", 0, func() error { return h.Clock.Sleep(ctx, time.Second) }},
		{"queue", 0, func() error { return h.Units.Queue(ctx, host.JobStart, unit) }},
		{"started", 1, func() error { return h.Clock.Sleep(ctx, time.Second) }},
		{"program", 1, func() error { _, err := h.Commands.Run(ctx, host.Command{Argv: []string{"true"}}); return err }},
		{"program that fails", 1, func() error {
			if _, err := h.Commands.Run(ctx, host.Command{Argv: []string{"false"}}); err == nil {
				return errors.New("it did not fail")
			}
			return nil
		}},
	} {
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		list(c.what, i+2, c.found)
	}
	broken := errors.New("broken")
	m.Refuse(memory.CallRegistered, broken)
	host.AskAgain(h.Machines)
	host.AskAgain(m.Host().Machines) // nothing is remembered there
	was := counted.times
	for i := range 2 {
		if _, err := h.Machines.Registered(ctx); !errors.Is(err, broken) || counted.times != was+i+1 {
			t.Errorf("an inventory that fails: %v, asked %d times", err, counted.times)
		}
	}
}
