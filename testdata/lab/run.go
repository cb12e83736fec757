package lab

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// run is what one process makes in the lab. Its id is the prefix of every
// name outside its directory: machines, namespaces and cgroups. A lock held
// while the process lives tells others that it is alive.
type run struct {
	id    string
	dir   string // all files of this run
	lock  *os.File
	trees map[string]string // base trees by name, as they stood when the run began

	hosts atomic.Int64 // numbers given out
	slots *slots
	boots chan struct{} // hosts that boot at this moment
	start chan func()   // served by a thread that lives as long as the process

	network sync.Mutex // guards wired
	wired   bool       // the switch is there

	building sync.Once // guards binary and buildErr
	binary   string
	buildErr error
}

// begin checks the machine, removes what dead runs left and starts a run.
func begin() (*run, error) {
	cache := cacheDir()
	if err := usable(cache); err != nil {
		return nil, err
	}
	if err := raiseInotify(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(cache, "run"), 0o755); err != nil {
		return nil, err
	}
	if err := sweep(cache); err != nil { // not ours to fail for
		fmt.Fprintln(os.Stderr, "lab: what earlier runs left cannot be removed:", err)
	}
	unlock, err := flock(runsLock(cache))
	if err != nil {
		return nil, err
	}
	defer unlock()
	return newRun(cache)
}

// runsLock is held while a run begins, ends or is swept.
func runsLock(cache string) string { return filepath.Join(cache, "run.lock") }

func newRun(cache string) (*run, error) {
	var b [3]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, err
	}
	limit := hostLimit()
	r := &run{
		id: "lab-" + hex.EncodeToString(b[:]), trees: map[string]string{},
		slots: newSlots(limit), boots: make(chan struct{}, limit), start: make(chan func()),
	}
	r.dir = filepath.Join(cache, "run", r.id)
	lock, err := tryLock(lockOf(r.dir))
	if err != nil {
		return nil, err
	}
	r.lock = lock
	if err := makeShared(r.dir); err != nil {
		return nil, err
	}
	for _, name := range []string{"host", "guest"} {
		tree, err := filepath.EvalSymlinks(filepath.Join(cache, name))
		if err != nil {
			return nil, err
		}
		r.trees[name] = tree
	}
	go serveThread(r.start)
	return r, r.writeInit()
}

// end removes all of this run.
func (r *run) end() error {
	close(r.start)
	unlock, err := flock(runsLock(filepath.Dir(filepath.Dir(r.dir))))
	if err != nil {
		return err
	}
	defer unlock()
	return errors.Join(remove(r.dir), r.lock.Close())
}

// lockOf is the lock of a run, beside its directory.
func lockOf(dir string) string { return dir + ".lock" }

// hostLimit is how many tests may have hosts at a time: $HOSTLER_LAB_HOSTS,
// or 2. Booting a host takes two seconds of CPU.
func hostLimit() int {
	if n, err := strconv.Atoi(os.Getenv("HOSTLER_LAB_HOSTS")); err == nil && n > 0 {
		return n
	}
	return 2
}

// base is the cached tree of a name, unpacked and read-only by agreement.
func (r *run) base(name string) string { return filepath.Join(r.trees[name], "tree") }

// mkdir makes a new directory of this run.
func (r *run) mkdir(kind string) (string, error) {
	return os.MkdirTemp(r.dir, kind+"-")
}

// flock waits for a lock between processes and returns what releases it.
func flock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// tryLock takes a lock, or fails with [unix.EWOULDBLOCK] when it is held.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
