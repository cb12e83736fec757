//go:build e2e

package linux_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/hosttest"
	"hostler/interpreter/host/linux"
)

// The tests in the files live*_test.go run inside a host of the lab, as root,
// where systemd is the first process; see e2e_test.go.

// live are the tests inside a host, by name.
func live() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"contract":        contract,
		"units":           liveUnits,
		"kernel":          liveKernel,
		"network":         liveNetwork,
		"commands":        liveCommands,
		"locks":           liveLocks,
		"machine":         liveMachine,
		"user-namespaces": userNamespaces,
		"stale":           staleMachine,
		"no-machined":     noMachined,
	}
}

func openHost(t *testing.T) host.Host {
	t.Helper()
	h, end, err := linux.Open(t.Context())
	ok(t, err)
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shell runs a command line of the test's own, past the doors.
func shell(t *testing.T, line string) string {
	t.Helper()
	out, err := exec.Command("sh", "-ec", line).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
	return strings.TrimSpace(string(out))
}

// eventually waits, at most for half a minute.
func eventually(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for range 300 {
		if reached() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("not within 30 s: %s", what)
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), d)
	t.Cleanup(end)
	return ctx
}

func contract(t *testing.T) {
	hosttest.Run(t, hosttest.Maker{
		Traits: hosttest.Traits{Live: true, Privileged: true, Special: true},
		New:    openHost,
	})
}

// unitFile writes a unit and makes it known; it goes with the test.
func unitFile(t *testing.T, h host.Host, name, text string) {
	t.Helper()
	file := path.Join("/run/systemd/system", name)
	ok(t, h.Files.MkdirAll(path.Dir(file), 0o755))
	ok(t, host.Replace(h.Files, file, host.Content{Bytes: []byte(text), Mode: 0o644}))
	ok(t, h.Units.Reload(t.Context()))
	t.Cleanup(func() {
		ctx := context.Background()
		_ = h.Units.Run(ctx, host.JobStop, name) // it may have gone already
		_ = h.Units.ResetFailed(ctx, name)
		if err := host.Remove(h.Files, file); err != nil {
			t.Error(err)
		}
	})
}

func jobError(t *testing.T, err error, result host.JobResult) *host.JobError {
	t.Helper()
	e, found := errors.AsType[*host.JobError](err)
	if !found || e.Result != result {
		t.Fatalf("%v, want a *host.JobError with the result %q", err, result)
	}
	return e
}

// TestInLab runs the tests above: see e2e_test.go for how it gets there.
func inside(t *testing.T) {
	for name, run := range live() {
		if want := os.Getenv(inLab); want == name {
			run(t)
			return
		}
	}
	t.Fatalf("there is no test called %q", os.Getenv(inLab))
}
