package memory

import (
	"path"
	"strings"
	"sync"
	"syscall"
	"time"
)

// tree is all mounted file systems of the host, under one lock.
type tree struct {
	mu     sync.Mutex
	clock  func() time.Time
	last   time.Time
	mounts []*mount // the first is the root
	over   map[place]*mount
	devs   uint64
	// lives counts processes: a handle of an earlier one is dead.
	lives int
}

// mount is a file system, or a part of one, attached to the tree.
type mount struct {
	spec   Mount
	on     place // what it covers
	root   *inode
	opens  int
	static bool // mounted again at boot
}

// place is where a walk stands: an inode as seen through a mount.
type place struct {
	mnt  *mount
	node *inode
}

func newTree(clock func() time.Time, limit int64) *tree {
	t := &tree{clock: clock, over: map[place]*mount{}}
	root := newDisk(t.dev(), false, limit, t.now())
	spec := Mount{Point: "/", Type: "ext4", Source: "/dev/vda1", Size: limit}
	t.mounts = []*mount{{spec: spec, root: root.root, static: true}}
	return t
}

func (t *tree) dev() uint64 { t.devs++; return t.devs }

// now is the clock's time, but never the same twice, so that a file that is
// written again is always newer.
func (t *tree) now() time.Time {
	now := t.clock()
	if !now.After(t.last) {
		now = t.last.Add(time.Nanosecond)
	}
	t.last = now
	return now
}

func (t *tree) root() place { return t.cross(place{t.mounts[0], t.mounts[0].root}) }

// cross goes from a covered place to what is mounted there.
func (t *tree) cross(p place) place {
	for {
		m := t.over[p]
		if m == nil {
			return p
		}
		p = place{m, m.root}
	}
}

// covered says whether something is mounted on the inode.
func (t *tree) covered(n *inode) bool {
	for p := range t.over {
		if p.node == n {
			return true
		}
	}
	return false
}

// location is the result of a walk: what is at a name, and where the name is
// kept. at.node is nil when nothing is there; name is "" when the walk ended
// at a root or in "..".
type location struct {
	dir  place
	name string
	at   place
}

func (l location) found() bool { return l.at.node != nil }

// Limits of the kernel: bytes in a name and in a path, links on the way.
const (
	maxName  = 255
	maxPath  = 4095
	maxLinks = 40
)

// walk resolves name below base as the kernel does for a chrooted process.
// With follow a final link is followed. A missing last component is no error.
func (t *tree) walk(base place, name string, follow bool) (location, error) {
	if len(name) > maxPath {
		return location{}, syscall.ENAMETOOLONG
	}
	if strings.ContainsRune(name, 0) {
		return location{}, syscall.EINVAL
	}
	stack := []place{base}
	todo := parts(path.Clean("/" + name))
	for links := 0; len(todo) > 0; {
		here, part := stack[len(stack)-1], todo[0]
		todo = todo[1:]
		switch {
		case !here.node.isDir():
			return location{}, syscall.ENOTDIR
		case part == "..":
			stack = stack[:max(1, len(stack)-1)]
			continue
		case len(part) > maxName:
			return location{}, syscall.ENAMETOOLONG
		}
		child := here.node.entries[part]
		if child == nil {
			if len(todo) > 0 {
				return location{}, syscall.ENOENT
			}
			return location{dir: here, name: part}, nil
		}
		at := t.cross(place{here.mnt, child})
		if at.node.isLink() && (follow || len(todo) > 0) {
			if links++; links > maxLinks {
				return location{}, syscall.ELOOP
			}
			if path.IsAbs(child.target) {
				stack = stack[:1]
			}
			todo = append(parts(child.target), todo...)
			continue
		}
		if len(todo) == 0 {
			return location{dir: here, name: part, at: at}, nil
		}
		stack = append(stack, at)
	}
	return location{dir: stack[max(0, len(stack)-2)], at: stack[len(stack)-1]}, nil
}

// parts splits a path into its components, leaving out empty ones and ".".
func parts(name string) []string {
	return strings.FieldsFunc(strings.ReplaceAll("/"+name+"/", "/./", "//"), func(r rune) bool { return r == '/' })
}

// find is walk for what must be there.
func (t *tree) find(base place, name string, follow bool) (place, error) {
	l, err := t.walk(base, name, follow)
	if err == nil && !l.found() {
		err = syscall.ENOENT
	}
	return l.at, err
}

// writable says whether a mount takes changes.
func (m *mount) writable() error {
	if m.spec.ReadOnly {
		return syscall.EROFS
	}
	return nil
}
