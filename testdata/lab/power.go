package lab

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// stopLimit is how long a shutdown may take; a second is usual.
const stopLimit = 2 * time.Minute

// Reboot asks the host to reboot, as systemctl reboot does, and waits until
// it has settled again.
func (h *Host) Reboot() {
	h.t.Helper()
	h.stop("reboot")
	h.Boot()
}

// Poweroff asks the host to power off and waits until it has.
func (h *Host) Poweroff() {
	h.t.Helper()
	h.stop("poweroff")
}

func (h *Host) stop(verb string) {
	h.t.Helper()
	h.Leader()
	if res := h.Exec("systemctl", verb, "--no-block"); res.Code != 0 && h.Running() {
		h.t.Fatalf("lab: systemctl %s in %s: %s", verb, h.id, res)
	}
	if reboot := h.AwaitStop(); reboot != (verb == "reboot") {
		h.t.Fatalf("lab: %s was asked to %s and did something else", h.id, verb)
	}
}

// AwaitStop waits until a host that is to stop by itself has stopped, and says
// whether it asked for a reboot: [Host.Boot] is then the reboot.
func (h *Host) AwaitStop() (reboot bool) {
	h.t.Helper()
	h.mu.Lock()
	l := h.life
	h.mu.Unlock()
	if l == nil {
		h.t.Fatalf("lab: %s was never on", h.id)
	}
	select {
	case <-l.ended:
		return l.code == rebootCode
	case <-time.After(stopLimit):
		h.t.Fatalf("lab: %s did not stop", h.id)
		return false
	}
}

// Crash ends all of the host at once, as a kernel panic does after which the
// page cache still reaches the disk: SIGKILL for its process 1, and with it
// for everything in it.
func (h *Host) Crash() {
	h.t.Helper()
	h.Leader()
	if err := h.kill(); err != nil {
		h.t.Fatalf("lab: crashing %s: %v", h.id, err)
	}
}

// PowerLoss takes the power from a running host, which must have a disk of
// its own: what it had not synced is lost as mode says. The host is off then,
// with its disk mounted anew, as the next boot will find it.
func (h *Host) PowerLoss(mode Loss) {
	h.t.Helper()
	h.Leader()
	if h.options.Store == Overlay {
		h.t.Fatal("lab: power loss needs a host with a disk: Store DiskExt4 or DiskXFS")
	}
	err := cut(h.disk(), mode) // first, while everything still runs
	if err == nil {
		err = h.kill()
	}
	if err == nil {
		err = h.remount()
	}
	if err != nil {
		h.t.Fatalf("lab: power loss of %s: %v", h.id, err)
	}
}

// remount mounts the host's disk anew.
func (h *Host) remount() error {
	if err := unmountBelow(h.dir); err != nil {
		return err
	}
	return h.mountAll()
}

// kill ends all processes of the host, when there are any.
func (h *Host) kill() error {
	h.mu.Lock()
	l := h.life
	h.mu.Unlock()
	if l == nil {
		return nil
	}
	if l.leader > 0 && h.alive() != nil {
		if err := unix.Kill(l.leader, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
		select {
		case <-l.ended:
		case <-time.After(5 * time.Second): // nspawn hangs: killed below
		}
	}
	if err := killGroups(h.id); err != nil {
		return err
	}
	<-l.ended
	return nil
}
