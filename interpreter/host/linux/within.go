package linux

import (
	"fmt"
	"path"
	"runtime"

	"golang.org/x/sys/unix"
)

// within runs do in namespaces of the machine ("net", "uts", "mnt"), on a
// thread of its own that ends with it. do must start no goroutines that ought
// to be there too.
func (in *inside) within(kinds []string, do func() error) error {
	return onThread(func() error {
		// A thread can change its mounts only when it does not share its root
		// and working directory with others.
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			return fmt.Errorf("machine %s: %w", in.name, err)
		}
		for _, kind := range kinds {
			if err := in.join(kind); err != nil {
				return fmt.Errorf("machine %s: joining its %s namespace: %w", in.name, kind, err)
			}
		}
		return do()
	})
}

func (in *inside) join(kind string) error {
	fd, err := unix.Openat(int(in.proc.Fd()), path.Join("ns", kind), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Setns(fd, 0)
}

// onThread runs do on a thread that is thrown away afterwards. It is never the
// first one: what /proc/self says is said of that.
func onThread(do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			done <- onThread(do) // while this goroutine occupies the first thread
			runtime.UnlockOSThread()
			return
		}
		done <- do()
	}()
	return <-done
}
