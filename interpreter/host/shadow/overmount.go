package shadow

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"hostler/interpreter/host"
)

// mounted are the topmost mount points inside a machine that runs, by path.
// What lies there cannot be seen in the machine's tree: /run and what is bound
// into it are its own.
type mounted map[string]*overmount

// overmount is one of them. root is nil before it was looked at.
type overmount struct {
	root *node
	from *source
}

// mountedIn are those of a machine that runs in the base.
func mountedIn(ctx context.Context, v host.View) mounted {
	all, err := v.Storage.Mounts(ctx)
	if err != nil {
		return nil
	}
	var points []string
	for _, m := range all {
		if m.Point != "/" {
			points = append(points, m.Point)
		}
	}
	slices.Sort(points)
	over, from := mounted{}, newSource(v)
	for _, p := range points {
		if !over.covers(p) {
			over[p] = &overmount{from: from}
		}
	}
	return over
}

// apiMounts are what every machine has mounted over its tree when it runs.
var apiMounts = [...]string{"/dev", "/proc", "/run", "/sys", "/tmp"}

// unknownIn are those of a machine that runs in the shadow only: empty to
// begin with, and then who knows.
func unknownIn(t *tree, cause string) mounted {
	over := mounted{}
	for _, p := range apiMounts {
		n := &node{mode: fs.ModeDir | 0o755, nlink: 2, from: t.base, mount: "/", cause: cause}
		over[p] = &overmount{root: n, from: t.base}
	}
	return over
}

func (m mounted) covers(name string) bool {
	for p := range m {
		if name == p || strings.HasPrefix(name, p+"/") {
			return true
		}
	}
	return false
}

// cross is what is found at a place: what is mounted there, or the place's own
// node.
func (m mounted) cross(t *tree, at place) (*node, error) {
	point := at.path()
	o := m[point]
	if o == nil {
		return at.node(), nil
	}
	if o.root == nil {
		var err error
		if o.root, err = t.rootOf(o.from, point); err != nil {
			return nil, err
		}
	}
	return o.root, nil
}

// take unmounts; taken is false where nothing is mounted.
func (m mounted) take(point string) (taken bool) {
	_, taken = m[point]
	delete(m, point)
	return taken
}

// see takes over what is mounted in the machine, as it was when it was first
// looked at.
func (f *files) see(ctx context.Context, v host.View) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	if f.over == nil {
		f.over = mountedIn(ctx, v)
	}
}

// live gives the machine a new life in the shadow, or none: at rest nothing is
// mounted in it.
func (f *files) live(runs bool, name string) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	f.over = mounted{}
	if runs {
		f.over = unknownIn(f.tree, "machine "+name+" is not running yet")
	}
}
