package hosttest

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"hostler/interpreter/host"
)

// Traits say what a host under test can do, so that the same suite asks each
// for what it promises.
type Traits struct {
	// Live: a service manager, a kernel and a network are the host's own.
	Live bool
	// Privileged: owners and device nodes are managed as root would.
	Privileged bool
	// Special: the file door offers host.Special.
	Special bool
}

// Maker makes hosts to test.
type Maker struct {
	Traits
	// New returns a host that nothing else uses meanwhile. It is called once
	// per case and cleans up by t.Cleanup.
	New func(t *testing.T) host.Host
}

// Run holds whole hosts to the contract.
func Run(t *testing.T, m Maker) {
	t.Run("traits", func(t *testing.T) { traits(t, m) })
	t.Run("files", func(t *testing.T) {
		Files(t, func(t *testing.T) host.Files { return m.New(t).Files })
	})
	t.Run("locks", func(t *testing.T) {
		Locks(t, func(t *testing.T) host.Locks { return m.New(t).Locks })
	})
	t.Run("clock", func(t *testing.T) { clock(t, m.New(t).Clock) })
	t.Run("storage", func(t *testing.T) { storage(t, m.New(t)) })
	if m.Live {
		t.Run("units", func(t *testing.T) { Units(t, m.New) })
		t.Run("machines", func(t *testing.T) { liveMachines(t, m.New(t)) })
		return
	}
	t.Run("at rest", func(t *testing.T) { AtRest(t, m.New) })
}

func traits(t *testing.T, m Maker) {
	h := m.New(t)
	if h.Identity.Live != m.Live || h.Identity.Privileged != m.Privileged {
		t.Errorf("the host calls itself %+v, want %+v", h.Identity, m.Traits)
	}
	if h.Identity.Root == "" {
		t.Error("the host does not know its root")
	}
	x := newTree(t, h.Files)
	if got := x.ownersChange(); got != m.Privileged {
		t.Errorf("owners can be changed: %v, want %v", got, m.Privileged)
	}
	if _, got := h.Files.(host.Special); got != m.Special {
		t.Errorf("host.Special is offered: %v, want %v", got, m.Special)
	}
	x.write("file", "through the host")
	v := h.View()
	if info, err := v.Files.Stat(at("file")); err != nil || info.Size() != 16 {
		t.Errorf("the view does not see what the host wrote: %v", err)
	}
	if v.Identity != h.Identity {
		t.Errorf("the view is %+v, the host %+v", v.Identity, h.Identity)
	}
}

func clock(t *testing.T, c host.Clock) {
	if c.Now().Year() < 1970 {
		t.Errorf("it is %v", c.Now())
	}
	before := c.Monotonic()
	if err := c.Sleep(t.Context(), 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if slept := c.Monotonic() - before; slept < 20*time.Millisecond {
		t.Errorf("slept %v, want 20ms", slept)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := c.Sleep(ended, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("Sleep with an ended context: %v", err)
	}
}

func storage(t *testing.T, h host.Host) {
	x := newTree(t, h.Files)
	top, err := h.Storage.Mount(t.Context(), Dir)
	x.ok(err)
	if top.Point == "" || top.Point[0] != '/' || top.ReadOnly {
		t.Errorf("%s is on %+v", Dir, top)
	}
	missing, err := h.Storage.Mount(t.Context(), at("none/of/these"))
	x.ok(err)
	if missing.Point != top.Point || missing.Type != top.Type {
		t.Errorf("a missing path is on %+v, its nearest ancestor on %+v", missing, top)
	}
}

// Locks runs the contract of the lock. newLocks returns the lock of a host
// whose lock is free.
func Locks(t *testing.T, newLocks func(t *testing.T) host.Locks) {
	for name, run := range map[string]func(*testing.T, host.Locks){
		"an exclusive lock excludes": lockExclusive,
		"shared locks go together":   lockShared,
		"an ended context":           lockEnded,
	} {
		t.Run(name, func(t *testing.T) { run(t, newLocks(t)) })
	}
}

func holder() host.Holder {
	return host.Holder{PID: 4711, Command: "hostler apply", Since: time.Unix(1e9, 0).UTC()}
}

func acquire(t *testing.T, l host.Locks, mode host.LockMode) func() error {
	t.Helper()
	release, err := l.Acquire(t.Context(), mode, holder())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = release() })
	return release
}

func held(t *testing.T, l host.Locks, mode host.LockMode) *host.HeldError {
	t.Helper()
	_, err := l.Acquire(t.Context(), mode, holder())
	e, ok := errors.AsType[*host.HeldError](err)
	if !ok {
		t.Fatalf("a held lock: %v, want *host.HeldError", err)
	}
	if e.Path == "" {
		t.Error("the error names no lock")
	}
	return e
}

// described says that a holder is the one that took the lock.
func described(h host.Holder) bool {
	want := holder()
	return h.PID == want.PID && h.Command == want.Command && h.Since.Equal(want.Since)
}

// seen says that a holder is what the kernel tells of this process.
func seen(h host.Holder) bool { return h.PID == os.Getpid() && h.Command != "" && h.Since.IsZero() }

func lockExclusive(t *testing.T, l host.Locks) {
	for range 2 {
		release := acquire(t, l, host.LockExclusive)
		for _, mode := range []host.LockMode{host.LockExclusive, host.LockShared} {
			e := held(t, l, mode)
			if h := e.Holder; h != nil && !described(*h) && !seen(*h) {
				t.Errorf("held by %+v, want %+v or this process", *h, holder())
			}
		}
		for range 2 {
			if err := release(); err != nil {
				t.Errorf("release: %v", err)
			}
		}
	}
}

func lockShared(t *testing.T, l host.Locks) {
	first := acquire(t, l, host.LockShared)
	second := acquire(t, l, host.LockShared)
	held(t, l, host.LockExclusive)
	if err := first(); err != nil {
		t.Error(err)
	}
	held(t, l, host.LockExclusive)
	if err := second(); err != nil {
		t.Error(err)
	}
	_ = acquire(t, l, host.LockExclusive)
	// A lock that was released twice does not release another's.
	_ = first()
	held(t, l, host.LockShared)
}

func lockEnded(t *testing.T, l host.Locks) {
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := l.Acquire(ended, host.LockExclusive, holder()); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	_ = acquire(t, l, host.LockExclusive)
}
