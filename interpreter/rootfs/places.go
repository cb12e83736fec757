package rootfs

import (
	"errors"
	"path"
	"strings"
)

// parent finds the directory an entry stands in and makes it if it must.
func (a *applier) parent(name string) (place, string, error) {
	dir, base := path.Split(name)
	if dir == a.lastName && a.last.dir != nil {
		a.last.dir.touch(a.layer)
		return a.last, base, nil
	}
	at, err := a.walk(dir, a.makeDir)
	if err != nil {
		return place{}, "", err
	}
	if len(at.join(base)) > maxName {
		return place{}, "", errTooLong
	}
	at.dir.touch(a.layer)
	a.last, a.lastName = at, dir
	return at, base, nil
}

// makeDir makes a directory at a place where there is none.
func (a *applier) makeDir(at place, base string) (*node, error) {
	if err := a.remove(at, base); err != nil {
		return nil, err
	}
	if err := a.tree.Mkdir(at.join(base)); err != nil {
		return nil, err
	}
	n := newDir(at.dir)
	return n, a.add(at, base, n)
}

// maxHeld bounds the memory of the mirror, in bytes.
const maxHeld = 1 << 30

// add puts a node into the mirror.
func (a *applier) add(at place, base string, n *node) error {
	a.held += int64(len(base)+len(n.target)) + 200
	at.dir.kids[strings.Clone(base)] = n
	return a.full()
}

func (a *applier) full() error {
	if a.held > maxHeld {
		return errors.New("the image's names and attributes take more than 1 GiB of memory")
	}
	return nil
}

// remove removes what has the name, if anything.
func (a *applier) remove(at place, base string) error {
	if at.dir.kids[base] == nil {
		return nil
	}
	a.last = place{}
	delete(at.dir.kids, base)
	return a.tree.Remove(at.join(base))
}

// find looks for an entry without making anything; the last part of the name
// is not followed.
func (a *applier) find(name string) (place, string, *node) {
	dir, base := path.Split(name)
	at, err := a.walk(dir, func(place, string) (*node, error) { return nil, errNotThere })
	if err != nil {
		return place{}, "", nil
	}
	return at, base, at.dir.kids[base]
}
