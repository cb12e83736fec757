package linux

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// expect waits for a change of a name.
func expect(t *testing.T, changes <-chan string, want string) {
	t.Helper()
	for {
		select {
		case got, ok := <-changes:
			if !ok {
				t.Fatalf("watching ended; want %s", want)
			}
			if got == want {
				return
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("no change of %s", want)
		}
	}
}

// silent holds that nothing is reported.
func silent(t *testing.T, changes <-chan string) {
	t.Helper()
	select {
	case got := <-changes:
		t.Fatalf("%q is reported", got)
	case <-time.After(100 * time.Millisecond):
	}
}

func TestWatchPaths(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(os.WriteFile(at("a"), []byte("a"), 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	changes, err := Watch(ctx, Watched{Places: Places{Paths: []string{at("a"), at("deep/er/b")}}})
	ok(err)
	_, err = os.ReadFile(at("a"))
	ok(err)
	ok(os.WriteFile(at("other"), nil, 0o600))
	silent(t, changes)
	for _, change := range []func() error{
		func() error { return os.WriteFile(at("a"), []byte("b"), 0o600) },
		func() error { return os.Chmod(at("a"), 0o644) },
		func() error { return os.Rename(at("other"), at("a")) },
		func() error { return os.Remove(at("a")) },
		func() error { return os.Symlink("other", at("a")) },
	} {
		ok(change())
		expect(t, changes, at("a"))
		for len(changes) > 0 {
			<-changes
		}
	}
	ok(os.MkdirAll(at("deep/er"), 0o700))
	expect(t, changes, at("deep/er/b"))
	cancel()
	for range changes { // until it is closed
	}
}

// TestWatchEndsWithItsDirectory: then all is watched anew.
func TestWatchEndsWithItsDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	changes, err := Watch(context.Background(), Watched{Places: Places{Paths: []string{filepath.Join(dir, "a")}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	expect(t, changes, dir)
	for range changes {
	}
}

// TestManyChanges: a reader that does not read misses some and blocks nobody.
func TestManyChanges(t *testing.T) {
	dir := t.TempDir()
	changes, err := Watch(t.Context(), Watched{Places: Places{Paths: []string{filepath.Join(dir, "a")}}})
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, changes, filepath.Join(dir, "a"))
}

func TestRested(t *testing.T) {
	names := map[dbus.ObjectPath]string{"/org/freedesktop/systemd1/unit/a_2eservice": "a.service"}
	signal := func(path, iface, state string) *dbus.Signal {
		return &dbus.Signal{Name: changedName, Path: dbus.ObjectPath(path), Body: []any{
			iface, map[string]dbus.Variant{"ActiveState": dbus.MakeVariant(state)}, []string{},
		}}
	}
	const ours = "/org/freedesktop/systemd1/unit/a_2eservice"
	for name, c := range map[string]struct {
		signal *dbus.Signal
		unit   string
	}{
		"rested":       {signal(ours, unitIface, "failed"), "a.service"},
		"on its way":   {signal(ours, unitIface, "activating"), ""},
		"a status":     {signal(ours, managerName+".Service", "active"), ""},
		"another":      {signal(ours+"x", unitIface, "failed"), ""},
		"no body":      {&dbus.Signal{Name: changedName, Path: ours}, ""},
		"another kind": {&dbus.Signal{Name: "x", Path: ours, Body: []any{unitIface, 1}}, ""},
		"odd body":     {&dbus.Signal{Name: changedName, Path: ours, Body: []any{1, 2}}, ""},
	} {
		if unit, _ := rested(c.signal, names); unit != c.unit {
			t.Errorf("%s: unit %q, want %q", name, unit, c.unit)
		}
	}
}

func TestFollow(t *testing.T) {
	names := map[dbus.ObjectPath]string{"/u/a": "unit a.service"}
	signals, changes := make(chan *dbus.Signal), make(chan string, 8)
	done := make(chan struct{})
	go func() { follow(context.Background(), signals, names, changes); close(done) }()
	for _, state := range []string{"failed", "failed", "activating", "active"} {
		signals <- &dbus.Signal{Name: changedName, Path: "/u/a", Body: []any{unitIface, map[string]dbus.Variant{"ActiveState": dbus.MakeVariant(state)}}}
	}
	close(signals)
	<-done
	if len(changes) != 2 || <-changes != "unit a.service" {
		t.Errorf("%d changes are reported, want 2", len(changes))
	}
}
