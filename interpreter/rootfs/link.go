package rootfs

import (
	"fmt"
	"strings"
)

// hardLink makes name another name of what target names, which is not followed
// at its end.
func (a *applier) hardLink(name, target string) error {
	old, err := cleanName(target)
	if err != nil || old == "." || name == "." {
		return fmt.Errorf("hard link to %q leads out of the tree", shorten(target))
	}
	at, base, err := a.parent(name)
	if err != nil {
		return err
	}
	from, oldBase, n := a.find(old)
	if n == nil || n.kind == isDir {
		return fmt.Errorf("hard link to %q, which is no file of the image", shorten(target))
	}
	oldPath, newPath := from.join(oldBase), at.join(base)
	if oldPath == newPath {
		n.layer = a.layer
		return nil
	}
	if strings.HasPrefix(oldPath, newPath+"/") {
		return fmt.Errorf("hard link to %q, which it would replace", shorten(target))
	}
	if err := a.remove(at, base); err != nil {
		return err
	}
	if err := a.tree.Link(newPath, oldPath); err != nil {
		return err
	}
	return a.add(at, base, &node{kind: n.kind, layer: a.layer, target: n.target})
}
