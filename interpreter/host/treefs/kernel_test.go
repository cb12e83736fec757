package treefs

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNoOpenat2: an old kernel says ENOSYS and a sandbox EPERM.
func TestNoOpenat2(t *testing.T) {
	for _, errno := range []error{unix.ENOSYS, unix.EPERM} {
		err := noOpenat2("/mnt/image", errno)
		for _, want := range []string{"/mnt/image", "openat2", "Linux 5.6"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
		if !errors.Is(err, errno) {
			t.Errorf("%v does not wrap %v", err, errno)
		}
	}
	if err := noOpenat2("/mnt/image", unix.EACCES); !errors.Is(err, unix.EACCES) || strings.Contains(err.Error(), "openat2") {
		t.Errorf("another errno: %v", err)
	}
}

// TestChmodByPath is the way of kernels before 6.6.
func TestChmodByPath(t *testing.T) {
	name := t.TempDir() + "/file"
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(fd)
	if err := chmodByPath(viaProc(fd), 0o640); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode is %v (%v)", info.Mode(), err)
	}
	if err := chmodByPath("/proc/self/fd/none", 0o640); !errors.Is(err, unix.EOPNOTSUPP) || !strings.Contains(err.Error(), "/proc") {
		t.Errorf("without /proc: %v", err)
	}
}

// TestMountLine: a mount that the table does not have has no type.
func TestMountLine(t *testing.T) {
	for _, id := range []uint64{0, 1 << 60} {
		if line, ok := mountLine(id); ok {
			t.Errorf("mount %d is %+v", id, line)
		}
	}
	err := mounted("/mnt/x", mountID{})
	if !errors.Is(err, unix.EBUSY) || !strings.Contains(err.Error(), "/mnt/x: a file system is mounted here") {
		t.Errorf("an unknown mount: %v", err)
	}
}
