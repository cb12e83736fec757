package lab

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const cgroupRoot = "/sys/fs/cgroup"

// groupParents are the cgroups below which hosts get theirs, one in each
// hierarchy: below the caller's own in v1 and hybrid, so that limits of the
// caller hold; below the root in pure v2, where a group with processes in it
// cannot have children with controllers. self is the text of
// /proc/self/cgroup, unified the directory of pure v2's or hybrid's v2 tree.
//
// Every host needs its own group in all of them, the named ones too: systemds
// that share one remove each other's groups.
func groupParents(self, root string, pure bool) []string {
	if pure {
		return []string{root}
	}
	var dirs []string
	for line := range strings.Lines(self) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		name := strings.TrimPrefix(parts[1], "name=")
		if name == "" {
			name = "unified"
		}
		dirs = append(dirs, filepath.Join(root, name, parts[2]))
	}
	return dirs
}

// parents are the group parents of this process that exist on this machine.
func parents() ([]string, error) {
	self, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(filepath.Join(cgroupRoot, "cgroup.controllers"))
	dirs := groupParents(string(self), cgroupRoot, err == nil)
	return slices.DeleteFunc(dirs, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	}), nil
}

// makeGroups makes a host's cgroups and returns them.
func makeGroups(id string) ([]string, error) {
	dirs, err := parents()
	if err != nil {
		return nil, err
	}
	var made []string
	for _, parent := range dirs {
		enable(parent)
		group := filepath.Join(parent, id)
		if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if err := inherit(parent, group); err != nil {
			return nil, err
		}
		made = append(made, group)
	}
	return made, nil
}

// enable gives the children of a version 2 group all controllers it has, as
// far as the kernel lets us: without one, limits of that kind do not hold in
// the host.
func enable(parent string) {
	names, err := os.ReadFile(filepath.Join(parent, "cgroup.controllers"))
	if err != nil {
		return // version 1
	}
	control, err := os.OpenFile(filepath.Join(parent, "cgroup.subtree_control"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return
	}
	defer control.Close()
	for name := range strings.FieldsSeq(string(names)) {
		_, _ = control.WriteString("+" + name)
	}
}

// inherit gives a new group what it needs before a process may enter it.
func inherit(parent, group string) error {
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} { // v1 leaves these empty
		value, err := os.ReadFile(filepath.Join(parent, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && strings.TrimSpace(string(value)) != "" {
			err = os.WriteFile(filepath.Join(group, name), value, 0o644)
		}
		if err != nil {
			return err
		}
	}
	clone := filepath.Join(group, "cgroup.clone_children")
	if _, err := os.Stat(clone); err == nil {
		return os.WriteFile(clone, []byte("1"), 0)
	}
	return nil
}

// groupsOf are the cgroups of a run (all its hosts) or of one host.
func groupsOf(id string) ([]string, error) {
	dirs, err := parents()
	if err != nil {
		return nil, err
	}
	var all []string
	for _, dir := range dirs {
		found, err := filepath.Glob(filepath.Join(dir, id+"*"))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// groupMembers are the processes in the cgroups of a run or host.
func groupMembers(id string) ([]int, error) {
	groups, err := groupsOf(id)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, group := range groups {
		for _, dir := range below(group) {
			text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
			if err == nil {
				pids = append(pids, integers(string(text))...)
			}
		}
	}
	slices.Sort(pids)
	pids = slices.DeleteFunc(pids, func(pid int) bool { return pid <= 0 }) // 0: not in our pid namespace
	return slices.Compact(pids), nil
}

// removeGroups removes the cgroups of a run or host, empty by now; the kernel
// takes a moment to see that.
func removeGroups(id string) error {
	return await("cgroups of "+id+" to be free", 10*time.Second, func() (bool, error) {
		groups, err := groupsOf(id)
		for _, group := range groups {
			for _, dir := range slices.Backward(below(group)) {
				rerr := os.Remove(dir)
				if rerr != nil && !errors.Is(rerr, fs.ErrNotExist) && !errors.Is(rerr, unix.EBUSY) {
					err = errors.Join(err, rerr)
				}
			}
		}
		return len(groups) == 0, err
	})
}

// below is a directory and all directories in it, parents first. What goes
// away meanwhile is left out.
func below(dir string) []string {
	var dirs []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	return dirs
}
