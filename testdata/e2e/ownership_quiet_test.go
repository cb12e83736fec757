//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hostler/testdata/lab"
)

// TestR201HealthyIsSilent: ensure on a healthy, complete host writes nothing but
// below /run, sends nothing, and needs no network at all. R010, R094, H21.
func TestR201HealthyIsSilent(t *testing.T) {
	h := installed(t, lab.Options{})
	const dirs = "/etc /usr /opt /var/lib/hostler /root"
	before, packets := stamps(t, h, strings.Fields(dirs)...), h.Packets("eth0")
	for _, args := range [][]string{{"ensure"}, {"ensure", owned}} {
		h.MustExec(append([]string{"unshare", "--net", program}, args...)...) // no routes, not even a loopback
	}
	for _, call := range writes(t, h, program, "ensure", owned) {
		if !strings.Contains(call, `"/run/`) && !strings.Contains(call, `</run`) {
			t.Errorf("ensure calls %s", call)
		}
	}
	untouched(t, h, before, strings.Fields(dirs)...)
	if now := h.Packets("eth0"); now != packets {
		t.Errorf("%d packets", now-packets)
	}
}

// writing matches the system calls that change a file system.
var writing = regexp.MustCompile(`O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|^(rename|unlink|mkdir|rmdir|link|symlink|chmod|fchmod|chown|fchown|lchown|truncate|ftruncate|mknod|utime|setxattr|lsetxattr|mount)`)

// writes are the system calls by which a command changes files.
func writes(t *testing.T, h *lab.Host, argv ...string) (calls []string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "calls")
	line := []string{"-f", "-qq", "-y", "-s", "200", "-o", log, "-e", "trace=%file,%desc", "-e", "trace=!read,close,mmap,lseek,epoll_ctl,fcntl",
		"nsenter", "--target", strconv.Itoa(h.Leader()), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--"}
	if out, err := exec.Command("strace", append(line, argv...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		_, call, _ := strings.Cut(strings.TrimSpace(line), " ")
		if call = strings.TrimSpace(call); writing.MatchString(call) && !strings.Contains(call, `"/dev/null"`) {
			calls = append(calls, call)
		}
	}
	return calls
}

// TestH47PowerOffAfterComplete: what hostler has called done is on the disk.
func TestH47PowerOffAfterComplete(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]lab.Options{"xfs": {Store: lab.DiskXFS}, "ext4": {Store: lab.DiskExt4}} {
		t.Run(name, func(t *testing.T) {
			h := ownedHost(t, options)
			for _, loss := range []lab.Loss{lab.Plain, lab.LogFlush} {
				h.MustExec("sync")
				expect(t, h, 0, "apply", owned)
				record := string(h.Pull(recordFile))
				h.PowerLoss(loss)
				if got := string(h.Pull(recordFile)); got != record {
					t.Errorf("the record was\n%s\nand is\n%s", record, got)
				}
				h.Boot()
				says(t, expect(t, h, 0, "ensure"), "Nothing to do")
				expect(t, h, 0, "verify")
				expect(t, h, 0, "reset")
				h.PowerLoss(loss)
				if there(h, recordFile) || there(h, "/etc/owned") {
					t.Error("what was reset is back")
				}
				h.Boot()
			}
		})
	}
}

// TestH47RebootAfterComplete is the same with a forced reboot.
func TestH47RebootAfterComplete(t *testing.T) {
	h := installed(t, lab.Options{Store: lab.DiskXFS})
	record := string(h.Pull(recordFile))
	h.Exec("systemctl", "reboot", "-ff")
	if !h.AwaitStop() {
		t.Fatal("it did not reboot")
	}
	h.Boot()
	if got := string(h.Pull(recordFile)); got != record {
		t.Errorf("the record was\n%s\nand is\n%s", record, got)
	}
	expect(t, h, 0, "ensure")
	expect(t, h, 0, "verify")
}
