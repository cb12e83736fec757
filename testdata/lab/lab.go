// Package lab boots throw-away systemd hosts for end-to-end tests: a real
// Debian with a real systemd, journal, machined and nft, in about a second,
// each with a disk, a network namespace and cgroups of its own.
//
// A test package that uses it hands its TestMain over, and asks for hosts:
//
//	func TestMain(m *testing.M) { os.Exit(lab.Main(m)) }
//
//	func TestReboot(t *testing.T) {
//		h := lab.Up(t, lab.Options{Store: lab.DiskXFS})
//		h.Push("/etc/motd", []byte("hello\n"), 0o644)
//		h.Reboot()
//		h.MustExec("cat", "/etc/motd")
//	}
//
// Everything a process makes carries the name of its run and goes away with
// it: hosts at the end of their test, also when it panics; hosts of a process
// that was killed die with it; what is left of it (mounts, namespaces, files)
// is removed by the next run. Several processes may use the lab at once.
//
// The lab needs root and the trees that testdata/lab/prepare builds. Without
// them tests fail; they are never skipped.
//
// Helpers end the test (t.Fatal) when the lab itself fails, so they are to be
// called from the test's own goroutine. Paths inside a host are absolute.
package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// current is the run of this process while [Main] runs its tests.
var current atomic.Pointer[run]

// Main runs a package's tests with the lab and returns the exit code: 1 with
// a message when this machine cannot run the lab, or when something of this
// run could not be removed in the end.
func Main(m *testing.M) int {
	r, err := begin()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		return 1
	}
	current.Store(r)
	code := m.Run()
	if err := r.end(); err != nil {
		fmt.Fprintln(os.Stderr, "lab: cleaning up:", err)
		code = max(code, 1)
	}
	return code
}

// of is the run a test belongs to.
func of(t testing.TB) *run {
	t.Helper()
	r := current.Load()
	if r == nil {
		t.Fatal("lab: this package needs: func TestMain(m *testing.M) { os.Exit(lab.Main(m)) }")
	}
	return r
}

// cacheDir is where base trees, cached layers and running hosts live.
func cacheDir() string {
	if dir := os.Getenv("HOSTLER_LAB_CACHE"); dir != "" {
		return dir
	}
	return "/var/cache/hostler-lab"
}

// programs are what the lab calls on the machine it runs on.
func programs() []string {
	return []string{"systemd-nspawn", "nsenter", "ip", "mount", "mkfs.ext4", "mkfs.xfs", "mkfs.erofs", "tar", "cp"}
}

// usable says all that is missing for the lab to run here.
func usable(cache string) error {
	if os.Geteuid() != 0 {
		return errors.New("needs root")
	}
	var missing []string
	for _, p := range programs() {
		if _, err := exec.LookPath(p); err != nil {
			missing = append(missing, p)
		}
	}
	for _, tree := range []string{"host", "guest"} {
		if _, err := os.Stat(filepath.Join(cache, tree, "tree", "usr")); err != nil {
			missing = append(missing, filepath.Join(cache, tree))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("not here: %s; run testdata/lab/prepare first", strings.Join(missing, ", "))
	}
	return nil
}

// raiseInotify lifts the kernel's limit on inotify instances: every systemd
// takes several, and its default ends at about twenty hosts and guests.
func raiseInotify() error {
	const file, want = "/proc/sys/fs/inotify/max_user_instances", 8192
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if have, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && have >= want {
		return nil
	}
	return os.WriteFile(file, []byte(strconv.Itoa(want)), 0)
}
