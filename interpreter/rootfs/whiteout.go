package rootfs

import (
	"errors"
	"path"
	"strings"
)

// whiteout carries out an entry that hides what lower layers brought, or that
// means nothing here. It says whether the entry was one.
func (a *applier) whiteout(name string) (bool, error) {
	dir, base := path.Split(name)
	for part := range strings.SplitSeq(dir, "/") {
		if strings.HasPrefix(part, whiteoutMeta) {
			return true, nil
		}
		if strings.HasPrefix(part, whiteoutPrefix) {
			return true, errors.New("it stands below a whiteout")
		}
	}
	hidden, ok := strings.CutPrefix(base, whiteoutPrefix)
	switch {
	case !ok:
		return false, nil
	case base == opaqueMarker:
		return true, a.opaque(path.Clean(dir))
	case strings.HasPrefix(base, whiteoutMeta):
		return true, nil
	case hidden == "" || hidden == "." || hidden == "..":
		return true, errors.New("the whiteout names nothing")
	}
	at, _, n := a.find(dir + hidden)
	if n == nil {
		return true, nil
	}
	return true, a.hide(at, hidden)
}

// opaque hides what lower layers put into a directory. The directory itself is
// not followed if it is a link: the marker speaks of a directory.
func (a *applier) opaque(name string) error {
	if name == "." {
		return a.hideBelow(place{a.root, "."})
	}
	at, base, n := a.find(name)
	if n == nil || n.kind != isDir {
		return nil
	}
	return a.hideBelow(place{n, at.join(base)})
}

// hide removes what lower layers brought under a name and keeps what this one
// did.
func (a *applier) hide(at place, base string) error {
	n := at.dir.kids[base]
	switch {
	case n.layer != a.layer:
		return a.remove(at, base)
	case n.kind == isDir:
		return a.hideBelow(place{n, at.join(base)})
	}
	return nil
}

func (a *applier) hideBelow(at place) error {
	if at.dir.hidden == a.layer {
		return nil
	}
	at.dir.hidden = a.layer
	for _, base := range at.dir.names() {
		if err := a.hide(at, base); err != nil {
			return err
		}
	}
	return nil
}
