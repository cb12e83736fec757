//go:build e2e

package linux_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"hostler/interpreter/host"
)

// liveLocks: C75 and R034–R042 on the lock itself, between processes.
func liveLocks(t *testing.T) {
	h := openHost(t)
	const file = "/run/hostler/lock"
	release, err := h.Locks.Acquire(t.Context(), host.LockExclusive, host.Holder{PID: os.Getpid(), Command: "hostler apply", Since: time.Now()})
	ok(t, err)
	try := func() error { return exec.Command("flock", "--nonblock", file, "true").Run() }
	if try() == nil {
		t.Error("another process takes the lock")
	}
	if mode := shell(t, "stat -c %a "+file); mode != "600" {
		t.Errorf("the lock file has mode %s", mode)
	}
	if mode := shell(t, "stat -c %a /run/hostler"); mode != "700" {
		t.Errorf("its directory has mode %s", mode)
	}
	shell(t, "rm "+file)
	_, err = openHost(t).Locks.Acquire(t.Context(), host.LockExclusive, host.Holder{})
	if e, found := errors.AsType[*host.HeldError](err); !found || e.Holder == nil || e.Holder.PID != os.Getpid() {
		t.Errorf("with the lock file removed: %v, want a *host.HeldError that names the holder", err)
	}
	// A helper in the background does not hold it.
	_, err = h.Commands.Run(t.Context(), host.Command{Argv: []string{"sh", "-c", "sleep 60 >/dev/null 2>&1 &"}})
	ok(t, err)
	ok(t, release())
	ok(t, try())
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the lock file is not kept: %v", err)
	}
	shell(t, "pkill sleep")
}
