package rootfs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// kind is what a node of the mirror is.
type kind uint8

const (
	isFile kind = iota // a regular file, device or FIFO
	isLink
	isDir
)

// node mirrors one name of the tree. Hard links have a node for each name.
type node struct {
	kind   kind
	layer  int32  // the newest layer that brought it or something below it
	hidden int32  // the newest layer that hid what lower layers brought below it
	target string // of links
	kids   map[string]*node
	parent *node // of directories
	attrs  attrs // of directories: what they get in the end
}

// maxName bounds a path in the tree, in bytes: with that of the tree's own
// directory it must stay within what the kernel takes, 4095. maxTarget bounds a
// link's target.
const (
	maxName   = 3840
	maxTarget = 4095
)

// maxHops is how many links the kernel follows.
const maxHops = 40

func newDir(parent *node) *node {
	return &node{kind: isDir, kids: map[string]*node{}, parent: parent, attrs: attrs{mode: 0o755}}
}

// touch notes that layer brought n or something below it.
func (n *node) touch(layer int32) {
	for ; n != nil && n.layer != layer; n = n.parent {
		n.layer = layer
	}
}

// names are the names below n in order.
func (n *node) names() []string { return slices.Sorted(maps.Keys(n.kids)) }

// place is a directory of the tree.
type place struct {
	dir  *node
	path string // without links
}

func (p place) join(base string) string {
	if p.path == "." {
		return base
	}
	return p.path + "/" + base
}

// walker resolves names in the mirror as if its top were "/".
type walker struct {
	places []place // from the top down
	rest   []string
	hops   int
}

var errTooLong = fmt.Errorf("its path in the tree is longer than %d bytes", maxName)

var errNotThere = errors.New("not there")

// walk resolves the directory name. absent is called for each part that is
// missing or is neither directory nor link, and must make a directory of it or
// return an error.
func (a *applier) walk(name string, absent func(at place, base string) (*node, error)) (place, error) {
	w := walker{places: []place{{a.root, "."}}, rest: split(name)}
	for len(w.rest) > 0 {
		if err := w.step(absent); err != nil {
			return place{}, err
		}
	}
	return w.here(), nil
}

func (w *walker) here() place { return w.places[len(w.places)-1] }

func (w *walker) step(absent func(place, string) (*node, error)) error {
	base := w.rest[0]
	w.rest = w.rest[1:]
	if base == ".." {
		w.places = w.places[:max(1, len(w.places)-1)]
		return nil
	}
	at := w.here()
	kid := at.dir.kids[base]
	if kid != nil && kid.kind == isLink {
		return w.follow(kid.target)
	}
	if kid == nil || kid.kind != isDir {
		var err error
		if kid, err = absent(at, base); err != nil {
			return err
		}
	}
	next := at.join(base)
	if len(next) > maxName {
		return errTooLong
	}
	w.places = append(w.places, place{kid, next})
	return nil
}

func (w *walker) follow(target string) error {
	if w.hops++; w.hops > maxHops {
		return errors.New("too many links in its directory's path")
	}
	if strings.HasPrefix(target, "/") {
		w.places = w.places[:1]
	}
	w.rest = append(split(target), w.rest...)
	return nil
}

// split returns the parts of a path without empty ones and ".".
func split(name string) []string {
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}
