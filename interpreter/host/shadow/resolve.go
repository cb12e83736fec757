package shadow

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"hostler/interpreter/host"
)

// maxLinks is how many links the kernel follows in one name.
const maxLinks = 40

// step is one directory entry on the way to a name.
type step struct {
	name string
	node *node
}

// place is where a name leads: the entries from the root to it. The last node
// is nil if nothing is there but its directory is.
type place []step

func (p place) node() *node  { return p[len(p)-1].node }
func (p place) name() string { return p[len(p)-1].name }
func (p place) isRoot() bool { return len(p) == 1 }

// dir is the directory that holds the entry; not for the root.
func (p place) dir() *node { return p[len(p)-2].node }

// passes says whether the way leads through n.
func (p place) passes(n *node) bool {
	for _, s := range p[:len(p)-1] {
		if s.node == n {
			return true
		}
	}
	return false
}

// keep notes that something is done at the place: what was not known above it
// must be directories.
func (p place) keep() {
	for _, s := range p[:len(p)-1] {
		s.node.parent = true
	}
}

// path is the name without links.
func (p place) path() string {
	var b strings.Builder
	for _, s := range p[1:] {
		b.WriteString("/" + s.name)
	}
	return b.String()
}

// resolving says how a name is resolved: whether a final link is followed, and
// what is mounted over the files.
type resolving struct {
	follow bool
	over   mounted
}

// walk resolves a name from root as after chroot: links in it, and a final one
// if it is to be followed, never lead above root.
func (t *tree) walk(root *node, name string, how resolving) (place, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	at := place{{"/", root}}
	rest := strings.Split(path.Clean(name), "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if err := passable(at.node()); err != nil {
			return nil, err
		}
		switch part {
		case "", ".":
			continue
		case "..":
			at = at[:max(1, len(at)-1)]
			continue
		}
		n, err := t.lookup(at.node(), part)
		if err == nil && n != nil && len(how.over) > 0 {
			n, err = how.over.cross(t, append(at, step{part, n}))
		}
		if err != nil {
			return nil, err
		}
		if n == nil || !n.isLink() || (len(rest) == 0 && !how.follow) {
			at = append(at, step{part, n})
			continue
		}
		if links++; links > maxLinks {
			return nil, syscall.ELOOP
		}
		target, err := t.target(n)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(target, "/") {
			at = at[:1]
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, nil
}

func passable(n *node) error {
	switch {
	case n == nil:
		return syscall.ENOENT
	case !n.holds():
		return syscall.ENOTDIR
	}
	return nil
}

func checkName(name string) error {
	switch {
	case !path.IsAbs(name) || strings.ContainsRune(name, 0):
		return syscall.EINVAL
	case len(name) > 4095:
		return syscall.ENAMETOOLONG
	}
	return nil
}

// errno takes the path off an error of the base, whose paths need not be those
// that were asked for.
func errno(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// failed is err as the doors give it: with the operation and the name, but for
// what is unknown, whose cause says all.
func failed(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*host.UnknownError](err); ok {
		return e
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func modeBits(m fs.FileMode) uint32 { return host.ModeBits(m) }
