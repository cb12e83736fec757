package linux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

// kernel is the running kernel, as the host sees it.
type kernel struct {
	files    *treefs.FS
	commands host.Commands
}

var _ host.Kernel = kernel{}

// Release is uname -r.
func (kernel) Release(context.Context) (string, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", fmt.Errorf("uname: %w", err)
	}
	return unix.ByteSliceToString(u.Release[:]), nil
}

// CgroupVersion looks at what is mounted at /sys/fs/cgroup: in the hybrid
// layout that is a tmpfs, and the controllers are version 1.
func (k kernel) CgroupVersion(context.Context) (int, error) { return cgroupVersion(k.files) }

func cgroupVersion(files *treefs.FS) (int, error) {
	real, err := files.RealDir("/sys/fs/cgroup")
	if err != nil {
		return 0, err
	}
	var st unix.Statfs_t
	if err := unix.Statfs(real, &st); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: "/sys/fs/cgroup", Err: err}
	}
	if st.Type == unix.CGROUP2_SUPER_MAGIC {
		return 2, nil
	}
	return 1, nil
}

// Swaps reads /proc/swaps. A kernel without swapping has none.
func (k kernel) Swaps(context.Context) ([]host.SwapArea, error) {
	text, err := readFile(k.files, "/proc/swaps")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return swapAreas(text), err
}

// swapAreas takes the first and the last column of proc_swaps(5), below its
// heading.
func swapAreas(text string) []host.SwapArea {
	var areas []host.SwapArea
	for i, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if i == 0 || len(fields) == 0 {
			continue
		}
		priority, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil {
			priority = -1
		}
		areas = append(areas, host.SwapArea{Name: unescape(fields[0]), Priority: priority})
	}
	return areas
}

// SwapOff stops swapping on an area.
func (k kernel) SwapOff(_ context.Context, area string) error {
	return swapCall("swapoff", unix.SYS_SWAPOFF, area, 0)
}

// SwapOn starts swapping on an area.
func (k kernel) SwapOn(_ context.Context, area host.SwapArea) error {
	return swapCall("swapon", unix.SYS_SWAPON, area.Name, swapFlags(area.Priority))
}

// Unmount unmounts what is mounted at path. A final link is not followed.
func (k kernel) Unmount(_ context.Context, path string) error { return unmount(path) }

func unmount(path string) error {
	if err := unix.Unmount(path, unix.UMOUNT_NOFOLLOW); err != nil {
		return &fs.PathError{Op: "umount", Path: path, Err: err}
	}
	return nil
}

// LoadModule runs modprobe, which knows aliases, options and dependencies. A
// module that is loaded is left as it is.
func (k kernel) LoadModule(ctx context.Context, name string) error {
	if err := validModule(name); err != nil {
		return err
	}
	if loaded, err := k.ModuleLoaded(ctx, name); err != nil || loaded {
		return err
	}
	if _, err := k.commands.Run(ctx, host.Command{Argv: []string{"modprobe", name}}); err != nil {
		return fmt.Errorf("kernel module %s cannot be loaded: %w", name, err)
	}
	return nil
}

// readFile reads a whole file through a file door. Files of the kernel have no
// size to go by.
func readFile(files host.FileView, name string) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(f)
	return string(text), errors.Join(err, f.Close())
}

// lines are those of the text that are not blank, without blanks around them.
func lines(text string) []string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return slices.DeleteFunc(all, func(line string) bool { return line == "" })
}
