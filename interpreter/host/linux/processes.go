package linux

import (
	"os"
	"path"
	"strconv"
	"strings"
)

// processes finds out where on the host processes have their root and
// executable.
//
// The kernel answers such questions as seen from the asking process: of a
// process in a machine, whose root is a mount of another namespace, it says
// "/". That root is looked for among the host's mounts, by the file system and
// the directory it is of, and taken only if it is the same directory.
type processes struct {
	namespace string // this process's own mount namespace
	mounts    []mount
}

func newProcesses() processes {
	p := processes{}
	p.namespace, _ = os.Readlink("/proc/self/ns/mnt") // "" is no process's
	p.mounts, _ = selfMounts()                        // none: no root is found
	return p
}

// owner returns the root directory and the executable of a process as paths on
// the host, "" for what cannot be read or has no path there.
func (p processes) owner(pid int) (root, exe string) {
	dir := path.Join("/proc", strconv.Itoa(pid))
	namespace, err := os.Readlink(path.Join(dir, "ns/mnt"))
	if err != nil || p.namespace == "" {
		return "", ""
	}
	root, rootErr := os.Readlink(path.Join(dir, "root"))
	exe, exeErr := os.Readlink(path.Join(dir, "exe"))
	if rootErr != nil || exeErr != nil {
		return "", ""
	}
	if namespace == p.namespace {
		return root, undeleted(exe)
	}
	root = p.hostPath(dir)
	return root, p.inside(dir, root, exe)
}

// undeleted is the path that an executable had which was replaced or removed
// since.
func undeleted(exe string) string { return strings.TrimSuffix(exe, " (deleted)") }

// hostPath is the directory on the host that is the root of a process in
// another mount namespace.
func (p processes) hostPath(dir string) string {
	theirs, err := readMounts(path.Join(dir, "mountinfo"))
	if err != nil {
		return ""
	}
	root := path.Join(dir, "root")
	is, err := os.Stat(root)
	if err != nil {
		return ""
	}
	for i := len(theirs) - 1; i >= 0; i-- {
		if theirs[i].point != "/" {
			continue
		}
		for _, candidate := range p.places(theirs[i]) {
			if there, err := os.Stat(candidate); err == nil && os.SameFile(is, there) {
				return candidate
			}
		}
	}
	return ""
}

// places are the paths on the host at which the root of the mount is to be
// seen, the ones mounted last first.
func (p processes) places(m mount) []string {
	var found []string
	for i := len(p.mounts) - 1; i >= 0; i-- {
		if ours := p.mounts[i]; ours.device == m.device && under(m.root, ours.root) {
			found = append(found, path.Join(ours.point, strings.TrimPrefix(m.root, strings.TrimSuffix(ours.root, "/"))))
		}
	}
	return found
}

// inside places the executable of a process in another mount namespace: below
// its root if it is found there (or was, and is deleted), else where the host
// has it, as with a program that was started into the machine from outside.
func (p processes) inside(dir, root, exe string) string {
	if root == "" {
		return ""
	}
	is, err := os.Stat(path.Join(dir, "exe"))
	if err != nil {
		return ""
	}
	there, err := os.Stat(path.Join(dir, "root", exe))
	if err == nil && os.SameFile(is, there) || exe != undeleted(exe) {
		return path.Join(root, undeleted(exe))
	}
	return exe
}
