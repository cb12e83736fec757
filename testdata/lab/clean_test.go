//go:build e2e

package lab

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestChild is the body of child processes of the tests below; in a plain run
// it does nothing.
func TestChild(t *testing.T) {
	how := os.Getenv("LAB_CHILD")
	if how == "" {
		return
	}
	h := Up(t, Options{})
	if _, err := os.Stdout.WriteString("child=" + h.run.dir + "\n"); err != nil {
		t.Fatal(err)
	}
	if how == "panic" {
		panic("on purpose")
	}
	select {} // until killed
}

// child starts TestChild in a process of its own and returns once its host
// is up, or it has ended, with the directory of its run.
func child(t *testing.T, how string) (*exec.Cmd, string) {
	t.Helper()
	t.Cleanup(of(t).slots.take(t.Name()))
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), "LAB_CHILD="+how)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, dir, ok := strings.Cut(lines.Text(), "child="); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return cmd, dir
		}
	}
	t.Fatal("the child has no host:", cmd.Wait())
	return nil, ""
}

func TestHostIsTakenDownWhenItsTestPanics(t *testing.T) {
	t.Parallel()
	cmd, dir := child(t, "panic")
	if err := cmd.Wait(); err == nil {
		t.Error("the child did not fail")
	}
	if left := leftovers(t, dir, "-0001"); len(left) > 0 {
		t.Errorf("left of the host: %q", left)
	}
	checkSwept(t, dir)
}

func TestHostDiesWithAKilledProcess(t *testing.T) {
	t.Parallel()
	cmd, dir := child(t, "kill")
	if err := sweep(cacheDir()); err != nil {
		t.Error(err)
	}
	if pids, err := groupMembers(filepath.Base(dir)); err != nil || len(pids) < 5 {
		t.Errorf("the sweep hit a host that was in use: %v %v", pids, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	err := await("the host to die with its process", 10*time.Second, func() (bool, error) {
		pids, err := groupMembers(filepath.Base(dir))
		return len(pids) == 0, err
	})
	if err != nil {
		t.Error(err)
	}
	checkSwept(t, dir)
}

// checkSwept sweeps, as the beginning of the next run does, and checks that
// nothing of a run is left.
func checkSwept(t *testing.T, dir string) {
	t.Helper()
	if err := sweep(cacheDir()); err != nil {
		t.Error(err)
	}
	if left := leftovers(t, dir, ""); len(left) > 0 {
		t.Errorf("left of the run: %q", left)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the run's directory is still there: %v", err)
	}
}

// leftovers are the mounts, namespaces, cgroups, loop devices and directories
// of a run, or of one of its hosts.
func leftovers(t *testing.T, dir, host string) []string {
	t.Helper()
	id := filepath.Base(dir) + host
	below := dir
	if host != "" {
		below = filepath.Join(dir, id)
	}
	mounts, err := mountsBelow(below)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := groupsOf(id)
	if err != nil {
		t.Fatal(err)
	}
	loops, err := loopsOn(below)
	if err != nil {
		t.Fatal(err)
	}
	left := append(append(mounts, groups...), loops...)
	for _, pattern := range []string{"/run/netns/" + id + "*", "/run/systemd/nspawn/*/" + id + "*", filepath.Join(dir, id+"*")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, found...)
	}
	return left
}
