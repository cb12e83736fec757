package memory

import (
	"maps"
	"slices"
	"strings"
	"syscall"
)

// Lsetxattr sets an extended attribute of name itself.
func (f *files) Lsetxattr(name, attribute string, value []byte) error {
	return f.write("lsetxattr", name, func(root place) error {
		p, err := f.t.find(root, name, false)
		if err == nil {
			err = p.mnt.writable()
		}
		if err == nil {
			err = settable(p.node, attribute)
		}
		if err == nil {
			p.node.setAttr(func(a *attr) { a.setXattr(attribute, append([]byte{}, value...)) })
		}
		return err
	})
}

// settable holds attributes to the name spaces of xattr(7).
func settable(n *inode, attribute string) error {
	space, rest, ok := strings.Cut(attribute, ".")
	switch {
	case len(attribute) > maxName:
		return syscall.ERANGE
	case !ok || !slices.Contains([]string{"user", "trusted", "security", "system"}, space):
		return syscall.EOPNOTSUPP
	case rest == "":
		return syscall.EINVAL
	case space == "user" && !n.isFile() && !n.isDir():
		return syscall.EPERM
	}
	return nil
}

// Lgetxattr returns an extended attribute of name itself, or ENODATA.
func (f *files) Lgetxattr(name, attribute string) (value []byte, err error) {
	err = f.read("lgetxattr", name, func(root place) error {
		p, err := f.t.find(root, name, false)
		if err != nil {
			return err
		}
		v, ok := p.node.attr.xattrs[attribute]
		if !ok {
			return syscall.ENODATA
		}
		value = []byte(v)
		return nil
	})
	return value, err
}

// Llistxattr lists the extended attributes of name itself, sorted.
func (f *files) Llistxattr(name string) (list []string, err error) {
	err = f.read("llistxattr", name, func(root place) error {
		p, err := f.t.find(root, name, false)
		if err == nil {
			list = slices.Sorted(maps.Keys(p.node.attr.xattrs))
		}
		return err
	})
	return list, err
}
