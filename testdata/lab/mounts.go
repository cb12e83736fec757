package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mountOverlay mounts layers, the topmost first, with a writable upper one.
func mountOverlay(target string, lower []string, upper, work string) error {
	options := "lowerdir=" + strings.Join(lower, ":")
	if upper != "" {
		options += ",upperdir=" + upper + ",workdir=" + work
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("overlay", target, "overlay", 0, options); err != nil {
		return fmt.Errorf("mounting an overlay on %s: %w", target, err)
	}
	return nil
}

// makeShared makes a directory and mounts it on itself, shared. A host that
// boots keeps hidden copies of all mounts there are, those of other hosts
// too; from shared ones the copies go when the mounts go.
func makeShared(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting %s: %w", dir, err)
	}
	for _, how := range []uintptr{unix.MS_PRIVATE, unix.MS_SHARED} { // a group of its own
		if err := unix.Mount("", dir, "", how, ""); err != nil {
			return fmt.Errorf("sharing mounts of %s: %w", dir, err)
		}
	}
	return nil
}

// mountsBelow are the mount points at or below a directory, in the order they
// were mounted.
func mountsBelow(dir string) ([]string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		if point := unescape(fields[4]); point == dir || strings.HasPrefix(point, dir+"/") {
			found = append(found, point)
		}
	}
	return found, nil
}

// unescape undoes the kernel's octal escapes of blanks in mount tables.
func unescape(s string) string {
	for _, c := range []string{" ", "\t", "\n", `\`} {
		s = strings.ReplaceAll(s, fmt.Sprintf(`\%03o`, c[0]), c)
	}
	return s
}

// unmountBelow unmounts all at or below a directory and waits until the
// kernel has let go of it: a filesystem that is still in use somewhere would
// be found as it was, not as its disk has it, by the next mount.
func unmountBelow(dir string) error {
	err := await("mounts below "+dir+" to be free", 20*time.Second, func() (bool, error) {
		mounts, err := mountsBelow(dir)
		for _, m := range slices.Backward(mounts) {
			uerr := unix.Unmount(m, 0)
			if uerr != nil && !errors.Is(uerr, unix.EBUSY) && !errors.Is(uerr, unix.EINVAL) {
				err = errors.Join(err, fmt.Errorf("unmounting %s: %w", m, uerr))
			}
		}
		return len(mounts) == 0, err
	})
	if err != nil {
		return err
	}
	return await("loop devices on files of "+dir+" to be free", 20*time.Second, func() (bool, error) {
		devices, err := loopsOn(dir)
		return len(devices) == 0, err
	})
}

// loopsOn are the loop devices whose file is below a directory. They vanish
// with the last use of the filesystem on them.
func loopsOn(dir string) ([]string, error) {
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err != nil || !strings.HasPrefix(strings.TrimSpace(string(text)), dir+"/")
	}), nil
}

// cut shuts a filesystem down at once, as a power cut would; see [Host.PowerLoss].
func cut(mountPoint string, mode Loss) error {
	const shutdown = 0x8004587d // EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN
	dir, err := os.Open(mountPoint)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.IoctlSetPointerInt(int(dir.Fd()), shutdown, int(mode)); err != nil {
		return fmt.Errorf("shutting down the filesystem on %s: %w", mountPoint, err)
	}
	return nil
}

// syncDisk writes all of the filesystem a directory is on to its disk.
func syncDisk(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// octal is a file mode as chmod takes it.
func octal(mode os.FileMode) string { return strconv.FormatUint(uint64(mode.Perm()), 8) }
