package linux

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/hosttest"
)

func lockIn(t *testing.T) locks {
	t.Helper()
	return locks{filepath.Join(t.TempDir(), "hostler")}
}

func TestLockContract(t *testing.T) {
	hosttest.Locks(t, func(t *testing.T) host.Locks { return lockIn(t) })
}

func me() host.Holder {
	return host.Holder{PID: os.Getpid(), Command: "hostler apply", Since: time.Unix(1e9, 0).UTC()}
}

func isHeld(t *testing.T, err error) *host.HeldError {
	t.Helper()
	e, found := errors.AsType[*host.HeldError](err)
	if !found {
		t.Fatalf("%v, want a *host.HeldError", err)
	}
	return e
}

// TestLockFiles: R038, R041, C75: the directory and the file are made with
// their modes, the file stays, the description goes with the lock.
func TestLockFiles(t *testing.T) {
	defer unix.Umask(unix.Umask(0))
	l := lockIn(t)
	release, err := l.Acquire(t.Context(), host.LockExclusive, me())
	ok(t, err)
	for name, want := range map[string]os.FileMode{l.dir: 0o700 | os.ModeDir, l.file(): 0o600, l.sidecar(): 0o600} {
		if info, err := os.Lstat(name); err != nil || info.Mode() != want {
			t.Errorf("%s is %v (%v), want %v", name, info.Mode(), err, want)
		}
	}
	before, err := os.Lstat(l.file())
	ok(t, err)
	if e := isHeld(t, second(l.Acquire(t.Context(), host.LockShared, me()))); e.Holder == nil || *e.Holder != me() || e.Path != l.file() {
		t.Errorf("held by %+v at %s", e.Holder, e.Path)
	}
	ok(t, release())
	after, err := os.Lstat(l.file())
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the lock file did not stay: %v", err)
	}
	if names, err := os.ReadDir(l.dir); err != nil || len(names) != 1 {
		t.Errorf("left are %v (%v)", names, err)
	}
}

func second(_ func() error, err error) error { return err }

// TestC75LockFileRemoved: who removes the file while it is held lets nobody in.
func TestC75LockFileRemoved(t *testing.T) {
	l := lockIn(t)
	release, err := l.Acquire(t.Context(), host.LockExclusive, me())
	ok(t, err)
	ok(t, os.Remove(l.file()))
	for _, mode := range []host.LockMode{host.LockExclusive, host.LockShared} {
		isHeld(t, second(l.Acquire(t.Context(), mode, me())))
	}
	ok(t, release())
	again, err := l.Acquire(t.Context(), host.LockExclusive, me())
	ok(t, err)
	ok(t, again())
}

// TestC75LeftoverIsNoLock: R037, files of a holder that died are in nobody's
// way and describe nobody.
func TestC75LeftoverIsNoLock(t *testing.T) {
	l := lockIn(t)
	ok(t, os.Mkdir(l.dir, 0o755))
	ok(t, os.WriteFile(l.file(), nil, 0o600))
	ok(t, os.WriteFile(l.sidecar(), []byte(`{"pid": 4711, "command": "hostler reset"}`), 0o600))
	ok(t, os.WriteFile(host.TemporaryName(l.sidecar()), []byte("half"), 0o600))
	reader, err := l.Acquire(t.Context(), host.LockShared, me())
	ok(t, err)
	if e := isHeld(t, second(l.Acquire(t.Context(), host.LockExclusive, me()))); e.Holder != nil {
		t.Errorf("the holder is said to be %+v, who died", e.Holder)
	}
	ok(t, reader())
	writer, err := l.Acquire(t.Context(), host.LockExclusive, me())
	ok(t, err)
	ok(t, writer())
}

// TestC75NeverTwoWriters: many who take the lock at once, with the file removed
// again and again meanwhile.
func TestC75NeverTwoWriters(t *testing.T) {
	l := lockIn(t)
	ok(t, os.Mkdir(l.dir, 0o700))
	var writers, most, taken int
	var count sync.Mutex
	enough := func() bool {
		count.Lock()
		defer count.Unlock()
		return taken >= 30
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for !enough() {
				release, err := l.Acquire(context.Background(), host.LockExclusive, me())
				if err != nil {
					continue
				}
				count.Lock()
				writers++
				taken++
				most = max(most, writers)
				count.Unlock()
				time.Sleep(time.Millisecond)
				count.Lock()
				writers--
				count.Unlock()
				_ = release()
			}
		})
	}
	all.Go(func() {
		for !enough() {
			_ = os.Remove(l.file())
			time.Sleep(3 * time.Millisecond)
		}
	})
	all.Wait()
	if most != 1 {
		t.Errorf("%d writers at once", most)
	}
}

// TestLockBetweenProcesses: R034, R035 and R040.
func TestLockBetweenProcesses(t *testing.T) {
	l := lockIn(t)
	release, err := l.Acquire(t.Context(), host.LockExclusive, me())
	ok(t, err)
	flock := exec.Command("flock", "--nonblock", l.file(), "true")
	if err := flock.Run(); flock.ProcessState.ExitCode() != 1 {
		t.Errorf("flock(1) of the locked file: %v, want exit status 1", err)
	}
	child := exec.Command("sleep", "20")
	ok(t, child.Start())
	ok(t, release())
	// The child was started while the lock was held and does not hold it.
	again, err := l.Acquire(t.Context(), host.LockExclusive, me())
	ok(t, err)
	ok(t, again())
	ok(t, child.Process.Kill())
	_ = child.Wait() // "signal: killed"
	other := exec.Command("flock", "--shared", l.dir, "sh", "-c", "echo; exec sleep 20")
	out, err := other.StdoutPipe()
	ok(t, err)
	ok(t, other.Start())
	_, err = out.Read(make([]byte, 1))
	ok(t, err)
	isHeld(t, second(l.Acquire(t.Context(), host.LockExclusive, me())))
	ok(t, other.Process.Kill())
	_ = other.Wait()
}

func TestLockThatCannotBeTaken(t *testing.T) {
	l := lockIn(t)
	ok(t, os.WriteFile(l.dir, nil, 0o600))
	if _, err := l.Acquire(t.Context(), host.LockShared, me()); err == nil || !strings.Contains(err.Error(), "is not a directory") {
		t.Errorf("a file where the directory belongs: %v", err)
	}
	ok(t, os.Remove(l.dir))
	ok(t, os.Mkdir(l.dir, 0o700))
	victim := filepath.Join(t.TempDir(), "victim")
	ok(t, os.Symlink(victim, l.file()))
	if _, err := l.Acquire(t.Context(), host.LockExclusive, me()); !errors.Is(err, unix.ELOOP) || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a link where the file belongs: %v", err)
	}
	if _, err := os.Lstat(victim); err == nil {
		t.Error("the link was followed")
	}
	deep := locks{filepath.Join(t.TempDir(), "none", "hostler")}
	if _, err := deep.Acquire(t.Context(), host.LockShared, me()); err == nil || !strings.Contains(err.Error(), "mounted at /run") {
		t.Errorf("without /run: %v", err)
	}
}

func TestLockExplains(t *testing.T) {
	l := locks{"/run/hostler"}
	for cause, want := range map[error]string{
		unix.EACCES: "/run/hostler/lock cannot be taken: permission denied (run as root)",
		unix.EROFS:  "read-only file system (a writable file system has to be mounted at /run)",
		unix.EIO:    "cannot be taken: input/output error",
	} {
		if err := l.explain(cause); !errors.Is(err, cause) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q in it", cause, err, want)
		}
	}
}
