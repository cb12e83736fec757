package shadow

import (
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"hostler/interpreter/host"
)

func fileMode(bits uint32) fs.FileMode { return host.FileMode(bits) }

// set changes an attribute. What is unknown takes it and stays unknown.
func (f *files) set(op, name string, follow bool, do func(*node) error) error {
	return f.change(op, name, func() error {
		p, err := f.walk(name, follow)
		switch {
		case err != nil:
			return err
		case p.node() == nil:
			return syscall.ENOENT
		case f.tree.isReadOnly(p.node()):
			return syscall.EROFS
		case p.node().ghost:
			return nil
		}
		return do(p.node())
	})
}

// Chmod sets the twelve permission bits; it follows a final link.
func (f *files) Chmod(name string, mode fs.FileMode) error {
	return f.set("chmod", name, true, func(n *node) error {
		n.mode = n.mode.Type() | fileMode(modeBits(mode))
		return nil
	})
}

// Chown sets the owner; it follows a final link.
func (f *files) Chown(name string, uid, gid int) error {
	return f.set("chown", name, true, func(n *node) error { n.own(uid, gid); return nil })
}

// Lchown sets the owner of name itself.
func (f *files) Lchown(name string, uid, gid int) error {
	return f.set("lchown", name, false, func(n *node) error { n.own(uid, gid); return nil })
}

// own changes the owner; -1 keeps. As in the kernel it costs a file its setuid
// bit, and its setgid bit unless that means mandatory locking.
func (n *node) own(uid, gid int) {
	if uid != -1 {
		n.uid = uid
	}
	if gid != -1 {
		n.gid = gid
	}
	if n.mode.IsDir() {
		return
	}
	n.mode &^= fs.ModeSetuid
	if n.mode&0o010 != 0 {
		n.mode &^= fs.ModeSetgid
	}
}

// Chtimes sets the modification time; the zero time keeps it. It follows a
// final link.
func (f *files) Chtimes(name string, _, mtime time.Time) error {
	return f.set("chtimes", name, true, func(n *node) error {
		if !mtime.IsZero() {
			n.mtime = mtime
		}
		return nil
	})
}

// Lchtimes sets the modification time of name itself, in nanoseconds.
func (f *files) Lchtimes(name string, mtime int64) error {
	return f.set("lchtimes", name, false, func(n *node) error {
		n.mtime = time.Unix(0, mtime)
		return nil
	})
}

// attributed is what a base offers that can show extended attributes.
type attributed interface {
	Lgetxattr(name, attr string) ([]byte, error)
	Llistxattr(name string) ([]string, error)
}

// Lsetxattr sets an extended attribute of name itself.
func (f *files) Lsetxattr(name, attr string, value []byte) error {
	return f.set("lsetxattr", name, false, func(n *node) error {
		switch space, rest, _ := strings.Cut(attr, "."); {
		case !slices.Contains([]string{"user", "trusted", "security", "system"}, space) || rest == "":
			return syscall.EOPNOTSUPP
		case space == "user" && !n.isRegular() && !n.isDir():
			return syscall.EPERM
		}
		if n.xattrs == nil {
			n.xattrs = map[string][]byte{}
		}
		n.xattrs[attr] = append([]byte{}, value...)
		return nil
	})
}

// Lgetxattr reads an extended attribute of name itself.
func (f *files) Lgetxattr(name, attr string) ([]byte, error) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	n, err := f.known(name, false)
	if err != nil {
		return nil, failed("lgetxattr", name, err)
	}
	if value, ok := n.xattrs[attr]; ok {
		return append([]byte{}, value...), nil
	}
	base, ok := n.from.files.(attributed)
	if n.base == "" || !ok {
		return nil, failed("lgetxattr", name, syscall.ENODATA)
	}
	value, err := base.Lgetxattr(n.base, attr)
	return value, failed("lgetxattr", name, errno(err))
}

// Llistxattr lists the extended attributes of name itself, sorted.
func (f *files) Llistxattr(name string) ([]string, error) {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	n, err := f.known(name, false)
	if err != nil {
		return nil, failed("llistxattr", name, err)
	}
	var all []string
	if base, ok := n.from.files.(attributed); ok && n.base != "" {
		if all, err = base.Llistxattr(n.base); err != nil {
			return nil, failed("llistxattr", name, errno(err))
		}
	}
	for attr := range n.xattrs {
		all = append(all, attr)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
