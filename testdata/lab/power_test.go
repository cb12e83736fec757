//go:build e2e

package lab

import (
	"fmt"
	"strings"
	"testing"
)

func TestCrashKeepsThePageCache(t *testing.T) {
	t.Parallel()
	h := Up(t, Options{Store: DiskXFS, DiskMiB: 320})
	if got := h.MustExec("sh", "-c", "df --output=size -m /var | tail -1"); len(got) != 3 || got > "320" {
		t.Errorf("the disk has %s MiB, not 320", got)
	}
	h.MustExec("sh", "-c", "echo synced >/srv/a && sync && echo unsynced >/srv/b && echo unsynced >/var/c")
	h.Crash()
	for path, want := range map[string]string{"/srv/a": "synced\n", "/srv/b": "unsynced\n", "/var/c": "unsynced\n"} {
		if got := string(h.Pull(path)); got != want {
			t.Errorf("%s holds %q", path, got)
		}
	}
	h.Boot()
	if got := h.MustExec("cat", "/srv/b"); got != "unsynced" {
		t.Errorf("after the boot: %q", got)
	}
}

// After setUp everything is synced. changeFiles then replaces "good" after a
// sync of its content alone, and without any sync replaces a file, makes one
// and rewrites one in place.
const (
	setUp       = `mkdir -p %[1]s && cd %[1]s && echo old >state && echo old >place && echo old >good && sync -f .`
	changeFiles = `cd %[1]s && echo new >tmp && sync tmp && mv tmp good &&
		echo new >tmp && mv tmp state && echo new >made && printf now | dd of=place conv=notrunc status=none`
	showFiles = `cd %[1]s && for f in state place made good; do if [ -e $f ]; then printf '%%s=%%s;' $f "$(cat $f)"; else printf '%%s gone;' $f; fi; done`
)

func TestPowerLossDropsExactlyWhatWasNotSynced(t *testing.T) {
	const lost = "state=old;place=old;made gone;good=old;"
	for _, c := range []struct {
		name  string
		store Store
		mode  Loss
		want  string
	}{
		{"xfs, plain", DiskXFS, Plain, lost},
		{"ext4, plain", DiskExt4, Plain, lost},
		{"xfs, log flushed", DiskXFS, LogFlush, "state=;place=old;made=;good=new;"},
		// ext4 begins to write the data of a file that replaces another, fsync
		// or not; the power may go before it is there.
		{"ext4, log flushed", DiskExt4, LogFlush, "state=;place=old;made=;good=new;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := Up(t, Options{Store: c.store})
			for _, dir := range []string{"/var/lib/x", "/etc/x"} { // the plain directory and the overlay
				h.MustExec("sh", "-c", fmt.Sprintf(setUp, dir))
			}
			if c.mode == LogFlush {
				checkLoss(t, h, c.mode, "/var/lib/x", c.want)
				return
			}
			checkLoss(t, h, c.mode, "/var/lib/x", c.want)
			checkLoss(t, h, c.mode, "/etc/x", c.want)
		})
	}
}

// checkLoss changes files, cuts the power and looks at them, off and booted.
func checkLoss(t *testing.T, h *Host, mode Loss, dir, want string) {
	t.Helper()
	h.MustExec("sh", "-c", fmt.Sprintf(changeFiles, dir))
	h.PowerLoss(mode)
	if h.Running() {
		t.Error("the host is on without power")
	}
	h.Boot()
	got := h.MustExec("sh", "-c", fmt.Sprintf(showFiles, dir))
	if strings.HasPrefix(want, "state=;") {
		got = strings.Replace(got, "state=new;", "state=;", 1)
	}
	if got != want {
		t.Errorf("in %s: got %s want %s", dir, got, want)
	}
}

func TestPowerLossAfterRebootFindsAWholeRoot(t *testing.T) {
	t.Parallel()
	h := Up(t, Options{Store: DiskXFS})
	Up(t, Options{Store: Overlay}) // one that saw the disk of the first when it booted
	h.MustExec("sh", "-c", "echo kept >/etc/kept && sync")
	for range 3 {
		h.Reboot()
		h.PowerLoss(Plain)
		h.Boot()
		if got := h.MustExec("cat", "/etc/kept"); got != "kept" {
			t.Fatalf("got %q", got)
		}
	}
}
