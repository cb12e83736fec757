package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sweep removes the runs whose process is dead, however it ended.
func sweep(cache string) error {
	unlock, err := flock(runsLock(cache))
	if err != nil {
		return err
	}
	defer unlock()
	locks, err := filepath.Glob(filepath.Join(cache, "run", "*.lock"))
	if err != nil {
		return err
	}
	var faults []error
	for _, path := range locks {
		lock, err := tryLock(path)
		switch {
		case errors.Is(err, unix.EWOULDBLOCK): // alive
		case err != nil:
			faults = append(faults, err)
		default:
			faults = append(faults, remove(strings.TrimSuffix(path, ".lock")), lock.Close())
		}
	}
	return errors.Join(faults...)
}

// remove takes away all of a run: its processes, mounts, namespaces, cgroups
// and files. The last path element of its directory is its id.
func remove(dir string) error {
	id := filepath.Base(dir)
	if err := killGroups(id); err != nil {
		return err
	}
	if err := unmountBelow(dir); err != nil {
		return err
	}
	if err := errors.Join(removeNamespaces(id), removeGroups(id), removeTree(dir)); err != nil {
		return err
	}
	return os.Remove(lockOf(dir))
}

// removeTree removes a directory of files; it refuses while something is
// mounted in it, so that nothing of the cache is ever removed through it.
func removeTree(dir string) error {
	mounts, err := mountsBelow(dir)
	if err != nil {
		return err
	}
	if len(mounts) > 0 {
		return fmt.Errorf("still mounted: %s", strings.Join(mounts, ", "))
	}
	return os.RemoveAll(dir)
}

// killGroups ends all processes in the cgroups of a run or host.
func killGroups(id string) error {
	return await("processes of "+id+" to end", 20*time.Second, func() (bool, error) {
		pids, err := groupMembers(id)
		for _, pid := range pids {
			if kerr := unix.Kill(pid, unix.SIGKILL); kerr != nil && !errors.Is(kerr, unix.ESRCH) {
				err = errors.Join(err, fmt.Errorf("killing process %d: %w", pid, kerr))
			}
		}
		return len(pids) == 0, err
	})
}

// removeNamespaces deletes the network namespaces of a run or host.
func removeNamespaces(id string) error {
	names, err := filepath.Glob("/run/netns/" + id + "*")
	if err != nil {
		return err
	}
	for _, name := range names {
		err = errors.Join(err, command("ip", "netns", "delete", filepath.Base(name)))
	}
	propagate, _ := filepath.Glob("/run/systemd/nspawn/*/" + id + "*")
	for _, name := range propagate { // nspawn leaves these when it is killed
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}

// command runs a program of this machine; the error has its output.
func command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// await polls until done, or an error, or the time is over.
func await(what string, limit time.Duration, done func() (bool, error)) error {
	deadline := time.Now().Add(limit)
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %v for %s", limit, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// integers are the numbers in a text; other words are left out.
func integers(text string) []int {
	var all []int
	for _, f := range strings.Fields(text) {
		if n, err := strconv.Atoi(f); err == nil {
			all = append(all, n)
		}
	}
	return all
}
